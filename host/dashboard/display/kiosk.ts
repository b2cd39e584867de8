import { computed, effect, type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import type { Session } from "../session.ts";
import { words } from "../words/shell.ts";

const DEFAULT_IDLE_SECONDS = 300;

/**
 * Hides what leads away from the pages while the display is a kiosk, and fills the screen. A button in
 * the corner always leads out, after a question that keeps a passing sleeve from leaving; when nobody
 * has touched the screen for a while, it is a kiosk again.
 */
export function keepKiosk(
  root: HTMLElement,
  { display, store }: Pick<Session, "display" | "store">,
  touchedAt: ReadonlySignal<number>,
): void {
  const left = signal(false);
  const on = computed(() => display.value?.kiosk === true && !left.value);
  const exit = document.createElement("aside");
  root.append(exit);
  const leave = (): void => {
    left.value = true;
    if (document.fullscreenElement) void document.exitFullscreen();
  };
  effect(() => {
    document.documentElement.toggleAttribute("data-kiosk", on.value);
    exit.ariaLabel = words.value.leaveKiosk;
    render(on.value ? exitView(leave) : nothing, exit);
  });
  // A browser fills the screen for a touch alone, closes the question then, and may say no.
  addEventListener("click", ({ target }) => {
    const isLeaving = target instanceof Node && exit.contains(target);
    if (!on.peek() || isLeaving || document.fullscreenElement) return;
    document.documentElement.requestFullscreen?.().catch(() => undefined);
  });
  effect(() => {
    const { idleSeconds = DEFAULT_IDLE_SECONDS } = store.ui.value;
    if (!left.value || idleSeconds === 0) return undefined;
    const idleMs = performance.now() - touchedAt.value;
    const timer = setTimeout(() => (left.value = false), idleSeconds * 1000 - idleMs);
    return () => clearTimeout(timer);
  });
}

function exitView(leave: () => void): TemplateResult {
  const say = words.value;
  return html`<button
      class="icon-button kiosk-exit"
      popovertarget="kiosk-exit"
      aria-label=${say.leaveKiosk}
    >
      <mantel-icon name="mdi:fullscreen-exit"></mantel-icon>
    </button>
    <div id="kiosk-exit" class="kiosk-question" popover aria-label=${say.leaveKiosk}>
      <p>${say.isKiosk}</p>
      <button class="action" @click=${leave}>${say.leaveKiosk}</button>
      <button class="action quiet" popovertarget="kiosk-exit" popovertargetaction="hide">
        ${say.stay}
      </button>
    </div>`;
}
