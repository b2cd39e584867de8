import { html, nothing, type TemplateResult } from "lit";
import type { Capability, Color, DeviceState, StateValue } from "../device.ts";
import type { Device } from "../widget.ts";
import type { Actions } from "./actions.ts";
import { readingText } from "./reading.ts";

/** Fields without a row, because the tile itself sets them. */
const ON_THE_TILE = new Set(["on", "brightness", "position", "targetTemperature", "locked"]);
const OF_A_PLAYER = new Set(["playback", "skip"]);

const NAMES: Readonly<Record<string, string>> = {
  colorTemperature: "White",
  color: "Colour",
  effect: "Effect",
  mode: "Mode",
  speed: "Speed",
  tilt: "Tilt",
  volume: "Volume",
  muted: "Muted",
  source: "Source",
};

interface Control {
  readonly device: Device;
  readonly actions: Actions;
  readonly field: string;
  readonly name: string;
  readonly value: StateValue | undefined;
}

/**
 * The further controls of a device, one per row: white and colour of a lamp, speed of a fan, volume of a player.
 * They are derived from its capabilities, without code for single brands.
 */
export function deviceControls(device: Device, actions: Actions): TemplateResult[] {
  const state: DeviceState = { ...device.state, ...device.pending };
  return Object.entries(device.capabilities).flatMap(([field, capability]) => {
    if (!isControl(device, field, capability)) return [];
    const name = nameOf(field, actions);
    const control = { device, actions, field, name, value: state[field] };
    return controlOf(capability, control);
  });
}

function isControl({ kind }: Device, field: string, capability: Capability): boolean {
  if (ON_THE_TILE.has(field) || ("readOnly" in capability && capability.readOnly)) return false;
  if (kind === "fan" && field === "speed") return false;
  return !(kind === "media-player" && OF_A_PLAYER.has(field));
}

function nameOf(field: string, { t }: Actions): string {
  const known = NAMES[field];
  if (known !== undefined) return t(known);
  const words = field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
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
    case "command":
      return [];
  }
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
  const { device, actions, field, value } = control;
  const { min = 0, max = 100, step = 1 } = capability;
  const known = typeof value === "number";
  return rangeRow(control.name, {
    min,
    max,
    step,
    value: known ? value : min,
    said: known ? readingText(value, capability, actions) : "–",
    track: field === "colorTemperature" ? "white" : "",
    send: (next) => void actions.send(device, { [field]: next }),
  });
}

function colorRows({ device, actions, field, name, value }: Control): TemplateResult[] {
  const color: Color =
    typeof value === "object" && value !== null ? value : { hue: 0, saturation: 0 };
  const send = (change: Partial<Color>): void =>
    void actions.send(device, { [field]: { ...color, ...change } });
  const { fmt, t } = actions;
  return [
    rangeRow(name, {
      min: 0,
      max: 360,
      step: 1,
      value: color.hue,
      track: "hues",
      said: fmt.unit((color.hue / 360) * 100, "percent"),
      // Without saturation the lamp is white and shows no hue.
      send: (hue) => send({ hue, saturation: color.saturation || 100 }),
    }),
    rangeRow(t("Saturation"), {
      min: 0,
      max: 100,
      step: 1,
      value: color.saturation,
      track: "",
      said: fmt.unit(color.saturation, "percent"),
      send: (saturation) => send({ saturation }),
    }),
  ];
}

function rangeRow(name: string, range: Range): TemplateResult {
  const { min, max, step, value, said, track, send } = range;
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
        if (currentTarget instanceof HTMLInputElement) send(currentTarget.valueAsNumber);
      }}
    />
    <output>${track === "hues" ? nothing : said}</output>
  </label>`;
}

function choiceRow(values: readonly string[], control: Control): TemplateResult {
  const { device, actions, field, name, value } = control;
  return html`<div class="control" role="group" aria-label=${name}>
    <span class="what">${name}</span>
    <div class="choices">
      ${values.map(
        (each) =>
          html`<button
            aria-pressed=${each === value}
            @click=${() => void actions.send(device, { [field]: each })}
          >
            ${actions.t(each.charAt(0).toUpperCase() + each.slice(1))}
          </button>`,
      )}
    </div>
  </div>`;
}

function switchRow({ device, actions, field, name, value }: Control): TemplateResult {
  const on = value === true;
  return html`<div class="control">
    <span class="what" id=${`name-${field}`}>${name}</span>
    <button
      class="switch"
      role="switch"
      aria-checked=${on}
      aria-labelledby=${`name-${field}`}
      @click=${() => void actions.send(device, { [field]: !on })}
    ></button>
  </div>`;
}
