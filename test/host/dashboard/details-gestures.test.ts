import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import "../../helpers/page/light-dom.ts";

const { followDetailsGestures } = await import("../../../host/dashboard/details-gestures.ts");

/** A tile with a slider and a button for details, in the shadow root of a widget. */
function page(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const host = document.createElement("div");
  document.body.append(host);
  t.after(() => host.remove());
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML =
    '<div data-details="demo:light:1"><button id="tile"></button><button id="more" data-opens></button></div>' +
    '<h2 data-details-room="Hall"><button id="room" data-opens></button></h2><p id="other"></p>';
  const opened: unknown[] = [];
  const taps: string[] = [];
  t.after(followDetailsGestures((target) => opened.push(target)));
  const find = (id: string): HTMLElement => {
    const element = root.querySelector<HTMLElement>(`#${id}`);
    assert.ok(element);
    return element;
  };
  for (const id of ["tile", "more"]) find(id).addEventListener("click", () => taps.push(id));
  const point = (type: string, x = 0, pointerId = 1): boolean =>
    find("tile").dispatchEvent(
      new PointerEvent(type, { bubbles: true, composed: true, clientX: x, pointerId, button: 0 }),
    );
  const click = (id: string) => find(id).dispatchEvent(new MouseEvent("click", COMPOSED));
  return { opened, taps, find, point, click, pass: (ms: number) => t.mock.timers.tick(ms) };
}

const COMPOSED = { bubbles: true, composed: true, cancelable: true };
const LAMP = { device: "demo:light:1" };

test("the marked button opens the details, any other tap does what it did", (t) => {
  const { opened, taps, click } = page(t);

  click("tile");
  click("more");
  click("room");

  assert.deepEqual(opened, [LAMP, { room: "Hall" }]);
  assert.deepEqual(taps, ["tile"]);
});

test("a long press opens the details, ends a drag, and is not a tap", (t) => {
  const { opened, taps, point, click, pass } = page(t);
  const cancelled: number[] = [];
  const hear = ({ pointerId }: PointerEvent): void => void cancelled.push(pointerId);
  window.addEventListener("pointercancel", hear);
  t.after(() => window.removeEventListener("pointercancel", hear));

  point("pointerdown", 0, 7);
  pass(499);
  const early = [...opened];
  pass(1);
  point("pointerup", 0, 7);
  click("tile");
  pass(0);
  click("tile");

  assert.deepEqual([early, opened], [[], [LAMP]]);
  assert.deepEqual(cancelled, [7]);
  assert.deepEqual(taps, ["tile"], "only the second one");
});

test("a short press, a drag and a press of another button open nothing", (t) => {
  const { opened, point, find, pass } = page(t);

  point("pointerdown");
  pass(100);
  point("pointerup");
  pass(1_000);
  point("pointerdown");
  point("pointermove", 20);
  pass(1_000);
  find("tile").dispatchEvent(new PointerEvent("pointerdown", { ...COMPOSED, button: 2 }));
  pass(1_000);

  assert.deepEqual(opened, []);
});

test("a right click and the menu key open the details instead of the browser's menu", (t) => {
  const { opened, find } = page(t);
  const menu = new MouseEvent("contextmenu", COMPOSED);
  const elsewhere = new MouseEvent("contextmenu", COMPOSED);

  find("tile").dispatchEvent(menu);
  find("other").dispatchEvent(elsewhere);

  assert.deepEqual(opened, [LAMP]);
  assert.deepEqual([menu.defaultPrevented, elsewhere.defaultPrevented], [true, false]);
});
