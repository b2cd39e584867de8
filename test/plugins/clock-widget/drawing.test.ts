import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: clock } = await import("../../../plugins/clock-widget/widget.ts");

test("the clock shows the time and the date of the home, and seconds if its settings say so", (t) => {
  t.mock.timers.enable({ apis: ["Date", "setTimeout"], now: Date.UTC(2026, 10, 20, 18, 42, 7) });
  const { config, timeZone, textOf } = mountOnPage(t, clock);
  const minutes = textOf("time, p");

  config.value = { seconds: true };
  timeZone.value = "Europe/Berlin";
  const seconds = textOf("time");
  t.mock.timers.tick(1_000);

  assert.deepEqual(minutes, ["18:42", "Friday 20 November"]);
  assert.deepEqual([seconds, textOf("time")], [["19:42:07"], ["19:42:08"]]);
});
