import type { CommandBody, Device } from "@mantel/plugin-sdk/device";
import type { Actions } from "@mantel/plugin-sdk/ui/actions";
import { canSet } from "@mantel/plugin-sdk/ui/appearance";
import { deviceTile } from "@mantel/plugin-sdk/ui/device-tile";
import { lookOf } from "@mantel/plugin-sdk/ui/look";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { heldPress } from "../press.ts";
import type { Session } from "../session.ts";
import type { Place } from "../widget-context.ts";
import { levelView } from "./level.ts";
import { showNotice } from "./notice.ts";
import { commandRoom, restore } from "./room-command.ts";
import { levelOf, roomLevel, scaledLevels } from "./room-levels.ts";
import { DragSender } from "./send-targets.ts";
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

/** The lights of a room, a group, or of the home: all off, all on, one level for all, and each of them. */
export function roomView(place: Place, { session, actions, close }: Shown): TemplateResult {
  const isHome = "room" in place && place.room === "";
  const query = isHome ? { kind: "light" } : { kind: "light", ...place };
  const name = "group" in place ? place.group : place.room;
  const lights = session.store.devices(query).value.filter(({ available }) => available);
  const lit = lights.filter((light) => levelOf(light) > 0);
  const texts = words.value;
  const switchAll = (on: boolean) => () =>
    void commandRoom(session, { place, kind: "light", command: { on } });
  return html`<div class="page" .style=${"--hue: var(--mantel-hue-light)"}>
    <header class=${lit.length > 0 ? "active" : ""}>
      <span class="icon"><mantel-icon name="mdi:lightbulb-group-outline"></mantel-icon></span>
      <div>
        <h2 dir="auto">${isHome ? texts.home : name}</h2>
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
            ${levelRow(lights, session, actions)} ${isHome ? groupRow(session) : nothing}
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

/** The groups with lights; each opens its own sheet. */
function groupRow({ store, contexts }: Session): TemplateResult | typeof nothing {
  const lights = store.devices({ kind: "light" }).value;
  const groups = [...new Set(lights.flatMap((light) => light.groups))].toSorted((one, other) =>
    one.localeCompare(other),
  );
  if (groups.length === 0) return nothing;
  const open = (group: string) => (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    contexts.openDetails({ group }, box);
  };
  const texts = words.value;
  return html`<div class="pick" role="group" aria-label=${texts.groups}>
    <span>${texts.groups}</span>
    <div class="choices">
      ${groups.map((group) => html`<button dir="auto" @click=${open(group)}>${group}</button>`)}
    </div>
  </div>`;
}

function levelRow(
  lights: readonly Device[],
  session: Session,
  actions: Actions,
): TemplateResult | typeof nothing {
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
      set: (percent) => setLevel(dimmable, percent, session),
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

interface Drag {
  readonly key: string;
  readonly press: number | undefined;
  /** The lamps as they were before. */
  readonly lights: readonly Device[];
  readonly sender: DragSender;
  at: number;
  percent: number;
}
let drag: Drag | undefined;
let settled: ReturnType<typeof setTimeout> | undefined;

function setLevel(lights: readonly Device[], percent: number, session: Session): void {
  const key = lights.map(({ id }) => id).join(" ");
  const now = performance.now();
  const press = heldPress();
  const isSamePress = press !== undefined && press === drag?.press;
  if (drag?.key !== key || (!isSamePress && now - drag.at > SETTLED_MS)) {
    drag = { key, press, lights, sender: new DragSender(session), at: now, percent };
  }
  const current = drag;
  current.at = now;
  current.percent = percent;
  const levels = scaledLevels(current.lights.map(levelOf), percent);
  const targets = new Map<string, CommandBody>();
  for (const [index, light] of lights.entries()) {
    const level = levels[index] ?? 0;
    if (Math.round(levelOf(light)) === level) continue;
    targets.set(light.id, level === 0 ? { on: false } : { brightness: level });
  }
  if (targets.size > 0) void current.sender.send(targets);
  clearTimeout(settled);
  settled = setTimeout(() => void offerUndo(current, session), SETTLED_MS);
}

/** Shows the new level with a button that restores each lamp, once the drag has ended. */
async function offerUndo(ended: Drag, session: Session): Promise<void> {
  if (ended.press !== undefined && heldPress() === ended.press) {
    settled = setTimeout(() => void offerUndo(ended, session), SETTLED_MS);
    return;
  }
  await ended.sender.send(new Map());
  const { lights, percent } = ended;
  const text = words.peek().noticeLevel(lights.length, Math.round(percent));
  session.contexts.shared.announce(text);
  showNotice(text, { undo: () => restore(session, lights, { brightness: percent }) });
}
