import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { serveDavAccount } from "../../fakes/dav-account.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";
import { startWithAccount } from "./start-with-account.ts";

const DAY = new Date().toISOString().slice(0, 10);
const TODAY = DAY.replaceAll("-", "");
const whole = (title: string) =>
  calendar(event(`UID:${title}`, `DTSTART;VALUE=DATE:${TODAY}`, `SUMMARY:${title}`)).toString();
const cutOff = (title: string) => whole(title).slice(0, -30);

/** The shown events of an account with one calendar of these objects. */
async function shownOf(t: TestContext, objects: Record<string, string>, settings: object = {}) {
  const account = await serveDavAccount(t);
  account.calendars.set("work", { name: "Work", objects });
  const { source, titles } = await startWithAccount(t, account, settings);
  const { status, error } = await until(
    () => [source("dav-work")].find((each) => each?.fetchedAt),
    { withinMs: 10_000 },
  );
  return { titles: titles(), status, error };
}

const CUT = "the calendar ends in the middle: END:VCALENDAR is missing";
const BROKEN: [what: string, objects: Record<string, string>, error: string][] = [
  [
    "the first object is cut off",
    { "a.ics": cutOff("zoo") },
    `1 file was left out: a.ics; the first because: ${CUT}`,
  ],
  [
    "the last object is cut off",
    { "z.ics": cutOff("zoo") },
    `1 file was left out: z.ics; the first because: ${CUT}`,
  ],
  [
    "an object is nested without end",
    { "b.ics": `BEGIN:VCALENDAR\r\n${"BEGIN:X\r\n".repeat(30)}` },
    "1 file was left out: b.ics; the first because: the calendar is nested more than 20 deep",
  ],
  [
    "two objects are not calendars",
    { "b.ics": "<html>Sign in</html>", "c.ics": "nothing" },
    "2 files were left out: b.ics, c.ics; the first because: this is a web page and not a calendar: use the address that ends in .ics",
  ],
  [
    "an object has a broken date",
    { "b.ics": whole("zoo").replace(";VALUE=DATE:", ":").replace(TODAY, `${TODAY}T250000`) },
    `1 event was skipped; the first because: ${DAY}T25:00:00 is not a date or a time that exists`,
  ],
];

for (const [what, objects, error] of BROKEN) {
  test(`where ${what}, only that is skipped, counted and named`, async (t) => {
    const shown = await shownOf(t, { ...objects, "m.ics": whole("park"), "n.ics": whole("lake") });

    assert.deepEqual(shown, { titles: ["lake", "park"], status: "ok", error });
  });
}

test("a calendar with only broken objects is empty and gives the reason", async (t) => {
  const shown = await shownOf(t, { "a.ics": cutOff("zoo") });

  const error = `1 file was left out: a.ics; the first because: ${CUT}`;
  assert.deepEqual(shown, { titles: [], status: "ok", error });
});

test("a private calendar reports only the number of broken objects", async (t) => {
  const shown = await shownOf(t, { "salary-talk.ics": cutOff("zoo") }, { private: true });

  assert.deepEqual(shown, { titles: [], status: "ok", error: "1 file was left out" });
});
