import type { Device } from "@mantel/plugin-sdk/device";
import { html, type TemplateResult } from "lit";
import { addressOf, type OpenSettingsPage, type SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

/** The rooms with their devices. A room exists as long as a device is in it. */
export function roomsPage({ store }: SettingsDependencies): OpenSettingsPage {
  const devices = store.allDevices();
  return {
    view() {
      const rooms = new Map<string, Device[]>();
      for (const device of devices.value) {
        const room = device.room ?? "";
        rooms.set(room, [...(rooms.get(room) ?? []), device]);
      }
      const sorted = [...rooms].toSorted(([a], [b]) => a.localeCompare(b));
      return html`<p class="hint">${words.value.roomsHint}</p>
        ${sorted.map(([room, inRoom]) => roomView(room, inRoom))}`;
    },
  };
}

function roomView(room: string, devices: readonly Device[]): TemplateResult {
  const texts = words.value;
  return html`<details class="panel">
    <summary>
      <span dir="auto">${room === "" ? texts.noRoom : room}</span>
      <small>${texts.devicesFound(devices.length)}</small>
    </summary>
    <ul class="rows">
      ${devices.map(
        ({ id, name }) =>
          html`<li>
            <a class="row" href=${addressOf("devices", id)}><span dir="auto">${name}</span></a>
          </li>`,
      )}
    </ul>
  </details>`;
}
