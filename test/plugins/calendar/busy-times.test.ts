import assert from "node:assert/strict";
import { test } from "node:test";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

/** Events from a VFREEBUSY with these lines, as start, end and status. */
async function busy(...lines: string[]) {
  const component = ["BEGIN:VFREEBUSY", "UID:f", ...lines, "END:VFREEBUSY"].join("\r\n");
  const { events } = await expand(calendar(component));
  return events.map(({ start, end, status, title }) => {
    const at = (bound: typeof start) =>
      "dateTime" in bound ? bound.dateTime.slice(8, 16) : bound.date;
    return [at(start), at(end), status, title];
  });
}

test("published busy times are events (RFC 5545, 3.6.4)", async () => {
  const found = await busy(
    "FREEBUSY:20260601T080000Z/20260601T090000Z,20260601T100000Z/PT30M",
    "FREEBUSY;FBTYPE=BUSY-TENTATIVE:20260601T120000Z/PT1H",
    "FREEBUSY;FBTYPE=BUSY-UNAVAILABLE:20260601T140000Z/PT1H",
    "FREEBUSY;FBTYPE=FREE:20260601T160000Z/PT1H",
  );

  assert.deepEqual(found, [
    ["01T08:00", "01T09:00", "confirmed", "Busy"],
    ["01T10:00", "01T10:30", "confirmed", "Busy"],
    ["01T12:00", "01T13:00", "tentative", "Busy"],
    ["01T14:00", "01T15:00", "confirmed", "Busy"],
  ]);
});

test("periods that cannot be read are left out, and the others are shown", async () => {
  const found = await busy(
    "FREEBUSY:soon,20260601T080000/PT1H,20260601T090000Z/PT1H",
    "FREEBUSY:",
    "FREEBUSY",
  );

  assert.deepEqual(found, [["01T09:00", "01T10:00", "confirmed", "Busy"]]);
});

async function travelOf(line: string) {
  const times = ["DTSTART:20260601T090000Z", "DURATION:PT1H"];
  const { events } = await expand(calendar(event("UID:a", ...times, line)));
  return events.map(({ travelMs }) => travelMs);
}

test("the time to travel to an event is told", async () => {
  assert.deepEqual(await travelOf("X-APPLE-TRAVEL-DURATION;VALUE=DURATION:PT45M"), [2_700_000]);
});

for (const value of ["", "soon", "-PT45M", "PT0S", "P2D", "P900W"]) {
  test(`a time to travel of "${value}" is none`, async () => {
    assert.deepEqual(await travelOf(`X-APPLE-TRAVEL-DURATION;VALUE=DURATION:${value}`), [
      undefined,
    ]);
  });
}
