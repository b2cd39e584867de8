import { computed, effect, type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import { addStyles } from "../add-styles.ts";
import { words } from "../i18n/kiosk.ts";
import type { Session } from "../session.ts";
import popoverStyles from "../popover.css";
import styles from "./kiosk.css";

const DEFAULT_IDLE_SECONDS = 300;

/**
 * Hides links that lead away from the pages while the display is in kiosk mode, and fills the
 * screen. A button in the corner leaves kiosk mode after a confirmation, which prevents accidental
 * touches. Kiosk mode returns when the screen is idle.
 */
export function startKioskMode(
  root: HTMLElement,
  { display, store }: Session,
  touchedAt: ReadonlySignal<number>,
): void {
  addStyles(popoverStyles);
  addStyles(styles);
  const isLeft = signal(false);
  const on = computed(() => display.value?.kiosk === true && !isLeft.value);
  const exit = document.createElement("aside");
  root.append(exit);
  const leave = (): void => {
    isLeft.value = true;
    if (document.fullscreenElement) void document.exitFullscreen();
  };
  effect(() => {
    document.documentElement.toggleAttribute("data-kiosk", on.value);
    exit.ariaLabel = words.value.leaveKioskMode;
    render(on.value ? exitView(leave) : nothing, exit);
  });
  // Fullscreen requires a touch, closes the confirmation, and may be refused by the browser.
  addEventListener("click", ({ target }) => {
    const isLeaving = target instanceof Node && exit.contains(target);
    if (!on.peek() || isLeaving || document.fullscreenElement) return;
    document.documentElement.requestFullscreen?.().catch(() => undefined);
  });
  effect(() => {
    const { idleSeconds = DEFAULT_IDLE_SECONDS } = store.ui.value;
    if (!isLeft.value || idleSeconds === 0) return undefined;
    const idleMs = performance.now() - touchedAt.value;
    const timer = setTimeout(() => (isLeft.value = false), idleSeconds * 1000 - idleMs);
    return () => clearTimeout(timer);
  });
}

function exitView(leave: () => void): TemplateResult {
  const texts = words.value;
  return html`<button
      class="icon-button kiosk-exit"
      popovertarget="kiosk-exit"
      aria-label=${texts.leaveKioskMode}
    >
      <mantel-icon name="mdi:fullscreen-exit"></mantel-icon>
    </button>
    <div id="kiosk-exit" class="kiosk-question" popover aria-label=${texts.leaveKioskMode}>
      <p>${texts.kioskNotice}</p>
      <button class="action" @click=${leave}>${texts.leaveKioskMode}</button>
      <button class="action quiet" popovertarget="kiosk-exit" popovertargetaction="hide">
        ${texts.stayInKioskMode}
      </button>
    </div>`;
}
