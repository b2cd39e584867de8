import { effect, signal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import { addStyles } from "./add-styles.ts";
import { currentLocale, translated, type Translation } from "./i18n/language.ts";
import type { Session } from "./session.ts";
import bannerStyles from "./banner.css";

/** Time between two looks whether the clock was set. */
const LOOK_EVERY_MS = 5_000;
const ASK_EVERY_MS = 60 * 60_000;
/** The same while the clock is wrong, because it may be set at any time. */
const ASK_WHILE_WRONG_EVERY_MS = 60_000;
const JUMP_MS = 30_000;

const english = {
  wrong: (by: string) =>
    `The clock of this screen is wrong by ${by}. Mantel shows the time of the home.`,
  hide: "Hide",
};

const german: Translation<typeof english> = {
  wrong: (by) =>
    `Die Uhr dieses Bildschirms geht um ${by} falsch. Mantel zeigt die Zeit des Zuhauses.`,
  hide: "Ausblenden",
};

const words = translated("clock-notice", english, { de: german });

/**
 * Keeps the time of the home correct, and shows a notice while the clock of this screen differs from the host's.
 * The answers to all requests correct the time too; this asks when no others do.
 */
export function watchClock(
  root: HTMLElement,
  { api, contexts, link }: Pick<Session, "api" | "contexts" | "link">,
): void {
  const { aheadMs } = contexts;
  const isHidden = signal(false);
  const watch = new ClockWatch();
  const ask = (): void => {
    if (link.peek().state !== "live") return;
    watch.begin();
    void api.discover(); // each answer corrects the time
  };
  const notice = document.createElement("div");
  root.after(notice);
  addStyles(bannerStyles);
  setInterval(() => watch.isDue(aheadMs.peek()) && ask(), LOOK_EVERY_MS);
  effect(() => {
    if (link.value.state === "live") ask();
  });
  effect(() => {
    const isShown = aheadMs.value !== 0 && !isHidden.value && link.value.state === "live";
    render(
      isShown
        ? html`<div class="banner" role="alert">
            <mantel-icon name="mdi:clock-alert-outline"></mantel-icon
            ><span>${words.value.wrong(spanOf(Math.abs(aheadMs.value)))}</span>
            <button class="action" @click=${() => (isHidden.value = true)}>
              ${words.value.hide}
            </button>
          </div>`
        : nothing,
      notice,
    );
  });
}

/** Decides when to compare the clock again. */
class ClockWatch {
  /** Times as `performance.now`, because the clock can be set at any time. */
  #askedAt = performance.now();
  #sinceStartMs = sinceStartMs();

  /** True if the clock was set, or the last comparison is too old. */
  isDue(aheadMs: number): boolean {
    if (Math.abs(sinceStartMs() - this.#sinceStartMs) > JUMP_MS) return true;
    const everyMs = aheadMs === 0 ? ASK_EVERY_MS : ASK_WHILE_WRONG_EVERY_MS;
    return performance.now() - this.#askedAt >= everyMs;
  }

  /** A comparison with the host's clock begins. */
  begin(): void {
    this.#askedAt = performance.now();
    this.#sinceStartMs = sinceStartMs();
  }
}

/** Differs from before after the clock was set. */
const sinceStartMs = (): number => Date.now() - performance.now();

function spanOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const [count, unit] =
    minutes < 120
      ? [minutes, "minute"]
      : minutes < 48 * 60
        ? [Math.round(minutes / 60), "hour"]
        : [Math.round(minutes / 60 / 24), "day"];
  const format = { style: "unit", unit, unitDisplay: "long" } as const;
  return new Intl.NumberFormat(currentLocale.value, format).format(count);
}
