import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";
import { until } from "../../helpers/until.ts";

const { default: countdown } = await import("../../../plugins/countdown-widget/widget.ts");

const NOW = Date.parse("2026-12-20T22:30:00Z");

const event = (title: string, start: object, more: object = {}) => ({
  title,
  start,
  status: "confirmed",
  ...more,
});

function mount(t: TestContext, config: object, events: readonly object[] = [], height = 160) {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const answers = { "/calendar/events?": { events, sources: [] } };
  return mountOnPage(t, countdown, {
    config: { ...config },
    answers,
    size: { width: 300, height },
  });
}

test("the days until a date of the settings are shown with its title", (t) => {
  const { textOf } = mount(t, { date: "2026-12-24", title: "Christmas Eve" });

  assert.deepEqual(textOf(".first b, .first span, .name"), ["4", "days", "Christmas Eve"]);
});

for (const [date, words] of [
  ["2026-12-20", ["Today"]],
  ["2026-12-21", ["Tomorrow"]],
] as const) {
  test(`${words[0]} is a word`, (t) => {
    const { textOf } = mount(t, { date });
    assert.deepEqual(textOf(".first b, .first span"), words);
  });
}

test("events with the word in title or category follow each other, each title once", async (t) => {
  const { textOf, api } = mount(
    t,
    { word: "holiday" },
    [
      event("Winter holiday", { date: "2027-02-01" }),
      event("Winter holiday", { date: "2027-02-08" }),
      event(
        "Skiing",
        { dateTime: "2026-12-22T09:00:00Z", timeZone: "UTC" },
        { categories: ["Holidays"] },
      ),
      event("Dentist", { date: "2026-12-21" }),
      event("Bank holiday", { date: "2026-12-25" }, { status: "cancelled" }),
      event("Old holiday", { date: "2026-12-19" }),
    ],
    400,
  );

  await until(() => textOf(".name").length > 0);

  assert.deepEqual(textOf(".first b, .name"), ["2", "Skiing"]);
  assert.deepEqual(textOf(".row"), ["Winter holiday43 days"]);
  assert.ok(api.asked.some((each) => each.includes("start=2026-12-20&end=2027-12-20")));
});

test("a date that is over, a wrong one and no date say what to do", async (t) => {
  const { textOf, config } = mount(t, {});
  const said = () => textOf(".empty");

  assert.match(said()[0] ?? "", /Enter a date or a word/);
  config.value = { date: "2026-02-30", title: "", word: "" };
  assert.match(said()[0] ?? "", /Enter a date or a word/);
  config.value = { date: "2026-12-19", title: "", word: "" };
  assert.deepEqual(said(), ["Nothing is coming"]);
});

test("without an answer about the calendar nothing is coming", async (t) => {
  const { textOf } = mountOnPage(t, countdown, { config: { word: "holiday" } });

  await until(() => textOf(".empty").length > 0);

  assert.deepEqual(textOf(".empty"), ["Nothing is coming"]);
});
