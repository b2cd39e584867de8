import type { Cause } from "@mantel/plugin-sdk/cause";
import type { CommandBody, Device } from "@mantel/plugin-sdk/device";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { html, nothing, type TemplateResult } from "lit";
import { fieldOf, type HomeView, valueWords } from "../automations/home.ts";
import { commandFrom } from "../automations/phrases.ts";
import {
  causeKindText,
  causeLook,
  causeText,
  chainText,
  deviceName,
  effectText,
  isByItself,
} from "./cause-words.ts";
import { chainOf, type LogbookEffect } from "./entries.ts";
import { words } from "./words.ts";

interface Why {
  readonly effect: LogbookEffect;
  readonly home: HomeView;
  readonly onClose: () => void;
  /** Absent for users who may only look. */
  readonly onPutBack?: (device: Device, command: CommandBody) => void;
}

/** The reasons of one change: the chain of its causes, the first one first. */
export function whyView(why: Why): TemplateResult {
  const { effect, home, onClose } = why;
  const texts = words.value;
  const name = deviceName(effect, home);
  const last = effect.entries.at(-1);
  const isOwn = last !== undefined && isByItself(last);
  const chain = isOwn ? [] : chainOf(last?.cause).toReversed();
  const device = effect.device === undefined ? undefined : home.device(effect.device);
  return html`<aside class="why" aria-label=${texts.why(name)}>
    <button type="button" class="round" aria-label=${texts.close} @click=${onClose}>
      <mantel-icon name="mdi:close"></mantel-icon>
    </button>
    <h2 dir="auto">${texts.why(name)}</h2>
    <p>${isOwn ? texts.byItself : texts.because(chainText(last?.cause, home))}</p>
    <ol>
      ${chain.map((cause) => {
        const [icon, hue] = causeLook(cause, home);
        return linkView({ icon, hue, title: causeText(cause, home), text: causeKindText(cause) });
      })}
      ${linkView({
        icon: device ? iconOf(device) : "mdi:circle-small",
        hue: "light",
        title: name,
        text: beforeAndAfter(effect, home),
        time: last && home.fmt.time(last.at),
      })}
    </ol>
    <div class="acts">${device ? putBackView(device, why) : nothing} ${openView(chain)}</div>
  </aside>`;
}

interface Link {
  readonly icon: string;
  readonly hue: string;
  readonly title: string;
  readonly text: string;
  readonly time?: string | undefined;
}

function linkView({ icon, hue, title, text, time = "" }: Link): TemplateResult {
  return html`<li .style=${`--hue: var(--mantel-hue-${hue})`}>
    <span class="mark"><mantel-icon name=${icon}></mantel-icon></span>
    <div><b dir="auto">${title}</b><span>${text}</span></div>
    <time>${time}</time>
  </li>`;
}

function beforeAndAfter(effect: LogbookEffect, home: HomeView): string {
  const [first] = effect.entries;
  const isOne = effect.entries.length === 1 && first?.kind === "state";
  if (!isOne || first.from === undefined || first.from === null) return effectText(effect, home);
  const field = fieldOf(home.device(effect.device ?? ""), first.what);
  const value = (each: unknown): string => valueWords(field, each, home);
  return words.value.before(value(first.from), value(first.to));
}

/** A button that restores the values from before, if the device takes them. */
function putBackView(device: Device, { effect, home, onPutBack }: Why): unknown {
  const fields = valuesBefore(device, effect);
  const [first] = fields;
  if (!first || !onPutBack) return nothing;
  const value = valueWords(fieldOf(device, first[0]), first[1], home);
  return html`<button
    type="button"
    class="pill strong"
    @click=${() => onPutBack(device, commandFrom(fields) as CommandBody)}
  >
    <mantel-icon name="mdi:undo-variant"></mantel-icon>${words.value.putBack(device.name, value)}
  </button>`;
}

/** The values that a device had before its changes and that it takes. */
function valuesBefore(
  device: Device,
  { entries }: LogbookEffect,
): readonly (readonly [string, unknown])[] {
  const before = new Map(
    entries.toReversed().flatMap(({ kind, what, from }) => {
      const field = kind === "state" ? fieldOf(device, what) : undefined;
      const isSettable = field && field.capability.readOnly !== true;
      return isSettable && from !== undefined && from !== null ? [[what, from] as const] : [];
    }),
  );
  // A brightness would turn on a lamp that was off.
  return before.get("on") === false ? [["on", false]] : [...before];
}

/** A link to the last automation in a chain. */
function openView(chain: readonly Cause[]): unknown {
  const automation = chain.findLast(({ kind }) => kind === "automation");
  if (!automation) return nothing;
  const { id, name } = automation;
  return html`<a class="pill" href="#/automations/${encodeURIComponent(id)}">
    ${words.value.open(name)}
  </a>`;
}
