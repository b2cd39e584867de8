import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals-core";
import "../../helpers/page/light-dom.ts";

const { followTouches } = await import("../../../host/dashboard/touches.ts");

test("a screen that nobody touches returns to its first page; each touch restarts the wait", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ui = signal<{ idleSeconds?: number }>({ idleSeconds: 10 });
  let [touches, rests] = [0, 0];
  addEventListener("mantel-idle", () => rests++);
  followTouches({ store: { ui }, theme: { touch: () => touches++ } } as never);
  location.hash = "#lights";

  t.mock.timers.tick(9_000);
  dispatchEvent(new Event("mantel-touch"));
  t.mock.timers.tick(9_000);
  assert.deepEqual([touches, rests, location.hash], [2, 0, "#lights"]);
  t.mock.timers.tick(1_000);
  assert.deepEqual([rests, location.hash], [1, ""]);

  ui.value = { idleSeconds: 0 };
  dispatchEvent(new Event("keydown"));
  t.mock.timers.tick(3_600_000);
  assert.equal(rests, 1, "a screen without an idle time stays");
});
