import { effect } from "@preact/signals-core";
import { render } from "lit";
import { addStyles } from "./add-styles.ts";
import { titles } from "./title.ts";
import formStyles from "./form/form.css";
import styles from "./overlay.css";

/** A page in place of the dashboard, which keeps running below. */
export interface Overlay {
  readonly element: HTMLElement;
  /** Moves the focus to the heading, as after a change of the address. */
  focus(): void;
  /** Returns to the dashboard. */
  close(): void;
}

/** Opens a page in place of the dashboard. It is drawn again whenever a signal that `view` reads changes. */
export function openOverlay(
  root: HTMLElement,
  {
    name,
    css,
    view,
  }: { readonly name: string; readonly css: string; readonly view: () => unknown },
): Overlay {
  addStyles(formStyles);
  addStyles(styles);
  addStyles(css);
  const before = document.activeElement;
  const element = document.createElement("div");
  element.className = `overlay ${name}`;
  root.hidden = true;
  root.after(element);
  const stop = effect(() => void render(view(), element));
  return {
    element,
    focus() {
      scrollTo(0, 0);
      element.querySelector<HTMLElement>("h1")?.focus();
    },
    close() {
      stop();
      element.remove();
      titles.over.value = "";
      root.hidden = false;
      if (before instanceof HTMLElement) before.focus();
    },
  };
}
