import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: month } = await import("../../../plugins/month-widget/widget.ts");

const answers = {
  "/calendar/events?": {
    start: "2026-10-26T00:00:00Z",
    end: "2026-12-07T00:00:00Z",
    events: [
      eventOf("Choir", "family", "2026-11-20T18:00:00Z"),
      eventOf("Review", "work", "2026-11-21T09:00:00Z"),
    ],
    sources: [
      { id: "family", name: "Family", color: "#aa0000", status: "ok" },
      { id: "work", name: "Work", color: "#00aa00", status: "ok" },
    ],
    window: {},
  },
};

test("the month shows today and its events, and the day that is chosen", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8) });
  const { mounted, root, click, textOf, waitFor } = mountOnPage(t, month, { answers });
  await waitFor(".dots i");
  const labels = Array.from(root.querySelectorAll(".dots i"), (dot) =>
    dot.closest("button")?.getAttribute("aria-label"),
  );
  const today = textOf(".day h3, .day li");

  click("[data-date='2026-11-22']");

  assert.deepEqual(textOf("h2"), ["November 2026"]);
  assert.deepEqual(labels, ["Friday 20 November, one event", "Saturday 21 November, one event"]);
  assert.deepEqual(today, ["Friday 20 November", "18:00 Choir"]);
  assert.deepEqual(textOf("[aria-current=date]"), ["20"]);
  assert.deepEqual(textOf(".day h3, .day p"), ["Sunday 22 November", "Nothing on this day"]);
  assert.deepEqual(mounted.handOver()?.data, { chosen: "2026-11-22" });
});

test("the settings choose the calendars and show week numbers", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8) });
  const { root, textOf, waitFor } = mountOnPage(t, month, {
    answers,
    config: { calendars: ["work"], weekNumbers: true },
  });
  await waitFor(".dots i");

  assert.equal(root.querySelectorAll(".dots i").length, 1);
  assert.deepEqual(textOf("th[scope=row]").slice(0, 2), ["44", "45"]);
});

test("months are turned by buttons, and days by keys", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8) });
  t.mock.method(console, "warn", () => undefined);
  const { root, click, textOf } = mountOnPage(t, month, { handedOver: { chosen: "2026-11-30" } });
  const key = (name: string): void => {
    const event = new KeyboardEvent("keydown", { key: name, bubbles: true });
    root.querySelector("[aria-pressed=true]")?.dispatchEvent(event);
  };
  const chosen = () => root.querySelector("[aria-pressed=true]")?.getAttribute("data-date");
  const steps = [chosen()];

  for (const step of ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"]) {
    key(step);
    steps.push(chosen());
  }
  click("[aria-label='Next month']");
  const next = textOf("h2");
  click(".today");

  assert.deepEqual(steps, ["2026-11-30", "2026-12-01", "2026-11-24", "2026-11-23", "2026-11-30"]);
  assert.deepEqual(next, ["December 2026"]);
  assert.equal(chosen(), "2026-11-20");
});

function eventOf(title: string, calendarId: string, start: string) {
  return {
    id: title,
    calendarId,
    title,
    start: { dateTime: start, timeZone: "UTC" },
    end: { dateTime: start.replace(":00:00Z", ":45:00Z"), timeZone: "UTC" },
    status: "confirmed",
    location: null,
    color: null,
  };
}
