/** Movement in CSS pixels that turns a tap into a drag. */
const LOCK_PX = 8;

/**
 * Tracks one pointer from its `pointerdown` and calls `onLevel` with 0 to 100: the place of the finger across the
 * element, in text direction. A vertical drag scrolls the page, because the element has `touch-action: pan-y`.
 */
export function followDrag(down: PointerEvent, onLevel: (percent: number) => void): void {
  const element = down.currentTarget;
  if (!(element instanceof HTMLElement) || down.button !== 0) return;
  const ended = new AbortController();
  let dragged = false;
  let last: number | undefined;

  const move = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return;
    const dx = event.clientX - down.clientX;
    if (!dragged) {
      if (Math.abs(dx) < LOCK_PX || Math.abs(dx) < Math.abs(event.clientY - down.clientY)) return;
      dragged = true;
      element.setPointerCapture(event.pointerId);
    }
    const level = levelAt(event.clientX, element);
    if (level !== last) onLevel(level);
    last = level;
  };
  const end = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return;
    // the finger may have moved since the last event
    if (event.type === "pointerup") move(event);
    ended.abort();
  };
  const { signal } = ended;
  // On the window, because a finger may leave the element before the drag starts.
  window.addEventListener("pointermove", move, { signal });
  window.addEventListener("pointerup", end, { signal });
  window.addEventListener("pointercancel", end, { signal });
}

function levelAt(x: number, element: HTMLElement): number {
  const { left, width } = element.getBoundingClientRect();
  if (width === 0) return 0;
  const share = (x - left) / width;
  const level = directionOf(element) === 1 ? share : 1 - share;
  return Math.max(0, Math.min(100, Math.round(level * 100)));
}

/** The text direction: 1 for left to right, -1 for right to left. */
export function directionOf(element: Element): 1 | -1 {
  return getComputedStyle(element).direction === "rtl" ? -1 : 1;
}
