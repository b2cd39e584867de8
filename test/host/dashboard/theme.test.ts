import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { signal } from "@preact/signals-core";
import type { UiSettings } from "../../../host/dashboard/store.ts";
import { mockAgain } from "../../helpers/mock-again.ts";
import "../../helpers/page/light-dom.ts";

const { rememberTheme, showRememberedTheme, showTheme, ThemeClock } =
  await import("../../../host/dashboard/theme.ts");

const NIGHT = { from: "22:30", to: "06:30" };
const shown = () => document.documentElement.dataset.theme;

test("the theme of the last visit is shown first, or the one that the browser prefers", () => {
  const themes = (["dark", "light", "auto", "night", undefined] as const).map((theme) => {
    rememberTheme(theme);
    showRememberedTheme();
    return shown();
  });

  assert.deepEqual(themes, ["dark", "light", "light", "light", "light"]);
  showTheme("night");
  assert.equal(shown(), "night");
});

test("the theme follows the settings", (t) => {
  const { theme, ui } = clock(t, "12:00");
  const themes = (["dark", "light", "auto", undefined] as const).map((choice) => {
    ui.value = choice === undefined ? {} : { theme: choice };
    return theme.value;
  });

  assert.deepEqual(themes, ["dark", "light", "light", "light"]);
});

test("the night begins and ends at its hours, also over midnight", (t) => {
  const aMinuteAfter = ["22:28", "22:29", "23:59", "06:28", "06:29"].map((time) => {
    const { theme, pass } = clock(t, time, { theme: "dark", night: NIGHT });
    pass(60_000);
    return theme.value;
  });
  const { theme, pass } = clock(t, "13:00", {
    theme: "dark",
    night: { from: "12:00", to: "14:00" },
  });
  pass(60_000);

  assert.deepEqual(aMinuteAfter, ["dark", "night", "night", "night", "dark"]);
  assert.equal(theme.value, "night");
});

test("hours are those of the home's time zone", (t) => {
  const { theme, timeZone, pass } = clock(t, "21:45", { theme: "dark", night: NIGHT });
  pass(60_000);
  const utc = theme.value;

  timeZone.value = "Europe/Berlin";

  assert.deepEqual([utc, theme.value], ["dark", "night"]);
});

test("a touch at night wakes the screen for a minute", (t) => {
  const watch = clock(t, "23:00", { theme: "night" });
  watch.pass(60_000);
  const themes = [watch.theme.value];

  watch.touch();
  themes.push(watch.theme.value);
  watch.pass(55_000);
  themes.push(watch.theme.value);
  watch.pass(5_000);
  themes.push(watch.theme.value);

  assert.deepEqual(themes, ["night", "dark", "dark", "night"]);
});

test("touches within a second count as one", (t) => {
  const watch = clock(t, "23:00", { theme: "night" });
  watch.pass(60_000);
  watch.touch();
  let draws = 0;
  watch.theme.subscribe(() => draws++);

  watch.pass(500);
  watch.touch();
  watch.pass(59_500);

  assert.equal(watch.theme.value, "night");
  assert.equal(draws, 2);
});

/** A clock that was started at a time of a day in UTC; the screen was touched just before. */
function clock(t: TestContext, time: string, settings: UiSettings = {}) {
  const start = Date.parse(`2026-11-20T${time}:00Z`);
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: start });
  mockAgain(t, performance, "now", () => Date.now() - start);
  const ui = signal(settings);
  const timeZone = signal("UTC");
  const watch = new ThemeClock(ui, timeZone);
  const pass = (ms: number): void => {
    for (let left = ms; left > 0; left -= 5_000) t.mock.timers.tick(Math.min(left, 5_000));
  };
  return { theme: watch.theme, touch: () => watch.touch(), ui, timeZone, pass };
}
