/** How far a finger goes before it is a drag and not a tap, in CSS pixels. */
const LOCK_PX = 8;

/**
 * Follows one finger from its `pointerdown` and calls `onLevel` with 0 to 100. Sideways it changes the
 * level, over the element's width from 0 to 100 in the direction of the text; up or down the page
 * scrolls, because the element has `touch-action: pan-y`.
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
    if (event.pointerId === down.pointerId) ended.abort();
  };
  const { signal } = ended;
  // A finger that leaves before it drags lifts elsewhere, where the element does not hear of it.
  window.addEventListener("pointermove", move, { signal });
  window.addEventListener("pointerup", end, { signal });
  window.addEventListener("pointercancel", end, { signal });
}

/** 1 where text runs from left to right, -1 where it runs from right to left. */
export function directionOf(element: Element): 1 | -1 {
  return getComputedStyle(element).direction === "rtl" ? -1 : 1;
}
