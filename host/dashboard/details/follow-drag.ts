/**
 * Calls `move` for a press and for each movement until the pointer is lifted, also outside the element. A cancelled
 * drag ends where it was.
 */
export function followDrag(
  element: HTMLElement,
  down: PointerEvent,
  move: (event: PointerEvent) => void,
): void {
  element.setPointerCapture(down.pointerId);
  const ended = new AbortController();
  const { signal } = ended;
  move(down);
  element.addEventListener("pointermove", move, { signal });
  element.addEventListener(
    "pointerup",
    (event) => {
      move(event);
      ended.abort();
    },
    { signal },
  );
  element.addEventListener("pointercancel", () => ended.abort(), { signal });
}
