import { html, nothing, render } from "lit";
import { addStyles } from "../add-styles.ts";
import { words } from "./words.ts";
import styles from "./notice.css";

/** Long enough to read the notice and to reach its button. */
const SHOWN_MS = 8_000;

let shown: HTMLElement | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

interface NoticeOptions {
  /** Adds a button that calls it. */
  readonly undo?: (() => void) | undefined;
  /** A small text below the sentence. */
  readonly note?: string;
}

/** Shows a sentence at the bottom of the window. The next notice replaces it. */
export function showNotice(text: string, { undo, note }: NoticeOptions = {}): void {
  hide();
  addStyles(styles);
  const notice = document.createElement("div");
  notice.className = "undo-notice";
  // a modal dialog makes everything else inert
  (document.querySelector("dialog.details") ?? document.body).append(notice);
  const takeBack = (): void => {
    hide();
    undo?.();
  };
  const button = html`<button @click=${takeBack}>${words.peek().undo}</button>`;
  const small = note ? html`<small>${note}</small>` : nothing;
  render(html`<span>${text}${small}</span>${undo ? button : nothing}`, notice);
  shown = notice;
  timer = setTimeout(hide, SHOWN_MS);
}

function hide(): void {
  clearTimeout(timer);
  shown?.remove();
  shown = undefined;
}
