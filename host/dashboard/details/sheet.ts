import { addStyles } from "../add-styles.ts";
import type { Box } from "../widget-context.ts";
import dialogStyles from "./dialog.css";

/** Below this width of the window a sheet comes from the bottom. */
const NARROW = "(max-width: 43.75em)";
const GROW = { duration: 260, easing: "cubic-bezier(0.2, 0.8, 0.2, 1)" };

/** A sheet over the dashboard, and the root to draw into. */
export interface OpenSheet {
  readonly root: ShadowRoot;
  /** Aborted when the sheet has closed. */
  readonly closed: AbortSignal;
  close(): void;
}

let current: OpenSheet | undefined;

/**
 * Opens a sheet that grows from `box` and docks to the other side of the window, so that its tile stays visible. Only
 * one is open at a time. Escape, the button and a tap beside it close it; the focus then returns.
 */
export function openSheet({
  label,
  box,
  css,
}: {
  readonly label: string;
  readonly box: Box;
  readonly css: readonly CSSStyleSheet[];
}): OpenSheet {
  current?.close();
  addStyles(dialogStyles);
  const dialog = document.createElement("dialog");
  dialog.className = "details";
  dialog.ariaLabel = label;
  const lit = document.createElement("div");
  const panel = document.createElement("div");
  lit.className = "lit";
  panel.className = "sheet";
  dialog.append(lit, panel);
  const root = panel.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [...css];
  const closed = new AbortController();
  const close = (): void => {
    if (closed.signal.aborted) return;
    closed.abort();
    current = undefined;
    dialog.close();
    dialog.remove();
    document.documentElement.classList.remove("has-details");
  };
  const sheet: OpenSheet = { root, closed: closed.signal, close };
  current = sheet;

  place(lit, panel, box);
  closesOnPress(dialog, close, closed.signal);
  dialog.addEventListener("cancel", close, { signal: closed.signal });
  for (const type of ["hashchange", "mantel-idle"]) {
    addEventListener(type, close, { signal: closed.signal });
  }
  addEventListener("resize", () => place(lit, panel, undefined), { signal: closed.signal });
  document.body.append(dialog);
  document.documentElement.classList.add("has-details");
  dialog.showModal();
  grow(panel, lit, box);
  return sheet;
}

/** Docks the sheet away from its tile. Without a box only the veil is drawn. */
function place(lit: HTMLElement, panel: HTMLElement, box: Box | undefined): void {
  const seen = box ?? { x: -1, y: -1, width: 0, height: 0 };
  Object.assign(lit.style, {
    left: `${seen.x}px`,
    top: `${seen.y}px`,
    width: `${seen.width}px`,
    height: `${seen.height}px`,
  });
  if (box) panel.classList.toggle("left", box.x + box.width / 2 > innerWidth / 2);
}

function grow(panel: HTMLElement, lit: HTMLElement, box: Box | undefined): void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  lit.animate([{ opacity: 0 }, { opacity: 1 }], GROW);
  const end = panel.getBoundingClientRect();
  if (!box || matchMedia(NARROW).matches || end.width === 0) {
    panel.animate(
      [
        { transform: "translateY(60px)", opacity: 0 },
        { transform: "none", opacity: 1 },
      ],
      GROW,
    );
    return;
  }
  const x = box.x + box.width / 2 - (end.x + end.width / 2);
  const y = box.y + box.height / 2 - (end.y + end.height / 2);
  const scale = `${box.width / end.width}, ${box.height / end.height}`;
  panel.animate(
    [
      { transform: `translate(${x}px, ${y}px) scale(${scale})`, opacity: 0.2 },
      { transform: "none", opacity: 1 },
    ],
    GROW,
  );
}

/** Closes on a tap beside the sheet, also if a long press opened it and its finger is still down. */
function closesOnPress(dialog: HTMLDialogElement, close: () => void, signal: AbortSignal): void {
  let pressed = false;
  dialog.addEventListener("pointerdown", ({ target }) => (pressed = isVeil(target, dialog)), {
    signal,
  });
  dialog.addEventListener(
    "click",
    ({ target }) => {
      if (pressed && isVeil(target, dialog)) close();
    },
    { signal },
  );
}

function isVeil(target: EventTarget | null, dialog: HTMLDialogElement): boolean {
  return target === dialog || (target instanceof Element && target.className === "lit");
}
