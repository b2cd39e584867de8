import { batch, computed, signal, type ReadonlySignal } from "@preact/signals-core";
import type { UiSettings } from "./store.ts";

export type Theme = "dark" | "light" | "night";

const KEY = "mantel.theme";
/** How long a touch keeps the night away. */
const AWAKE_MS = 60_000;
const lightPreferred = matchMedia("(prefers-color-scheme: light)");

/**
 * Shows the theme of the last visit, before anything is drawn and before the host was asked, so that
 * a dark room sees no white flash.
 */
export function showRememberedTheme(): void {
  const remembered = localStorage.getItem(KEY);
  showTheme(remembered === "dark" || remembered === "light" ? remembered : preferred());
}

export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** Remembers the house's choice for the next visit. */
export function rememberTheme(choice: UiSettings["theme"]): void {
  if (choice === "dark" || choice === "light") localStorage.setItem(KEY, choice);
  else localStorage.removeItem(KEY);
}

/** The theme now: the house's choice, or the screen's own, and night in its hours until touched. */
export class ThemeClock {
  readonly #light = signal(lightPreferred.matches);
  readonly #now = signal(Date.now());
  /** Both as `performance.now`, because the time of day may be set at any time. */
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

  /** Somebody touched the screen: it stays awake for a minute. */
  touch(): void {
    // One touch a second is enough to stay awake, and keeps a drag from computing the theme anew.
    if (performance.now() - this.#touchedAt.peek() < 1_000) return;
    batch(() => {
      this.#tick();
      this.#touchedAt.value = this.#ticks.peek();
    });
  }

  #tick(): void {
    this.#now.value = Date.now();
    this.#ticks.value = performance.now();
  }
}

function preferred(): Theme {
  return lightPreferred.matches ? "light" : "dark";
}

/** Whether an instant lies in hours such as 22:30 to 06:30, which may pass midnight. */
function isWithin(
  { from, to }: { from: string; to: string },
  at: number,
  timeZone: string,
): boolean {
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
  const now = time.format(at);
  return from <= to ? from <= now && now < to : from <= now || now < to;
}
