import { html, nothing, type TemplateResult } from "lit";
import type { Actions } from "./actions.ts";
import type { Look, TileButton } from "./appearance.ts";
import { iconOf } from "./device-icon.ts";
import type { DeviceFunction } from "./functions.ts";

/** A tile of two cells: a value, and buttons or a target beside it. */
export function wideTile(device: DeviceFunction, actions: Actions, look: Look): TemplateResult {
  const { hue, value, unit = "", note = "", progress, buttons = [] } = look;
  const said = actions.wordOf(device) ?? actions.ageOf(device) ?? note;
  return html`<div
    class=${classesOf(device, actions, look)}
    .style=${`--hue: ${hue}; --percent: ${progress ?? 0}%`}
    role="group"
    aria-label=${device.name}
  >
    ${iconPart(device, actions, look)}
    ${value === "" ? nothing : html`<span class=${/\d/.test(value) ? "big" : "value"}>${value}${unit}</span>`}
    <span class="set">${buttons.map((each) => buttonOf(device, actions, each))}</span>
    <span class="name">
      <bdi>${device.name}</bdi>${said === "" ? nothing : html` <em>· ${said}</em>`}
    </span>
  </div>`;
}

function classesOf(
  device: DeviceFunction,
  actions: Actions,
  { on, progress, buttons = [] }: Look,
): string {
  return [
    "tile wide acts",
    on && device.available ? "on" : "",
    progress === undefined ? "" : "progress",
    buttons.some(isToggle) ? "gangs" : "",
    actions.statesOf(device),
  ].join(" ");
}

const isToggle = (button: TileButton | string): boolean =>
  typeof button === "object" && button.pressed !== undefined;

/** The icon. It turns a device on and off whose buttons do something else. */
function iconPart(device: DeviceFunction, actions: Actions, look: Look): TemplateResult {
  const shown = html`<mantel-icon name=${iconOf(device)}></mantel-icon>`;
  if (!look.tap) return html`<span class="icon">${shown}</span>`;
  return html`<button
    class="icon"
    role="switch"
    aria-label=${actions.t("On")}
    aria-checked=${look.on}
    @click=${() => actions.tap(device, look)}
  >
    ${shown}
  </button>`;
}

function buttonOf(
  device: DeviceFunction,
  actions: Actions,
  button: TileButton | string,
): TemplateResult {
  if (typeof button === "string")
    return html`<b class=${button.includes("–") ? "range" : ""} aria-live="polite">${button}</b>`;
  const { icon, name, pressed, disabled, opens } = button;
  return html`<button
    class=${icon ? "" : "pill"}
    aria-label=${name}
    aria-pressed=${pressed ?? nothing}
    ?disabled=${disabled}
    ?data-opens=${opens === true}
    @click=${() => actions.tap(device, button)}
  >
    ${icon ? html`<mantel-icon name=${icon}></mantel-icon>` : name}
  </button>`;
}
