import type { Device } from "@mantel/plugin-sdk/device";
import { html, type TemplateResult } from "lit";
import type { Session } from "../session.ts";
import { words } from "./words.ts";

/** A folded form for the name, the room and the groups of a device. */
export function editView(
  device: Device,
  session: Session,
  tell: (sentence: string) => void,
): TemplateResult {
  const texts = words.value;
  const rooms = roomsOf(session);
  return html`<details class="box edit">
    <summary><mantel-icon name="mdi:pencil-outline"></mantel-icon>${texts.edit}</summary>
    <form @submit=${(event: SubmitEvent) => void save(event, device, { session, tell })}>
      <label
        >${texts.name}<input name="name" maxlength="200" required dir="auto" .value=${device.name}
      /></label>
      <label
        >${texts.room}<input
          name="room"
          maxlength="200"
          dir="auto"
          list="rooms"
          .value=${device.room ?? ""}
        />
        <datalist id="rooms">
          ${rooms.map((room) => html`<option value=${room}></option>`)}
        </datalist>
      </label>
      <label
        >${texts.groups}<input
          name="groups"
          maxlength="2000"
          dir="auto"
          list="groups"
          aria-describedby="groups-hint"
          .value=${device.groups.join(", ")}
        />
        <datalist id="groups">
          ${groupsOf(session).map((group) => html`<option value=${group}></option>`)}
        </datalist>
        <small id="groups-hint">${texts.groupsHint}</small>
      </label>
      <button class="big-button">${texts.save}</button>
    </form>
  </details>`;
}

function roomsOf({ store }: Session): readonly string[] {
  const rooms = store
    .allDevices()
    .peek()
    .flatMap(({ room }) => (room === null ? [] : [room]));
  return [...new Set(rooms)].toSorted((one, other) => one.localeCompare(other));
}

function groupsOf({ store }: Session): readonly string[] {
  const groups = store
    .allDevices()
    .peek()
    .flatMap((device) => device.groups);
  return [...new Set(groups)].toSorted((one, other) => one.localeCompare(other));
}

async function save(
  event: SubmitEvent,
  device: Device,
  { session, tell }: { readonly session: Session; readonly tell: (sentence: string) => void },
): Promise<void> {
  event.preventDefault();
  if (!(event.currentTarget instanceof HTMLFormElement)) return;
  const data = new FormData(event.currentTarget);
  const patch = patchOf(device, {
    name: textIn(data, "name"),
    room: textIn(data, "room"),
    groups: namesIn(textIn(data, "groups")),
  });
  if (Object.keys(patch).length === 0) return;
  try {
    const path = `/smart-home/devices/${encodeURIComponent(device.id)}` as const;
    session.store.putDevice(await session.api.send("PATCH", path, patch));
    tell(words.peek().saved);
  } catch (error) {
    tell(words.peek().notSaved(error instanceof Error ? error.message : String(error)));
  }
}

interface Edited {
  readonly name: string;
  readonly room: string;
  readonly groups: readonly string[];
}

/** The changed fields only. An empty room is sent, because it removes the device from its room. */
export function patchOf(
  device: Pick<Device, "name" | "room" | "groups">,
  { name, room, groups }: Edited,
): Partial<Edited> {
  const changed: { -readonly [K in keyof Edited]?: Edited[K] } = {};
  if (name !== "" && name !== device.name) changed.name = name;
  if (room !== (device.room ?? "")) changed.room = room;
  if (groups.join("\n") !== device.groups.join("\n")) changed.groups = groups;
  return changed;
}

/** The names between commas, each once. */
export function namesIn(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}

function textIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value.trim() : "";
}
