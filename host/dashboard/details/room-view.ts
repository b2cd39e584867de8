import type { Device } from "@mantel/plugin-sdk/device";
import type { Actions } from "@mantel/plugin-sdk/ui/actions";
import { canSet } from "@mantel/plugin-sdk/ui/appearance";
import { deviceTile } from "@mantel/plugin-sdk/ui/device-tile";
import { lookOf } from "@mantel/plugin-sdk/ui/look";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { heldPress } from "../press.ts";
import type { Session } from "../session.ts";
import { levelView } from "./level.ts";
import { commandRoom } from "./room-command.ts";
import { levelOf, roomLevel, scaledLevels } from "./room-levels.ts";
import { words } from "./words.ts";

/** As many marks as have room beside the level. */
const MOST_MARKS = 8;
/** The proportions of the lamps are those before a drag, which may end at 0 and come back. */
const SETTLED_MS = 1_000;

interface Shown {
  readonly session: Session;
  readonly actions: Actions;
  readonly close: TemplateResult;
}

/** The lights of a room, or of the home: all off, all on, one level for all, and each of them. */
export function roomView(room: string, { session, actions, close }: Shown): TemplateResult {
  const query = room === "" ? { kind: "light" } : { kind: "light", room };
  const lights = session.store.devices(query).value.filter(({ available }) => available);
  const lit = lights.filter((light) => levelOf(light) > 0);
  const texts = words.value;
  const switchAll = (on: boolean) => () =>
    void commandRoom(session, { room, kind: "light", command: { on } });
  return html`<div class="page" .style=${"--hue: var(--mantel-hue-light)"}>
    <header class=${lit.length > 0 ? "active" : ""}>
      <span class="icon"><mantel-icon name="mdi:lightbulb-group-outline"></mantel-icon></span>
      <div>
        <h2 dir="auto">${room === "" ? texts.home : room}</h2>
        <p role="status">
          ${lights.length === 0 ? texts.noLights : texts.lightsOn(lit.length, lights.length)}
        </p>
      </div>
      ${close}
    </header>
    ${
      lights.length === 0
        ? nothing
        : html`<div class="body">
            <div class="acts-row">
              <button class="big-button" ?disabled=${lit.length === 0} @click=${switchAll(false)}>
                <mantel-icon name="mdi:power"></mantel-icon>${texts.allOff}
              </button>
              <button
                class="big-button"
                ?disabled=${lit.length === lights.length}
                @click=${switchAll(true)}
              >
                <mantel-icon name="mdi:lightbulb-on-outline"></mantel-icon>${texts.allOn}
              </button>
            </div>
            ${levelRow(lights, actions)}
            <div class="lights">
              ${repeat(
                lights,
                ({ id }) => id,
                (light) => deviceTile(light, actions),
              )}
            </div>
          </div>`
    }
  </div>`;
}

function levelRow(lights: readonly Device[], actions: Actions): TemplateResult | typeof nothing {
  const dimmable = lights.filter((light) => canSet(light, "brightness"));
  if (dimmable.length === 0) return nothing;
  const mean = roomLevel(dimmable);
  return html`<div class="room-level">
    ${levelView({
      label: words.value.allLights,
      percent: mean,
      on: mean > 0,
      value: `${Math.round(mean)}`,
      unit: "%",
      note: words.value.allLights,
      icon: "mdi:brightness-6",
      set: (percent) => setLevel(dimmable, percent, actions),
    })}
    <div class="marks" aria-hidden="true">${marksOf(dimmable, actions)}</div>
  </div>`;
}

/** The lamps at their heights, apart from each other so that their names can be read. */
function marksOf(lights: readonly Device[], actions: Actions): TemplateResult[] {
  const shown = lights.slice(0, MOST_MARKS).toSorted((one, other) => levelOf(one) - levelOf(other));
  const places = apart(shown.map(levelOf));
  return shown.map((light, index) => {
    const { value, unit = "", hue, on } = lookOf(light, actions);
    return html`<span
      class=${on ? "on" : ""}
      .style=${`--hue: ${hue}; bottom: ${places[index] ?? 0}%`}
      ><i></i><b>${light.name}</b> ${value} ${unit}</span
    >`;
  });
}

const LEAST_APART = 11;

/** Ascending places of 0 to 100, moved so that none is closer to the next than a line of text. */
export function apart(places: readonly number[]): readonly number[] {
  const moved = [...places];
  for (let index = 1; index < moved.length; index++) {
    moved[index] = Math.max(moved[index] ?? 0, (moved[index - 1] ?? 0) + LEAST_APART);
  }
  let most = 100;
  for (let index = moved.length - 1; index >= 0; index--) {
    moved[index] = Math.min(moved[index] ?? 0, most);
    most = (moved[index] ?? 0) - LEAST_APART;
  }
  return moved;
}

interface Base {
  readonly key: string;
  readonly press: number | undefined;
  readonly levels: readonly number[];
  at: number;
}
let base: Base | undefined;

function setLevel(lights: readonly Device[], percent: number, actions: Actions): void {
  const key = lights.map(({ id }) => id).join(" ");
  const now = performance.now();
  const press = heldPress();
  const isSamePress = press !== undefined && press === base?.press;
  if (base?.key !== key || (!isSamePress && now - base.at > SETTLED_MS)) {
    base = { key, press, levels: lights.map(levelOf), at: now };
  }
  base.at = now;
  const levels = scaledLevels(base.levels, percent);
  for (const [index, light] of lights.entries()) {
    const level = levels[index] ?? 0;
    if (Math.round(levelOf(light)) === level) continue;
    void actions.send(light, level === 0 ? { on: false } : { brightness: level });
  }
}
