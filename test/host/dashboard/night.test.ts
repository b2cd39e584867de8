import assert from "node:assert/strict";
import { test } from "node:test";
import { createFormats } from "@mantel/plugin-sdk/format";
import "../../helpers/page/light-dom.ts";

const { NightScreen } = await import("../../../host/dashboard/night.ts");

const FORMATS = createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" });
const EVENING = Date.UTC(2026, 10, 20, 22, 5);

test("at night the screen shows only the time and the date, until it is hidden", () => {
  const root = document.createElement("div");
  const night = new NightScreen(root, () => undefined);
  document.body.append(root);

  night.show(FORMATS, EVENING - 60_000);
  night.show(FORMATS, EVENING);
  const shown = root.textContent;
  night.hide();

  assert.equal(shown, "22:05Friday 20 November");
  assert.equal(root.childElementCount, 0);
  root.remove();
});

test("the touch that wakes the screen does nothing else", () => {
  const root = document.createElement("div");
  document.body.append(root);
  let woken = 0;
  let reached = 0;
  root.addEventListener("pointerdown", () => reached++);
  root.addEventListener("click", () => reached++);
  new NightScreen(root, () => woken++).show(FORMATS, EVENING);

  const touches = ["pointerdown", "click"].map((type) => {
    const touch = new Event(type, { bubbles: true, cancelable: true });
    root.querySelector(".night time")?.dispatchEvent(touch);
    return touch.defaultPrevented;
  });

  assert.deepEqual([touches, woken, reached], [[true, true], 1, 0]);
  root.remove();
});
