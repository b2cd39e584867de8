import type { DetailsTarget } from "./widget-context.ts";

const HOLD_MS = 500;
/** Movement in CSS pixels that makes a press something else. */
const STILL_PX = 8;

/**
 * Opens details by gestures in all widgets of this page. An element with `data-details`, the id of a device, or with
 * `data-details-room` or `data-details-group`, the name of a room or group, opens by a long press, a right click and the menu key. A click opens it on
 * an element in it, or on itself, that has `data-opens`. Returns a function that stops this.
 */
export function followDetailsGestures(
  open: (target: DetailsTarget, element: HTMLElement) => void,
): () => void {
  const ended = new AbortController();
  const options = { capture: true, signal: ended.signal };
  const listen = <N extends keyof WindowEventMap>(
    type: N,
    run: (event: WindowEventMap[N], subject: Subject) => void,
  ): void => {
    const hear = (event: WindowEventMap[N]): void => {
      const subject = subjectOf(event);
      if (subject) run(event, subject);
    };
    window.addEventListener(type, hear, options);
  };
  listen("click", (event, { target, element, opens }) => {
    if (!opens) return;
    event.stopImmediatePropagation();
    open(target, element);
  });
  listen("contextmenu", (event, { target, element }) => {
    event.preventDefault();
    open(target, element);
  });
  listen("pointerdown", (event, { target, element }) => {
    if (event.button !== 0) return;
    whenHeld(event, () => {
      ignoreClick();
      // a drag that began with this press ends here
      window.dispatchEvent(new PointerEvent("pointercancel", { pointerId: event.pointerId }));
      open(target, element);
    });
  });
  return () => ended.abort();
}

interface Subject {
  readonly target: DetailsTarget;
  readonly element: HTMLElement;
  /** True if a click opens the details. */
  readonly opens: boolean;
}

/** The subject of the details at the place of an event, also within shadow roots. */
function subjectOf(event: Event): Subject | undefined {
  let opens = false;
  for (const element of event.composedPath()) {
    if (!(element instanceof HTMLElement)) continue;
    const { details, detailsRoom, detailsGroup, opens: marked } = element.dataset;
    if (marked !== undefined) opens = true;
    if (details !== undefined) return { target: { device: details }, element, opens };
    if (detailsGroup !== undefined) return { target: { group: detailsGroup }, element, opens };
    if (detailsRoom !== undefined) return { target: { room: detailsRoom }, element, opens };
  }
  return undefined;
}

function whenHeld(down: PointerEvent, run: () => void): void {
  const ended = new AbortController();
  const { signal } = ended;
  const timer = setTimeout(() => {
    ended.abort();
    run();
  }, HOLD_MS);
  signal.addEventListener("abort", () => clearTimeout(timer));
  const end = ({ pointerId }: PointerEvent): void => {
    if (pointerId === down.pointerId) ended.abort();
  };
  const move = (event: PointerEvent): void => {
    const distance = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
    if (distance > STILL_PX) end(event);
  };
  window.addEventListener("pointermove", move, { signal });
  window.addEventListener("pointerup", end, { signal });
  window.addEventListener("pointercancel", end, { signal });
  window.addEventListener("contextmenu", () => ended.abort(), { signal });
}

/** The click that ends a long press does nothing. */
function ignoreClick(): void {
  const ignore = (event: Event): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener("click", ignore, { capture: true, once: true });
  const stop = (): void =>
    void setTimeout(() => window.removeEventListener("click", ignore, { capture: true }));
  window.addEventListener("pointerup", stop, { once: true });
}
