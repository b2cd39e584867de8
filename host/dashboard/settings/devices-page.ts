import type { Device } from "@mantel/plugin-sdk/device";
import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { kindText } from "./device-words.ts";
import { type Fact, factsView } from "./facts.ts";
import { formatInstant } from "./figures.ts";
import { formValue } from "./form-value.ts";
import { nameField } from "./named-field.ts";
import {
  addressOf,
  backTo,
  type OpenSettingsPage,
  restNeedsFullAccess,
  type SettingsDependencies,
} from "./page.ts";
import { suggestionsOf } from "./suggestions.ts";
import { words } from "./words.ts";

/** Maximum number of rows; users with more devices can search. */
const SHOWN = 200;

/** All devices, including hidden ones, or one device to edit. */
export function devicesPage(parts: SettingsDependencies, item: string): OpenSettingsPage {
  if (item !== "") return { view: () => oneView(parts, item) };
  const sought = signal("");
  const devices = parts.store.allDevices();
  return {
    view() {
      const found = devices.value.filter((device) => fits(device, sought.value));
      return listView(found, (text) => (sought.value = text));
    },
  };
}

function fits({ name, room, id }: Device, sought: string): boolean {
  const text = `${name} ${room ?? ""} ${id}`.toLocaleLowerCase();
  return text.includes(sought.trim().toLocaleLowerCase());
}

function listView(found: readonly Device[], onSearch: (text: string) => void): TemplateResult {
  const texts = words.value;
  return html`<label class="search">
      ${texts.search}
      <input
        type="search"
        @input=${({ currentTarget }: { currentTarget: HTMLInputElement }) =>
          onSearch(currentTarget.value)}
      />
    </label>
    <p role="status">
      ${texts.devicesFound(found.length)}
      ${found.length > SHOWN ? texts.firstShown(SHOWN) : nothing}
    </p>
    <ul class="rows">
      ${repeat(found.slice(0, SHOWN), ({ id }) => id, rowOf)}
    </ul>`;
}

function rowOf({ id, name, room, available, hidden }: Device): TemplateResult {
  const texts = words.value;
  return html`<li>
    <a class="row" href=${addressOf("devices", id)}>
      <span class="grow"
        ><strong dir="auto">${name}</strong
        ><small dir="auto">${room ?? texts.noRoom} · ${id}</small></span
      >
      ${hidden ? html`<span class="state none">${texts.hidden}</span>` : nothing}
      ${available ? nothing : html`<span class="state warn">${texts.unreachable}</span>`}
    </a>
  </li>`;
}

function oneView(parts: SettingsDependencies, id: string): TemplateResult {
  const device = parts.store.device(id).value;
  const texts = words.value;
  const back = backTo("devices", texts.allDevices);
  if (!device)
    return html`${back}
      <p>${texts.deviceNotFound}</p>`;
  if (parts.mayAdminister)
    return html`${back} ${formOf(parts, device)} ${factsView(texts.facts, factsOf(device))}`;
  const facts: Fact[] = [[texts.room, device.room ?? texts.noRoom], ...factsOf(device)];
  return html`${back} ${factsView(device.name, facts)} ${restNeedsFullAccess(parts)}`;
}

function formOf(parts: SettingsDependencies, device: Device): TemplateResult {
  const { formAction } = parts;
  const texts = words.value;
  return html`<form
    class="panel form"
    @submit=${(event: SubmitEvent) => save(event, parts, device)}
  >
    ${fieldsOf(parts, device)}
    <div class="actions">
      <button class="button primary" ?disabled=${formAction.busy.value}>${texts.save}</button>
      ${formAction.button(texts.nameFromBridge, () =>
        send(parts, device.id, { name: null, room: null, hidden: null }),
      )}
      ${device.available ? nothing : formAction.confirmButton("forget", texts.forget, () => forget(parts, device.id))}
    </div>
  </form>`;
}

function fieldsOf({ formAction, store }: SettingsDependencies, device: Device): TemplateResult {
  const texts = words.value;
  return html`${nameField(formAction, { id: "name", maxLength: 200, value: device.name })}
    <div class="field">
      <label for="room">${texts.room}</label>
      <input
        id="room"
        name="room"
        maxlength="200"
        dir="auto"
        list="rooms"
        .value=${device.room ?? ""}
      />
      <datalist id="rooms">
        ${suggestionsOf(store).rooms.map((room) => html`<option value=${room}></option>`)}
      </datalist>
      ${formAction.faultAt("/room")}
    </div>
    <div class="field line">
      <label for="hidden">${texts.hide}</label>
      <input
        id="hidden"
        name="hidden"
        type="checkbox"
        role="switch"
        .checked=${device.hidden === true}
      />
      <p class="hint">${texts.hideHint}</p>
    </div>`;
}

function save(event: SubmitEvent, parts: SettingsDependencies, device: Device): void {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const [name, room] = [formValue(form, "name"), formValue(form, "room")];
  const hidden = formValue(form, "hidden") !== "";
  const patch = {
    ...(name === device.name ? {} : { name }),
    ...(room === (device.room ?? "") ? {} : { room }),
    ...(hidden === (device.hidden === true) ? {} : { hidden }),
  };
  if (Object.keys(patch).length > 0) send(parts, device.id, patch);
}

function send({ api, formAction, store }: SettingsDependencies, id: string, patch: object): void {
  void formAction.save(async () => {
    store.putDevice(await api.send("PATCH", pathOf(id), patch));
  }, words.value.saved);
}

function forget({ api, formAction }: SettingsDependencies, id: string): void {
  void formAction.run(() => api.send("DELETE", pathOf(id)), words.value.deviceForgotten);
}

function pathOf(id: string): `/smart-home/devices/${string}` {
  return `/smart-home/devices/${encodeURIComponent(id)}`;
}

function factsOf(device: Device): Fact[] {
  const texts = words.value;
  const { manufacturer, model, serial, firmware } = device.info;
  const facts: readonly (readonly [string, string | null])[] = [
    [texts.id, device.id],
    [texts.bridge, device.bridge],
    [texts.kinds, kindText(device.kind)],
    [texts.lastSeen, formatInstant(device.lastSeenAt)],
    [texts.manufacturer, manufacturer],
    [texts.model, model],
    [texts.serial, serial],
    [texts.firmware, firmware],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}
