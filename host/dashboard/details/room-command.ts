import type { CommandBody, Device, DeviceKind } from "@mantel/plugin-sdk/device";
import type { CommandResult } from "@mantel/plugin-sdk/widget";
import type { Session } from "../session.ts";
import type { Place } from "../widget-context.ts";
import { showNotice } from "./notice.ts";
import { sendTargets } from "./send-targets.ts";
import { words } from "./words.ts";

/** A command to all devices of a kind. */
export interface RoomCommand {
  readonly place: Place;
  readonly kind: DeviceKind;
  readonly command: CommandBody;
}

/**
 * Sends one command to all devices of a kind in a room, a group or the home, and shows a notice that can undo it. Never
 * rejects.
 */
export async function commandRoom(session: Session, request: RoomCommand): Promise<CommandResult> {
  const { store, contexts } = session;
  const changing = changedBy(store.devices().peek(), request);
  if (changing.length === 0) return { ok: true };
  const sent = await sendTargets(session, new Map(changing.map(({ id }) => [id, request.command])));
  const done = changing.filter(({ id }) => sent.done.has(id));
  const missed = changing.length - done.length;
  const texts = words.peek();
  const text = [
    ...(done.length > 0 ? [noticeOf(request, done.length)] : []),
    ...(missed > 0 ? [texts.noticeFailed(missed)] : []),
  ].join(" · ");
  contexts.shared.announce(text);
  const undo = done.length > 0 ? () => restore(session, done, request.command) : undefined;
  showNotice(text, { undo });
  return missed === 0
    ? { ok: true }
    : { ok: false, error: { code: sent.code ?? "internal", message: text } };
}

/** The reachable devices that a command changes. */
export function changedBy(
  devices: readonly Device[],
  { place, kind, command }: RoomCommand,
): readonly Device[] {
  const asked = Object.entries(command);
  return devices.filter(
    (device) =>
      device.kind === kind &&
      isIn(device, place) &&
      device.available &&
      asked.every(([field]) => Object.hasOwn(device.capabilities, field)) &&
      asked.some(([field, value]) => device.state[field] !== value),
  );
}

function isIn({ room, groups }: Device, place: Place): boolean {
  if ("group" in place) return groups.includes(place.group);
  return place.room === "" || place.room === room;
}

/** The command that restores a device after `command`. A lamp that was off is not lit to restore its level. */
export function restoring(device: Device, command: CommandBody): CommandBody {
  const fields = Object.keys(command).filter((field) => (device.state[field] ?? null) !== null);
  const values = Object.fromEntries(fields.map((field) => [field, device.state[field]]));
  if (device.state.on === false) return { on: false };
  return { ...values, ...(device.state.on === true && { on: true }) };
}

/** Restores devices as they are given, after `command`. */
export function restore(session: Session, devices: readonly Device[], command: CommandBody): void {
  const targets = devices.map((device) => [device.id, restoring(device, command)] as const);
  void sendTargets(session, new Map(targets));
}

function noticeOf({ kind, command }: RoomCommand, count: number): string {
  const texts = words.peek();
  if (kind !== "light" || typeof command["on"] !== "boolean") return texts.noticeOther(count);
  return command["on"] ? texts.noticeOn(count) : texts.noticeOff(count);
}
