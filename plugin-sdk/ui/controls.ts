import { html, nothing, type TemplateResult } from "lit";
import type { Capability, Color, DeviceState, CommandBody, StateValue } from "../device.ts";
import type { Device } from "../widget.ts";
import type { Actions } from "./actions.ts";
import { canSet, type TileButton } from "./appearance.ts";
import { codePad } from "./code-pad.ts";
import { companionRow } from "./companion-row.ts";
import { capabilityWord, valueWord } from "./control-words.ts";
import { isPlayer } from "./device-tile.ts";
import { type DeviceFunction, extrasOf, partsOf } from "./functions.ts";
import { lookOf } from "./look.ts";
import { fullTileOf } from "./player-card.ts";
import { readingText } from "./reading.ts";

/** More values than this are a list to choose from. */
const MOST_BUTTONS = 8;
/** Readings about the device itself. */
const DIAGNOSTIC = /^(battery.*|signal|tamper|updateAvailable|lastAction|accuracy)$/;
/** Commands of the tile itself, also while it does not show them. */
const ON_THE_TILE = /^(start|pause|dock|press|install|next|previous|playback)$/;
/** Readings that the tile shows. */
const SHOWN_BY_TILE =
  /^(action|status|jammed|ringing|home|zone|title|artist|album|elapsed|duration|progress|installedVersion|latestVersion)$/;
/** Commands that need a second tap. */
const ASKS: Readonly<Record<string, string>> = { unlatch: "Open the door?", install: "Install?" };

interface Control {
  readonly device: DeviceFunction;
  readonly actions: Actions;
  readonly field: string;
  readonly name: string;
  readonly value: StateValue | undefined;
}

/**
 * All of a device that its tile does not show: its further settings, commands and readings, its parts with their
 * tiles, and its extras. Configuration and diagnostics are folded away. Derived from capabilities, without code for
 * single brands. `shownAbove` are fields that something else shows, and `players` those that can play together with the device. The widget's `styles` must include `controls.css`, `player-card.css` and `DEVICE_TILE_STYLES`.
 */
export function deviceControls(
  device: Device,
  actions: Actions,
  shownAbove: readonly string[] = [],
  players: readonly Device[] = [],
): TemplateResult[] {
  const open = openControls(device, actions, shownAbove, players);
  return [...open, ...foldedControls(device, actions)];
}

/** As `deviceControls`, without what is folded away. */
export function openControls(
  device: Device,
  actions: Actions,
  shownAbove: readonly string[] = [],
  players: readonly Device[] = [],
): TemplateResult[] {
  const gangs = gangsOnTile(device, actions);
  const isShown = isForUsers(device, actions);
  return [
    ...companionRow(device, actions, players),
    ...rowsOf(device, actions, (field) => !shownAbove.includes(field) && isShown(field)),
    ...extraRows(device, actions, "main"),
    ...partsOf(device).flatMap((part) => partOf(part, actions, gangs)),
  ];
}

/** The configuration and the diagnostics of a device, each folded away. */
export function foldedControls(device: Device, actions: Actions): TemplateResult[] {
  const diagnostics = [device, ...partsOf(device)].flatMap((each) =>
    rowsOf(each, actions, (field) => DIAGNOSTIC.test(field)),
  );
  const more = extraRows(device, actions, "diagnostic");
  return [
    ...fold("Configuration", extraRows(device, actions, "configuration"), actions),
    ...fold("Diagnostics", [...diagnostics, ...more], actions),
  ];
}

function extraRows(device: Device, actions: Actions, group: string): TemplateResult[] {
  const extras = extrasOf(device);
  const { extra } = device;
  const isIn = (field: string): boolean => extra?.capabilities[field]?.group === group;
  return extras ? rowsOf(extras, actions, isIn) : [];
}

/** One part: its tile, and what the tile does not show. Nothing for a gang that the device's own tile switches. */
function partOf(
  part: DeviceFunction,
  actions: Actions,
  gangs: ReadonlySet<string | undefined>,
): TemplateResult[] {
  const rows = rowsOf(part, actions, isForUsers(part, actions));
  if (rows.length === 0 && gangs.has(part.path?.[1])) return [];
  return [html`<div class="part">${fullTileOf(part, actions)} ${rows}</div>`];
}

function gangsOnTile(device: Device, actions: Actions): ReadonlySet<string | undefined> {
  const { buttons = [] } = lookOf(device, actions);
  const ids = buttons.flatMap((each) =>
    typeof each === "string" ? [] : Object.keys(each.tap.parts ?? {}),
  );
  return new Set(ids);
}

function fold(name: string, rows: readonly TemplateResult[], { t }: Actions): TemplateResult[] {
  if (rows.length === 0) return [];
  return [
    html`<details>
      <summary>${t(name)}</summary>
      ${rows}
    </details>`,
  ];
}

/** True for the fields that neither the tile nor the diagnostics show. */
function isForUsers(device: DeviceFunction, actions: Actions): (field: string) => boolean {
  const onTile = fieldsOfTile(device, actions);
  return (field) => {
    if (DIAGNOSTIC.test(field) || onTile.has(field)) return false;
    // a target that the mode does not use
    if (field.startsWith("targetTemp") && (device.state[field] ?? null) === null) return false;
    return !(isReadOnly(device, field) && SHOWN_BY_TILE.test(field));
  };
}

function isReadOnly(device: DeviceFunction, field: string): boolean {
  return device.capabilities[field]?.type !== "command" && !canSet(device, field);
}

/** The fields that the tile sets, and the measured value that it shows. */
function fieldsOfTile(device: DeviceFunction, actions: Actions): ReadonlySet<string> {
  const { kind, capabilities } = device;
  const { tap = {}, level, buttons = [] } = lookOf(device, actions);
  const commands = buttons.flatMap((each) =>
    typeof each === "string" ? [] : Object.keys(each.tap),
  );
  const set = isPlayer(device)
    ? ["volume", "elapsed"].filter((field) => canSet(device, field))
    : [...Object.keys(tap).filter((field) => field !== "stop"), ...commands];
  const isRange = set.includes("targetTemperatureLow");
  return new Set([
    ...set.filter((field) => field !== "mode" && !(isRange && field.startsWith("target"))),
    ...(level ? [level.field] : []),
    ...Object.keys(capabilities).filter((field) => ON_THE_TILE.test(field)),
    ...(/thermostat|conditioner|heater|station/.test(kind) ? ["temperature"] : []),
    ...(/humidifier/.test(kind) ? ["humidity"] : []),
    ...(kind === "media-player" ? ["group", "groupName"] : []),
    ...(capabilities.code ? ["code", "locked", "mode", "unlatch"] : []),
  ]);
}

/** A row for each field that `isShown`, with all commands in the first row. */
function rowsOf(
  device: DeviceFunction,
  actions: Actions,
  isShown: (field: string) => boolean,
): TemplateResult[] {
  const state: DeviceState = { ...device.state, ...device.pending };
  const fields = Object.entries(device.capabilities).filter(([field]) => isShown(field));
  const commands = fields.filter(([, { type }]) => type === "command").map(([field]) => field);
  const pad = device.capabilities.code && isShown("code-pad") ? [codePad(device, actions)] : [];
  const rows = fields.flatMap(([field, capability]) => {
    const name = actions.t(capabilityWord(field));
    const control = { device, actions, field, name, value: state[field] };
    if (capability.readOnly) return readingRow(capability, control);
    return controlOf(capability, control);
  });
  return [...pad, ...commandRow(device, actions, commands), ...rows];
}

function commandRow(
  device: DeviceFunction,
  actions: Actions,
  fields: readonly string[],
): TemplateResult[] {
  if (fields.length === 0) return [];
  const buttons = fields.map((field) => {
    const ask = ASKS[field];
    const name = actions.t(capabilityWord(field));
    return { name, tap: { [field]: true }, ...(ask === undefined ? {} : { ask }) };
  });
  return [commandButtons(device, actions, buttons)];
}

function commandButtons(
  device: DeviceFunction,
  actions: Actions,
  buttons: readonly TileButton[],
): TemplateResult {
  return html`<div class="choices commands" role="group" aria-label=${device.name}>
    ${buttons.map(
      (button) =>
        html`<button @click=${() => actions.tap(device, button)}>
          ${button.ask !== undefined && actions.asks(device, button.ask) ? actions.t(button.ask) : button.name}
        </button>`,
    )}
  </div>`;
}

function controlOf(capability: Capability, control: Control): TemplateResult[] {
  switch (capability.type) {
    case "number":
      return [numberRow(capability, control)];
    case "color":
      return colorRows(control);
    case "choice":
      return [choiceRow(capability.values, control)];
    case "boolean":
      return [switchRow(control)];
    case "text":
      return readingRow(capability, control);
    case "command":
      return [];
  }
}

/** A value that is only shown. */
function readingRow(
  capability: Capability,
  { name, value, field, actions }: Control,
): TemplateResult[] {
  if (capability.type === "color" || capability.type === "command") return [];
  return [
    html`<div class="control reading">
      <span class="what">${name}</span>
      <output dir="auto">${readingOf(capability, { field, value, actions })}</output>
    </div>`,
  ];
}

function readingOf(
  capability: Capability,
  { field, value, actions }: Pick<Control, "field" | "value" | "actions">,
): string {
  const { t } = actions;
  if (typeof value === "boolean") {
    const [yes, no] = field === "contact" ? ["Closed", "Open"] : ["Yes", "No"];
    return t(value ? yes : no);
  }
  if (typeof value === "number") {
    return readingText(value, capability.type === "number" ? capability : {}, actions);
  }
  if (typeof value !== "string" || value === "") return "–";
  return capability.type === "choice" ? t(valueWord(value)) : value;
}

interface Range {
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly value: number;
  readonly said: string;
  readonly track: string;
  readonly send: (value: number) => void;
}

function numberRow(
  capability: Extract<Capability, { type: "number" }>,
  control: Control,
): TemplateResult {
  const { field, value } = control;
  const { min = 0, max = 100, step = 1 } = capability;
  const known = typeof value === "number";
  return rangeRow(control.name, {
    min,
    max,
    step,
    value: known ? value : min,
    said: known ? readingText(value, capability, control.actions) : "–",
    track: field === "colorTemperature" ? "white" : "",
    send: (next) => send(control, next),
  });
}

function send({ device, actions, field }: Control, value: CommandBody[string]): void {
  void actions.send(device, { [field]: value });
}

function colorRows(control: Control): TemplateResult[] {
  const { name, value } = control;
  const color: Color =
    typeof value === "object" && value !== null ? value : { hue: 0, saturation: 0 };
  const change = (to: Partial<Color>): void => send(control, { ...color, ...to });
  const { fmt, t } = control.actions;
  return [
    rangeRow(name, {
      min: 0,
      max: 360,
      step: 1,
      value: color.hue,
      track: "hues",
      said: fmt.unit((color.hue / 360) * 100, "percent"),
      // Without saturation the lamp is white and shows no hue.
      send: (hue) => change({ hue, saturation: color.saturation || 100 }),
    }),
    rangeRow(t("Saturation"), {
      min: 0,
      max: 100,
      step: 1,
      value: color.saturation,
      track: "",
      said: fmt.unit(color.saturation, "percent"),
      send: (saturation) => change({ saturation }),
    }),
  ];
}

function rangeRow(name: string, range: Range): TemplateResult {
  const { min, max, step, value, said, track, send: sendValue } = range;
  const percent = max > min ? ((value - min) / (max - min)) * 100 : 0;
  return html`<label class="control">
    <span class="what">${name}</span>
    <input
      type="range"
      class=${track}
      min=${min}
      max=${max}
      step=${step}
      .value=${`${value}`}
      .style=${`--percent: ${percent}%`}
      aria-valuetext=${said}
      @input=${({ currentTarget }: InputEvent) => {
        if (currentTarget instanceof HTMLInputElement) sendValue(currentTarget.valueAsNumber);
      }}
    />
    <output>${track === "hues" ? nothing : said}</output>
  </label>`;
}

function choiceRow(values: readonly string[], control: Control): TemplateResult {
  const { name, value, actions } = control;
  if (values.length > MOST_BUTTONS) return listRow(values, control);
  return html`<div class="control" role="group" aria-label=${name}>
    <span class="what">${name}</span>
    <div class="choices">
      ${values.map(
        (each) =>
          html`<button aria-pressed=${each === value} @click=${() => send(control, each)}>
            ${actions.t(valueWord(each))}
          </button>`,
      )}
    </div>
  </div>`;
}

function listRow(values: readonly string[], control: Control): TemplateResult {
  const { name, value, actions } = control;
  return html`<label class="control">
    <span class="what">${name}</span>
    <select
      @change=${({ currentTarget }: Event) => {
        if (currentTarget instanceof HTMLSelectElement) send(control, currentTarget.value);
      }}
    >
      ${values.some((each) => each === value) ? nothing : html`<option selected disabled>–</option>`}
      ${values.map(
        (each) =>
          html`<option value=${each} ?selected=${each === value}>
            ${actions.t(valueWord(each))}
          </option>`,
      )}
    </select>
  </label>`;
}

function switchRow(control: Control): TemplateResult {
  const { name, value } = control;
  return html`<div class="control">
    <span class="what">${name}</span>
    <button
      class="switch"
      role="switch"
      aria-checked=${value === true}
      aria-label=${name}
      @click=${() => send(control, value !== true)}
    ></button>
  </div>`;
}
