import { defineWidget, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { playChime, prepareChime } from "./widget/chime.ts";
import { clockText, restOf, STORAGE_KEY, type Timer, TimerStore } from "./widget/timer-store.ts";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const MINUTE_MS = 60_000;
const USUAL_MINUTES = [3, 5, 10, 20];
/** A timer that is over sounds this often, for at most this long. */
const CHIME_EVERY_MS = 3_000;
const CHIME_FOR_MS = 2 * MINUTE_MS;

const settings = {
  minutes: s.list(s.number({ title: "Minutes", min: 1, max: 1_440, step: 1, default: 5 }), {
    max: 8,
  }),
  sound: s.bool({ title: "Sound at the end", default: true }),
};
type Context = WidgetContext<typeof settings, unknown>;

export default defineWidget({
  name: "Timers",
  icon: "mdi:timer-outline",
  size: { default: [4, 8], min: [2, 5] },
  texts: {
    de: {
      Timers: "Kurzzeitwecker",
      Minutes: "Minuten",
      "Sound at the end": "Ton am Ende",
      Name: "Name",
      Start: "Start",
      Pause: "Pause",
      Continue: "Weiter",
      "One minute more": "Eine Minute mehr",
      Stop: "Stopp",
      Remove: "Entfernen",
      "{minutes} min": "{minutes} Min.",
      "Start a timer": "Einen Wecker starten",
      "{name} is over": "{name} ist abgelaufen",
      "{action}: {name}": "{action}: {name}",
      over: "abgelaufen",
      paused: "pausiert",
    },
  },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const store = new TimerStore(pageStorage(), ctx.now);
    const now = signal(ctx.now());
    const rung = new Set(overAt(store, now.peek()).map(({ id }) => id));
    let chimedAt = 0;
    ctx.every(1_000, () => (now.value = ctx.now()), { whenHidden: true });
    ctx.on<StorageEvent>(window, "storage", ({ key }) => key === STORAGE_KEY && store.read());

    ctx.effect(() => {
      const over = overAt(store, now.value);
      for (const timer of over.filter(({ id }) => !rung.has(id))) {
        ctx.announce(ctx.t("{name} is over", { name: nameOf(timer, ctx) }));
        rung.add(timer.id);
      }
      for (const id of rung) if (!over.some((timer) => timer.id === id)) rung.delete(id);
      const isLoud = over.some(({ endsAt = 0 }) => now.value - endsAt < CHIME_FOR_MS);
      if (!isLoud || !ctx.settings.value.sound || now.value - chimedAt < CHIME_EVERY_MS) return;
      chimedAt = now.value;
      playChime();
    });

    ctx.effect(() => {
      const minutes = ctx.settings.value.minutes;
      const start = (name: string, length: number): void => {
        prepareChime();
        now.value = ctx.now();
        store.start(name, length * MINUTE_MS);
      };
      render(
        html`<section class="card" aria-label=${ctx.t("Timers")}>
          ${timerList(ctx, store, now.value)}
          ${lengths(ctx, minutes.length > 0 ? minutes : USUAL_MINUTES, start)} ${form(ctx, start)}
        </section>`,
        root,
      );
    });
  },
});

type Start = (name: string, minutes: number) => void;

function overAt(store: TimerStore, now: number): readonly Timer[] {
  return store.timers.value.filter(
    (timer) => timer.endsAt !== undefined && restOf(timer, now) === 0,
  );
}

/** `undefined` where the browser forbids storage. */
function pageStorage(): Storage | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

function nameOf({ name, durationMs }: Timer, { t, fmt }: Context): string {
  return name === ""
    ? t("{minutes} min", { minutes: fmt.number(Math.round(durationMs / MINUTE_MS)) })
    : name;
}

function timerList(ctx: Context, store: TimerStore, now: number): TemplateResult | typeof nothing {
  const timers = store.timers.value.toSorted((a, b) => restOf(a, now) - restOf(b, now));
  if (timers.length === 0) return nothing;
  return html`<ul>
    ${repeat(
      timers,
      ({ id }) => id,
      (timer) => timerItem(ctx, timer, { store, now }),
    )}
  </ul>`;
}

interface Known {
  readonly store: TimerStore;
  readonly now: number;
}

function timerItem(ctx: Context, timer: Timer, { store, now }: Known): TemplateResult {
  const { t } = ctx;
  const { id, durationMs, endsAt } = timer;
  const rest = restOf(timer, now);
  const isPaused = endsAt === undefined;
  const isOver = !isPaused && rest === 0;
  const name = nameOf(timer, ctx);
  const button = (action: string, icon: string, press: () => void): TemplateResult =>
    html`<button aria-label=${t("{action}: {name}", { action: t(action), name })} @click=${press}>
      <mantel-icon name=${icon}></mantel-icon>
    </button>`;
  const turn = isPaused
    ? button("Continue", "mdi:play", () => store.turn(id))
    : button("Pause", "mdi:pause", () => store.turn(id));
  const percent = durationMs > 0 ? (rest / durationMs) * 100 : 0;
  return html`<li class=${isOver ? "over" : isPaused ? "paused" : ""}>
    <div class="what">
      <b dir="auto">${name}</b>
      <span role="timer" aria-live="off">${isOver ? t("over") : clockText(rest)}</span>
      ${isPaused ? html`<small>${t("paused")}</small>` : nothing}
    </div>
    <div class="buttons">
      ${button("One minute more", "mdi:plus", () => store.extend(id, MINUTE_MS))}
      ${isOver ? nothing : turn}
      ${button(isOver ? "Stop" : "Remove", isOver ? "mdi:bell-off-outline" : "mdi:close", () =>
        store.remove(id),
      )}
    </div>
    <i class="rest" .style=${`width: ${percent}%`}></i>
  </li>`;
}

function lengths({ t, fmt }: Context, minutes: readonly number[], start: Start): TemplateResult {
  return html`<div class="lengths" role="group" aria-label=${t("Start a timer")}>
    ${minutes.map(
      (length) =>
        html`<button @click=${() => start("", length)}>
          ${t("{minutes} min", { minutes: fmt.number(length) })}
        </button>`,
    )}
  </div>`;
}

function form({ t }: Context, start: Start): TemplateResult {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const { currentTarget } = event;
    if (!(currentTarget instanceof Element)) return;
    const [name, minutes] = currentTarget.querySelectorAll("input");
    const length = Number(minutes?.value);
    if (!name || !minutes || !(length > 0)) return;
    start(name.value.trim(), length);
    name.value = "";
  };
  return html`<form @submit=${submit}>
    <input
      aria-label=${t("Name")}
      placeholder=${t("Name")}
      maxlength="60"
      dir="auto"
      autocomplete="off"
    />
    <input
      type="number"
      aria-label=${t("Minutes")}
      min="0.5"
      max="1440"
      step="0.5"
      .value=${"10"}
      inputmode="decimal"
    />
    <button>${t("Start")}</button>
  </form>`;
}
