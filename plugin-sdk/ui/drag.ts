/** Movement in CSS pixels that turns a tap into a drag. */
const LOCK_PX = 8;

/**
 * Tracks one pointer from its `pointerdown` and calls `onLevel` with 0 to 100. A horizontal drag over the full width
 * of the element covers 0 to 100 in text direction. A vertical drag scrolls the page, because the element has
 * `touch-action: pan-y`.
 */
export function followDrag(
  down: PointerEvent,
  level: number,
  onLevel: (percent: number) => void,
): void {
  const element = down.currentTarget;
  if (!(element instanceof HTMLElement) || down.button !== 0) return;
  const width = element.clientWidth * directionOf(element);
  const ended = new AbortController();
  let dragged = false;

  const move = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return;
    const dx = event.clientX - down.clientX;
    if (!dragged) {
      if (Math.abs(dx) < LOCK_PX || Math.abs(dx) < Math.abs(event.clientY - down.clientY)) return;
      dragged = true;
      element.setPointerCapture(event.pointerId);
    }
    onLevel(Math.max(0, Math.min(100, Math.round(level + (dx / width) * 100))));
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

/** The text direction: 1 for left to right, -1 for right to left. */
export function directionOf(element: Element): 1 | -1 {
  return getComputedStyle(element).direction === "rtl" ? -1 : 1;
}
