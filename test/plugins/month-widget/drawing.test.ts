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

test("days have their own names in zones far ahead of UTC", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8) });
  const { timeZone, root, textOf, waitFor } = mountOnPage(t, month, { answers });
  await waitFor(".dots i");

  timeZone.value = "Pacific/Auckland";

  assert.deepEqual(textOf(".day h3"), ["Friday 20 November"]);
  const label = root.querySelector("[data-date='2026-11-22']")?.getAttribute("aria-label");
  assert.equal(label, "Sunday 22 November");
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

const busy = {
  "/calendar/events?": {
    ...answers["/calendar/events?"],
    events: [
      ...answers["/calendar/events?"].events,
      {
        ...eventOf("Project week", "family", ""),
        start: day("2026-11-18"),
        end: day("2026-11-25"),
      },
      ...["A", "B", "C", "D", "E"].map((title) => eventOf(title, "work", "2026-11-20T10:00:00Z")),
    ],
  },
};

test("a large month shows titles, bars over several days, and the number of events without a line", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8) });
  const { root, size, textOf, waitFor } = mountOnPage(t, month, {
    answers: busy,
    size: { width: 1000, height: 700 },
  });
  await waitFor(".bar");
  const cell = (date: string) => {
    const { parentElement } = root.querySelector(`[data-date='${date}']`) ?? {};
    return Array.from(
      parentElement?.querySelectorAll(".title, .bar, small") ?? [],
      ({ textContent }) => textContent?.replace(/\s+/g, " ").trim(),
    );
  };

  assert.deepEqual(textOf(".bar"), ["Project week", "Project week"], "a part in each week");
  assert.deepEqual(cell("2026-11-18"), ["Project week"]);
  assert.deepEqual(cell("2026-11-20"), ["+5", "10:00 A"]);
  assert.deepEqual(cell("2026-11-21"), ["09:00 Review"]);
  assert.equal(root.querySelector(".dots"), null);
  assert.equal(textOf(".day li").length, 7, "the list of the day is beside the month");

  size.value = { ...size.value, width: 700, height: 800 };
  assert.equal(root.querySelectorAll(".bar").length, 2, "the list of the day is below the month");
  size.value = { ...size.value, width: 400, height: 420 };
  assert.equal(root.querySelector(".bar"), null);
  assert.equal(root.querySelector(".day"), null);
});

test("a week shows hours, bars and the current time, and a press on a day its calendars side by side", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12) });
  const { mounted, root, click, textOf, waitFor } = mountOnPage(t, month, {
    answers: busy,
    config: { view: "week", weekNumbers: true },
    size: { width: 1000, height: 700 },
  });
  await waitFor(".block");
  const week = {
    title: plain(textOf("h2")[0]),
    heads: textOf(".column-head b").map(Number),
    bars: textOf(".week .bar"),
    scale: textOf(".scale span").slice(0, 2),
    blocks: textOf(".block b"),
    past: textOf(".past b"),
    now: root.querySelectorAll(".current hr").length,
  };
  click("[data-date='2026-11-21']");
  await waitFor(".block");

  assert.deepEqual(week, {
    title: "16–22 November Week 47",
    heads: [16, 17, 18, 19, 20, 21, 22],
    bars: ["Project week"],
    scale: ["8:00", "9:00"],
    blocks: ["A", "B", "C", "D", "E", "Choir", "Review"],
    past: ["A", "B", "C", "D", "E"],
    now: 1,
  });
  assert.deepEqual(textOf("h2"), ["Saturday 21 November"]);
  assert.deepEqual(textOf(".column-head"), ["Family", "Work"]);
  assert.deepEqual(mounted.handOver()?.data, { chosen: "2026-11-21", view: "day" });
});

test("declined events are struck through in the month, its list and the week", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12) });
  const window = busy["/calendar/events?"];
  const declined = ["Project week", "A"];
  const events = window.events.map((each) =>
    declined.includes(each.title) ? { ...each, attendance: "declined" } : each,
  );
  const { click, textOf, waitFor } = mountOnPage(t, month, {
    answers: { "/calendar/events?": { ...window, events } },
    size: { width: 1000, height: 700 },
  });
  await waitFor(".bar");
  const shown = [".title s", ".bar s", ".day s"].map(textOf);
  click(".views button:nth-child(2)");
  await waitFor(".block");

  assert.deepEqual(shown, [["A"], ["Project week", "Project week"], declined]);
  assert.deepEqual([textOf(".block s"), textOf(".week .bar s")], [["A"], ["Project week"]]);
});

test("a user turns weeks and days, and chooses a view; a narrow week has fewer days", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12) });
  t.mock.method(console, "warn", () => undefined);
  const { click, size, textOf } = mountOnPage(t, month, {
    config: { view: "week" },
    size: { width: 1000, height: 700 },
  });
  const titles: unknown[] = [];
  const title = () => titles.push(plain(textOf("h2")[0]));

  click("[aria-label='Next week']");
  title();
  click(".views button");
  title();
  click("[aria-label='Previous day']");
  title();
  click(".views button:nth-child(2)");
  size.value = { ...size.value, width: 350 };
  title();

  assert.deepEqual(titles, [
    "23–29 November",
    "Friday 27 November",
    "Thursday 26 November",
    "26–28 November",
  ]);
  assert.deepEqual(textOf(".views"), [], "a narrow tile has no room for the choice");
});

test("an event of a calendar that can be changed opens its form from a week", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12) });
  const window = busy["/calendar/events?"];
  const sources = window.sources.map((source) => ({ ...source, writable: true }));
  const opened: unknown[] = [];
  const open = (event: Event): void => void opened.push((event as CustomEvent).detail);
  globalThis.addEventListener("mantel-event-form", open);
  t.after(() => globalThis.removeEventListener("mantel-event-form", open));
  const { click, waitFor } = mountOnPage(t, month, {
    answers: {
      ...busy,
      "/calendar/events": { ...window, sources },
      "/calendar/events?": { ...window, sources },
    },
    config: { view: "week" },
    size: { width: 1000, height: 700 },
  });
  await waitFor(".block button");

  click(".week .bar button");
  click(".block button");

  assert.deepEqual(
    opened.map((detail) => (detail as { event: { title: string } }).event.title),
    ["Project week", "A"],
  );
});

test("an event that is only read opens from the list of its day if it has a meeting", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8) });
  const window = answers["/calendar/events?"];
  const meeting = { ...eventOf("Call", "work", "2026-11-20T09:00:00Z"), conference: "https://a.b" };
  const { textOf, waitFor } = mountOnPage(t, month, {
    answers: { "/calendar/events?": { ...window, events: [...window.events, meeting] } },
  });
  await waitFor(".dots i");

  assert.deepEqual(textOf(".day li"), ["09:00 Call", "18:00 Choir"]);
  assert.deepEqual(textOf(".day li button"), ["09:00 Call"]);
});

/** Versions of Node put different spaces around the dash of a range. */
function plain(title = ""): string {
  return title.replace(/\s*–\s*/, "–");
}

function day(date: string) {
  return { date };
}

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
