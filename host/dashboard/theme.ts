import { batch, computed, signal, type ReadonlySignal } from "@preact/signals-core";
import { now } from "./home-time.ts";
import { lasting } from "./page-storage.ts";
import type { UiSettings } from "./store.ts";

export type Theme = "dark" | "light" | "night";

const KEY = "mantel.theme";
/** Time for which a touch suspends night mode. */
const AWAKE_MS = 60_000;
const lightPreferred = matchMedia("(prefers-color-scheme: light)");

/**
 * Shows the theme of the last visit before anything is drawn and before the host answers, so that
 * the screen does not flash white in a dark room.
 */
export function showRememberedTheme(): void {
  const remembered = lasting.get(KEY);
  showTheme(remembered === "dark" || remembered === "light" ? remembered : preferred());
}

export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** Remembers the theme setting for the next visit. */
export function rememberTheme(choice: UiSettings["theme"]): void {
  lasting.set(KEY, choice);
}

/**
 * The current theme: the setting of the home or of the screen, and night during its hours until a
 * touch.
 */
export class ThemeClock {
  readonly #light = signal(lightPreferred.matches);
  readonly #now = signal(now());
  /** Times as `performance.now`, because the time of day can be set at any time. */
  readonly #ticks = signal(performance.now());
  readonly #touchedAt = signal(performance.now());
  readonly theme: ReadonlySignal<Theme>;

  constructor(ui: ReadonlySignal<UiSettings>, timeZone: ReadonlySignal<string>) {
    lightPreferred.addEventListener("change", () => (this.#light.value = lightPreferred.matches));
    setInterval(() => this.#tick(), 5_000);
    const isNight = computed(() => {
      const { theme, night } = ui.value;
      return theme === "night" || (night && isWithin(night, this.#now.value, timeZone.value));
    });
    this.theme = computed(() => {
      const { theme = "auto" } = ui.value;
      if (isNight.value && this.#ticks.value - this.#touchedAt.value >= AWAKE_MS) return "night";
      const light = theme === "auto" ? this.#light.value : theme === "light";
      return light ? "light" : "dark";
    });
  }

  /** Handles a touch: the screen stays awake for a minute. */
  touch(): void {
    // Once a second is enough to stay awake, and a drag does not recompute the theme.
    if (performance.now() - this.#touchedAt.peek() < 1_000) return;
    batch(() => {
      this.#tick();
      this.#touchedAt.value = this.#ticks.peek();
    });
  }

  #tick(): void {
    this.#now.value = now();
    this.#ticks.value = performance.now();
  }
}

function preferred(): Theme {
  return lightPreferred.matches ? "light" : "dark";
}

/** True if an instant is within hours such as 22:30 to 06:30, which may include midnight. */
function isWithin(
  { from, to }: { from: string; to: string },
  at: number,
  timeZone: string,
): boolean {
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
  const clock = time.format(at);
  return from <= to ? from <= clock && clock < to : from <= clock || clock < to;
}
