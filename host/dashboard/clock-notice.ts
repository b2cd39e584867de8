import { effect, signal } from "@preact/signals-core";
import { html, nothing, render } from "lit";
import { addStyles } from "./add-styles.ts";
import { currentLocale, translated, type Translation } from "./i18n/language.ts";
import type { Session } from "./session.ts";
import bannerStyles from "./banner.css";

/** A smaller difference changes nothing that people notice on a wall. */
const TOLERATED_MS = 2 * 60_000;
const CHECK_EVERY_MS = 60 * 60_000;

const english = {
  wrong: (by: string) => `The clock of this screen is wrong by ${by}.`,
  hide: "Hide",
};

const german: Translation<typeof english> = {
  wrong: (by) => `Die Uhr dieses Bildschirms geht um ${by} falsch.`,
  hide: "Ausblenden",
};

const words = translated("clock-notice", english, { de: german });

/** Shows a notice while the clock of this screen differs from the host's, since times and days are then wrong. */
export function watchClock(root: HTMLElement, { link }: Pick<Session, "link">): void {
  const aheadMs = signal(0);
  const isHidden = signal(false);
  const check = (): void => {
    if (link.peek().state !== "live") return;
    void readAhead().then((ahead) => (aheadMs.value = ahead));
  };
  const notice = document.createElement("div");
  root.after(notice);
  addStyles(bannerStyles);
  setInterval(check, CHECK_EVERY_MS);
  effect(() => {
    if (link.value.state === "live") check();
  });
  effect(() => {
    const ahead = aheadMs.value;
    const isShown =
      Math.abs(ahead) > TOLERATED_MS && !isHidden.value && link.value.state === "live";
    const text = words.value.wrong(spanOf(Math.abs(ahead)));
    render(
      isShown
        ? html`<div class="banner" role="alert">
            <mantel-icon name="mdi:clock-alert-outline"></mantel-icon><span>${text}</span>
            <button class="action" @click=${() => (isHidden.value = true)}>
              ${words.value.hide}
            </button>
          </div>`
        : nothing,
      notice,
    );
  });
}

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

/** Milliseconds by which this clock is ahead of the host's, to the second; 0 if the host does not say. */
async function readAhead(): Promise<number> {
  try {
    const { headers } = await fetch("/api", { method: "HEAD", cache: "no-store" });
    const host = Date.parse(headers.get("Date") ?? "");
    return Number.isNaN(host) ? 0 : Date.now() - host;
  } catch {
    return 0;
  }
}
