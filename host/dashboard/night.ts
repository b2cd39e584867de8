import type { WidgetContext } from "@mantel/plugin-sdk/widget";
import { html, render } from "lit";
import { addStyles } from "./add-styles.ts";
import { words } from "./i18n/later.ts";
import styles from "./night.css";

/**
 * Night mode for a dark room: only the time, warm and dim. The touch that wakes it does nothing
 * else.
 */
export class NightScreen {
  readonly #root: HTMLElement;
  readonly #element = document.createElement("section");

  constructor(root: HTMLElement, onWake: () => void) {
    addStyles(styles);
    this.#root = root;
    this.#element.className = "night";
    for (const type of ["pointerdown", "click"]) {
      this.#element.addEventListener(type, (event) => {
        event.preventDefault();
        event.stopPropagation();
        if (type === "click") onWake();
      });
    }
  }

  show(fmt: WidgetContext<never, never>["fmt"], now: number): void {
    this.#element.ariaLabel = words.value.night;
    render(html`<time>${fmt.time(now)}</time><span>${fmt.date(now)}</span>`, this.#element);
    if (!this.#element.isConnected) this.#root.append(this.#element);
  }

  hide(): void {
    this.#element.remove();
  }
}
