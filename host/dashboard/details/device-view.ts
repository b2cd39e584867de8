import type { Color, CommandBody, Device, DeviceState } from "@mantel/plugin-sdk/device";
import type { Actions } from "@mantel/plugin-sdk/ui/actions";
import { canSet, type Look, type TileButton } from "@mantel/plugin-sdk/ui/appearance";
import { valueWord } from "@mantel/plugin-sdk/ui/control-words";
import { foldedControls, openControls } from "@mantel/plugin-sdk/ui/controls";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { isPlayer } from "@mantel/plugin-sdk/ui/device-tile";
import { livePictureOf } from "@mantel/plugin-sdk/ui/live-picture";
import { lookOf } from "@mantel/plugin-sdk/ui/look";
import { fullTileOf } from "@mantel/plugin-sdk/ui/player-card";
import { playersFor } from "@mantel/plugin-sdk/ui/player-group";
import { html, nothing, type TemplateResult } from "lit";
import type { Session } from "../session.ts";
import { colourOf, colourWheel } from "./colour-wheel.ts";
import { dialView, snapped } from "./dial.ts";
import { editView } from "./edit-device.ts";
import { type HistoryCard, historyView } from "./history-view.ts";
import { levelView } from "./level.ts";
import { isNear, recentColours, rememberColour } from "./recent-colours.ts";
import { type WhitePreset, whitesOf } from "./whites.ts";
import type { LastChanges } from "./who.ts";
import { words } from "./words.ts";

interface Shown {
  readonly session: Session;
  readonly actions: Actions;
  readonly chart: Pick<HistoryCard, "history" | "gestures" | "devices">;
  readonly close: TemplateResult;
  readonly tell: (sentence: string) => void;
  /** Present if the home keeps a logbook. */
  readonly changes: LastChanges | undefined;
}

interface Subject {
  readonly device: Device;
  /** With the pending values. */
  readonly state: DeviceState;
  readonly look: Look;
  readonly actions: Actions;
  readonly send: (command: CommandBody) => void;
  /** Those that can play together with it. */
  readonly players: readonly Device[];
}

/** Everything of a device. */
export function deviceView(device: Device | undefined, shown: Shown): TemplateResult {
  const { session, actions, chart, close, tell, changes } = shown;
  if (!device)
    return html`<header>${close}</header>
      <p class="quiet">${words.value.gone}</p>`;
  const look = lookOf(device, actions);
  const subject: Subject = {
    device,
    look,
    actions,
    state: { ...device.state, ...device.pending },
    send: (command) => void actions.send(device, command),
    players: playersFor(device, { devices: (query) => session.store.devices(query) }),
  };
  const { main, fields } = mainOf(subject);
  const inHeader = hasSwitch(device, subject.state) ? ["on"] : [];
  const rows = openControls(device, actions, [...fields, ...inHeader], subject.players);
  const folded = foldedControls(device, actions);
  return html`<div class="page ${actions.statesOf(device)}" .style=${`--hue: ${look.hue}`}>
    ${headerOf(subject, close, changes?.heading(device.id))}
    <div class="body">
      ${main} ${boxOf(rows)} ${historyView({ ...chart, device, speech: actions })}
      ${changes?.view(device.id) ?? nothing}
      ${session.mayAdminister ? editView(device, session, tell) : nothing} ${boxOf(folded)}
    </div>
  </div>`;
}

function boxOf(rows: readonly TemplateResult[]): TemplateResult | typeof nothing {
  return rows.length === 0 ? nothing : html`<div class="box controls-list">${rows}</div>`;
}

/** True for a device that the header switches. A siren asks first, and an assumed state has a button for each way. */
function hasSwitch(device: Device, { on }: DeviceState): boolean {
  return (
    canSet(device, "on") &&
    device.kind !== "siren" &&
    device.assumed !== true &&
    typeof on === "boolean"
  );
}

function headerOf(
  { device, look, actions, state }: Subject,
  close: TemplateResult,
  by = "",
): TemplateResult {
  const { value, unit = "", note = "", on } = look;
  const said =
    actions.wordOf(device) ?? [`${value} ${unit}`.trim(), note].filter(Boolean).join(" · ");
  const { stateChangedAt, room } = device;
  const when =
    stateChangedAt === null ? undefined : actions.fmt.relative(Date.parse(stateChangedAt));
  const facts = [said, room, when && words.value.changed(when), by].filter(Boolean).join(" · ");
  return html`<header class=${on && device.available ? "active" : ""}>
    <span class="icon"><mantel-icon name=${iconOf(device)}></mantel-icon></span>
    <div>
      <h2 dir="auto">${device.name}</h2>
      <p role="status">${facts}</p>
    </div>
    ${
      hasSwitch(device, state)
        ? html`<button
            class="switch"
            role="switch"
            aria-checked=${state.on}
            aria-label=${words.value.onOff}
            @click=${() => void actions.send(device, { on: state.on !== true })}
          ></button>`
        : nothing
    }
    ${close}
  </header>`;
}

interface Main {
  readonly main: TemplateResult | typeof nothing;
  /** The fields that `main` shows, which need no row. */
  readonly fields: readonly string[];
}

/** The large controls of a kind. */
function mainOf(subject: Subject): Main {
  const { device, look, actions, players } = subject;
  if (device.image === true && !isPlayer(device)) {
    const view = html`<div class="picture">${livePictureOf(device, actions)}</div>`;
    return { main: view, fields: [] };
  }
  if (isPlayer(device)) return { main: fullTileOf(device, actions, { players }), fields: [] };
  if (targetOf(subject)) return climate(subject);
  if (look.level !== undefined || canSet(device, "color") || canSet(device, "colorTemperature")) {
    return lamp(subject);
  }
  const buttons = [...ownTap(subject), ...(look.buttons ?? [])];
  const pressable = buttons.filter(
    (button): button is TileButton => typeof button === "object" && button.opens !== true,
  );
  if (device.capabilities.code) return { main: nothing, fields: [] };
  if (pressable.length === 0) return { main: figureOf(subject), fields: [] };
  return { main: buttonRow(subject, pressable), fields: [] };
}

/** The tap of a tile as a button, unless the switch in the header does the same. */
function ownTap({ device, state, look: { tap, ask }, actions }: Subject): readonly TileButton[] {
  if (!tap || hasSwitch(device, state)) return [];
  const locked = tap["locked"];
  const name =
    typeof locked === "boolean" ? actions.t(locked ? "Lock" : "Unlock") : actions.t("Press");
  return [{ name, tap, ...(ask !== undefined && { ask }) }];
}

function buttonRow({ device, actions }: Subject, buttons: readonly TileButton[]): TemplateResult {
  return html`<div class="acts-row">
    ${buttons.map((button) => {
      const { icon, name, pressed, disabled, ask } = button;
      const label = ask !== undefined && actions.asks(device, ask) ? actions.t(ask) : name;
      return html`<button
        class="big-button"
        aria-pressed=${pressed ?? nothing}
        ?disabled=${disabled}
        @click=${() => actions.tap(device, button)}
      >
        ${icon ? html`<mantel-icon name=${icon}></mantel-icon>` : nothing}${label}
      </button>`;
    })}
  </div>`;
}

function figureOf({ look: { value, unit } }: Subject): TemplateResult {
  return html`<p class="figure">
    ${value}${unit === undefined ? nothing : html`<small>${unit}</small>`}
  </p>`;
}

/** A level, a colour wheel, whites, recent colours and effects, as far as the device has them. */
function lamp(subject: Subject): Main {
  const { device, state, look, send } = subject;
  const hasColour = canSet(device, "color");
  const whites = whitesOf(device);
  const { effect } = device.capabilities;
  const effects = effect?.type === "choice" && canSet(device, "effect") ? effect.values : [];
  const color = colorIn(state);
  const setColour = (next: Color): void => {
    rememberColour(next);
    send({ color: next });
  };
  const main = html`<div
      class="lamp ${hasColour ? "coloured" : ""} ${whites.length > 0 ? "white" : ""}"
    >
      ${levelOf(subject)}
      ${hasColour ? colourWheel(color, setColour, recentColours.value) : nothing}
      ${whites.length > 0 ? whiteList(subject, whites) : nothing}
    </div>
    ${hasColour ? recentRow(color, setColour) : nothing}
    ${effects.length > 0 ? effectRow(subject, effects) : nothing}`;
  const level = look.level?.field ?? "brightness";
  const fields = [level, "color", ...(effects.length > 0 ? ["effect"] : [])];
  return { main, fields };
}

function levelOf({ device, look, send }: Subject): TemplateResult | typeof nothing {
  const { level } = look;
  if (!level) return nothing;
  const shown = look.on ? look.value : `${Math.round(level.percent)}`;
  const isFigure = /^\d+$/.test(shown);
  return levelView({
    label: words.value.level,
    percent: level.percent,
    step: level.step,
    on: look.on,
    value: isFigure ? shown : `${Math.round(level.percent)}`,
    unit: "%",
    note: isFigure ? undefined : shown,
    icon: device.kind === "light" || device.kind === "group" ? "mdi:brightness-6" : iconOf(device),
    set: (percent) =>
      send(percent === 0 && canSet(device, "on") ? { on: false } : { [level.field]: percent }),
  });
}

function whiteList({ state, send }: Subject, whites: readonly WhitePreset[]): TemplateResult {
  const texts = words.value;
  const chosen = isWhite(state) ? state.colorTemperature : undefined;
  return html`<div class="whites" role="group" aria-label=${texts.whites}>
    ${whites.map(
      ({ name, kelvin, css }) =>
        html`<button
          aria-pressed=${chosen === kelvin}
          @click=${() => send({ colorTemperature: kelvin })}
        >
          <i .style=${`background: ${css}`}></i><b>${texts[name]}</b><span>${kelvin} K</span>
        </button>`,
    )}
  </div>`;
}

/** True while the lamp shines in a white: it then has a colour temperature and no colour. */
function isWhite({ colorTemperature, color }: DeviceState): boolean {
  return typeof colorTemperature === "number" && (color ?? null) === null;
}

function colorIn({ color }: DeviceState): Color {
  return typeof color === "object" && color !== null ? color : { hue: 0, saturation: 0 };
}

function recentRow(color: Color, set: (color: Color) => void): TemplateResult | typeof nothing {
  const recent = recentColours.value;
  const texts = words.value;
  if (recent.length === 0) return nothing;
  return html`<div class="pick" role="group" aria-label=${texts.recent}>
    <span>${texts.recent}</span>
    <div class="swatches">
      ${recent.map(
        (each, index) =>
          html`<button
            aria-label=${texts.recentColour(index + 1)}
            aria-pressed=${isNear(each, color)}
            .style=${`background: ${colourOf(each)}`}
            @click=${() => set(each)}
          ></button>`,
      )}
    </div>
  </div>`;
}

function effectRow({ state, send, actions }: Subject, effects: readonly string[]): TemplateResult {
  const texts = words.value;
  return html`<div class="pick" role="group" aria-label=${texts.effect}>
    <span>${texts.effect}</span>
    <div class="choices">
      ${effects.map(
        (each) =>
          html`<button aria-pressed=${each === state.effect} @click=${() => send({ effect: each })}>
            ${actions.t(valueWord(each))}
          </button>`,
      )}
    </div>
  </div>`;
}

interface Target {
  readonly field: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly unit: "temperature" | "percent";
}

/** The target of a thermostat or humidifier that has exactly one. */
function targetOf({ device, state }: Subject): Target | undefined {
  for (const [field, unit, min, max, step] of [
    ["targetTemperature", "temperature", 5, 30, 0.5],
    ["targetHumidity", "percent", 0, 100, 1],
  ] as const) {
    const capability = device.capabilities[field];
    const value = state[field];
    if (capability?.type !== "number" || !canSet(device, field) || typeof value !== "number")
      continue;
    return {
      field,
      value,
      unit,
      min: capability.min ?? min,
      max: capability.max ?? max,
      step: capability.step ?? step,
    };
  }
  return undefined;
}

/** A dial with less and more, and the modes beside it. */
function climate(subject: Subject): Main {
  const { device, state, send, actions } = subject;
  const target = targetOf(subject);
  if (!target) return { main: nothing, fields: [] };
  const { field, value, unit, step } = target;
  const text = (of: number): string => actions.fmt.unit(of, unit);
  const current = state[unit === "temperature" ? "temperature" : "humidity"];
  const known = typeof current === "number" ? current : undefined;
  const set = (next: number): void => send({ [field]: snapped(next, target) });
  const { mode } = device.capabilities;
  const modes = mode?.type === "choice" && canSet(device, "mode") ? mode.values : [];
  const main = html`<div class="climate ${modes.length === 0 ? "alone" : ""}">
    <div class="turn">
      ${dialView({
        ...target,
        label: words.value.target,
        target: value,
        current: known,
        targetText: text(value),
        currentText: known === undefined ? undefined : words.value.now(text(known)),
        set,
      })}
      <div class="plus-minus">
        <button
          class="round"
          aria-label=${actions.t(unit === "temperature" ? "Cooler" : "Drier")}
          @click=${() => set(value - step)}
        >
          <mantel-icon name="mdi:minus"></mantel-icon>
        </button>
        <button
          class="round"
          aria-label=${actions.t(unit === "temperature" ? "Warmer" : "Moister")}
          @click=${() => set(value + step)}
        >
          <mantel-icon name="mdi:plus"></mantel-icon>
        </button>
      </div>
    </div>
    ${modes.length === 0 ? nothing : modeList(subject, modes)}
  </div>`;
  return { main, fields: [field, ...(modes.length > 0 ? ["mode"] : [])] };
}

const MODE_ICONS: Readonly<Record<string, string>> = {
  heat: "fire",
  cool: "snowflake",
  "heat-cool": "sun-snowflake-variant",
  auto: "autorenew",
  dry: "water-percent",
  "fan-only": "fan",
  eco: "leaf",
  off: "power",
};

function modeList({ state, send, actions }: Subject, modes: readonly string[]): TemplateResult {
  return html`<div class="modes" role="group" aria-label=${actions.t("Mode")}>
    ${modes.map(
      (each) =>
        html`<button aria-pressed=${each === state.mode} @click=${() => send({ mode: each })}>
          <mantel-icon name="mdi:${MODE_ICONS[each] ?? "tune-variant"}"></mantel-icon>
          ${actions.t(valueWord(each))}
        </button>`,
    )}
  </div>`;
}
