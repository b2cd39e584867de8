import type { Device } from "@mantel/plugin-sdk/device";
import { html, type TemplateResult } from "lit";
import type { Session } from "../session.ts";
import { words } from "./words.ts";

/** A folded form for the name and the room of a device. */
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

async function save(
  event: SubmitEvent,
  device: Device,
  { session, tell }: { readonly session: Session; readonly tell: (sentence: string) => void },
): Promise<void> {
  event.preventDefault();
  if (!(event.currentTarget instanceof HTMLFormElement)) return;
  const data = new FormData(event.currentTarget);
  const patch = patchOf(device, { name: textIn(data, "name"), room: textIn(data, "room") });
  if (Object.keys(patch).length === 0) return;
  try {
    const path = `/smart-home/devices/${encodeURIComponent(device.id)}`;
    session.store.putDevice(await session.api.send<Device>("PATCH", path, patch));
    tell(words.peek().saved);
  } catch (error) {
    tell(words.peek().notSaved(error instanceof Error ? error.message : String(error)));
  }
}

/** The changed fields only. An empty room is sent, because it removes the device from its room. */
export function patchOf(
  device: Pick<Device, "name" | "room">,
  { name, room }: { readonly name: string; readonly room: string },
): { name?: string; room?: string } {
  const changed: { name?: string; room?: string } = {};
  if (name !== "" && name !== device.name) changed.name = name;
  if (room !== (device.room ?? "")) changed.room = room;
  return changed;
}

function textIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value.trim() : "";
}
