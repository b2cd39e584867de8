import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import "../../helpers/page/light-dom.ts";

const { followDrag } = await import("../../../plugin-sdk/ui/drag.ts");

/** A slider of 200 pixels that begins at 40, and its pointer. */
function slider(t: TestContext) {
  const element = document.createElement("div");
  document.body.append(element);
  t.after(() => element.remove());
  element.getBoundingClientRect = () => new DOMRect(40, 0, 200, 100);
  element.setPointerCapture = () => undefined;
  const levels: number[] = [];
  element.addEventListener("pointerdown", (down) => followDrag(down, (at) => levels.push(at)));
  const point = (type: string, clientX: number, clientY = 0, pointerId = 1): void => {
    const event = new PointerEvent(type, { clientX, clientY, pointerId, button: 0, bubbles: true });
    (type === "pointerdown" ? element : window).dispatchEvent(event);
  };
  return { levels, point, element };
}

test("a drag sets the level under the finger, to the last place of a fast one", (t) => {
  const { levels, point } = slider(t);

  point("pointerdown", 60);
  point("pointermove", 80);
  point("pointermove", 140);
  point("pointermove", 140, 3);
  point("pointerup", 220);
  point("pointermove", 50);

  assert.deepEqual(levels, [20, 50, 90]);
});

test("a drag beyond an edge ends at off or full, and from right to left it is mirrored", (t) => {
  const { levels, point, element } = slider(t);
  point("pointerdown", 100);
  point("pointermove", 10);
  point("pointerup", 900);
  element.style.direction = "rtl";
  point("pointerdown", 100);
  point("pointerup", 80);

  assert.deepEqual(levels, [0, 100, 80]);
});

test("a flick that is over before the first move counts", (t) => {
  const { levels, point } = slider(t);

  point("pointerdown", 100);
  point("pointerup", 0);

  assert.deepEqual(levels, [0]);
});

test("a tap, a scroll, another finger and a cancelled drag change nothing more", (t) => {
  const { levels, point } = slider(t);
  const drags: readonly (() => void)[] = [
    () => point("pointerup", 104),
    () => point("pointermove", 110, 60),
    () => point("pointermove", 200, 0, 2),
    () => point("pointercancel", 200),
  ];

  for (const drag of drags) {
    point("pointerdown", 100);
    drag();
    point("pointercancel", 100);
  }

  assert.deepEqual(levels, []);
});
