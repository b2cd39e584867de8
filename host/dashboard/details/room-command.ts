import type { CommandBody, Device, DeviceKind } from "@mantel/plugin-sdk/device";
import type { CommandResult } from "@mantel/plugin-sdk/widget";
import { batch } from "@preact/signals-core";
import { ApiError } from "../api.ts";
import type { Session } from "../session.ts";
import { showNotice } from "./notice.ts";
import { words } from "./words.ts";

/** A command to all devices of a kind. The room `""` is the whole home. */
export interface RoomCommand {
  readonly room: string;
  readonly kind: DeviceKind;
  readonly command: CommandBody;
}

interface RoomAnswer {
  readonly results: readonly { readonly deviceId: string; readonly status: string }[];
}

/**
 * Sends one command to all devices of a kind in a room or in the home, and shows a notice that can undo it. Never
 * rejects.
 */
export async function commandRoom(session: Session, request: RoomCommand): Promise<CommandResult> {
  const { store, contexts } = session;
  const changing = changedBy(store.devices().peek(), request);
  if (changing.length === 0) return { ok: true };
  showPending(session, changing, request.command);
  const sent = await sendAll(session, request, changing);
  showPending(session, changing, {});
  const done = changing.filter(({ id }) => sent.done.has(id));
  const missed = changing.length - done.length;
  const texts = words.peek();
  const text = [
    ...(done.length > 0 ? [noticeOf(request, done.length)] : []),
    ...(missed > 0 ? [texts.noticeFailed(missed)] : []),
  ].join(" · ");
  contexts.shared.announce(text);
  showNotice(text, done.length > 0 ? () => undo(session, done, request.command) : undefined);
  return missed === 0
    ? { ok: true }
    : { ok: false, error: { code: sent.code ?? "internal", message: text } };
}

/** The reachable devices that a command changes. */
export function changedBy(
  devices: readonly Device[],
  { room, kind, command }: RoomCommand,
): readonly Device[] {
  const asked = Object.entries(command);
  return devices.filter(
    (device) =>
      device.kind === kind &&
      (room === "" || device.room === room) &&
      device.available &&
      asked.every(([field]) => Object.hasOwn(device.capabilities, field)) &&
      asked.some(([field, value]) => device.state[field] !== value),
  );
}

/** The command that restores a device after `command`. A lamp that was off is not lit to restore its level. */
export function restoring(device: Device, command: CommandBody): CommandBody {
  const fields = Object.keys(command).filter((field) => (device.state[field] ?? null) !== null);
  const values = Object.fromEntries(fields.map((field) => [field, device.state[field]]));
  if (device.state.on === false) return { on: false };
  return { ...values, ...(device.state.on === true && { on: true }) };
}

interface Sent {
  readonly done: ReadonlySet<string>;
  readonly code?: string;
}

/** One request for each room; devices without a room are commanded one by one. */
async function sendAll(
  { api, contexts }: Session,
  { kind, command }: RoomCommand,
  changing: readonly Device[],
): Promise<Sent> {
  const rooms = new Set(changing.flatMap(({ room }) => room ?? []));
  const query = new URLSearchParams({ kind });
  const inRooms = [...rooms].map(async (room): Promise<Sent> => {
    try {
      const path = `/rooms/${encodeURIComponent(room)}/command?${query}`;
      const { results } = await api.post<RoomAnswer>(path, command);
      const done = results.filter(({ status }) => status !== "failed");
      return { done: new Set(done.map(({ deviceId }) => deviceId)) };
    } catch (error) {
      return { done: new Set(), code: error instanceof ApiError ? error.code : "internal" };
    }
  });
  const alone = changing
    .filter(({ room }) => room === null)
    .map(async ({ id }): Promise<Sent> => {
      const { ok, error } = await contexts.shared.command(id, command);
      return { done: new Set(ok ? [id] : []), ...(error && { code: error.code }) };
    });
  const all = await Promise.all([...inRooms, ...alone]);
  const code = all.find((each) => each.code !== undefined)?.code;
  const done = new Set(all.flatMap((each) => [...each.done]));
  return { done, ...(code !== undefined && { code }) };
}

function undo({ contexts }: Session, devices: readonly Device[], command: CommandBody): void {
  for (const device of devices) void contexts.shared.command(device.id, restoring(device, command));
}

function showPending({ store }: Session, devices: readonly Device[], command: CommandBody): void {
  batch(() => {
    for (const { id } of devices) store.setPending(id, command);
  });
}

function noticeOf({ kind, command }: RoomCommand, count: number): string {
  const texts = words.peek();
  if (kind !== "light" || typeof command["on"] !== "boolean") return texts.noticeOther(count);
  return command["on"] ? texts.noticeOn(count) : texts.noticeOff(count);
}
