import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import "../../helpers/page/light-dom.ts";

const { followDrag } = await import("../../../plugin-sdk/ui/drag.ts");

/** A slider of 200 pixels at level 50, and its pointer. */
function slider(t: TestContext) {
  const element = document.createElement("div");
  document.body.append(element);
  t.after(() => element.remove());
  Object.defineProperty(element, "clientWidth", { value: 200 });
  element.setPointerCapture = () => undefined;
  const levels: number[] = [];
  element.addEventListener("pointerdown", (down) => followDrag(down, 50, (at) => levels.push(at)));
  const point = (type: string, clientX: number, clientY = 0, pointerId = 1): void => {
    const event = new PointerEvent(type, { clientX, clientY, pointerId, button: 0, bubbles: true });
    (type === "pointerdown" ? element : window).dispatchEvent(event);
  };
  return { levels, point };
}

test("a drag changes the level by its way, and ends under the finger", (t) => {
  const { levels, point } = slider(t);

  point("pointerdown", 100);
  point("pointermove", 120);
  point("pointermove", 160);
  point("pointerup", 180);
  point("pointermove", 10);

  assert.deepEqual(levels, [60, 80, 90]);
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
