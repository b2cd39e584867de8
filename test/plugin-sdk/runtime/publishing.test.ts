import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent, CalendarPart, PartedWindow } from "../../../plugin-sdk/calendar.ts";
import { createPublish } from "../../../plugin-sdk/runtime/publishing.ts";

const eventsOf = (calendarId: string, count: number, title = "x"): CalendarEvent[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `${calendarId}/${at}`,
    calendarId,
    uid: `${at}`,
    recurrenceId: null,
    title,
    start: { date: "2026-06-01" },
    end: { date: "2026-06-02" },
    allDay: true,
    busy: true,
    status: "confirmed" as const,
    location: null,
    description: null,
    url: null,
    color: null,
  }));

/** The calls to the host. They fail while `faults` are left. */
function setUp() {
  const sent: (readonly [string, unknown])[] = [];
  const faults: Error[] = [];
  const publish = createPublish({
    call: async (method, input) => {
      const fault = faults.shift();
      if (fault) throw fault;
      sent.push([method, input]);
      return undefined as never;
    },
    notify: assert.fail,
  });
  const send = async (...events: CalendarEvent[]) => {
    sent.length = 0;
    const [start, end] = ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"];
    await publish("calendar.window", { start, end, events, sources: [] });
    const parts = sent.slice(0, -1).map(([, part]) => (part as CalendarPart).events.length);
    const [, last] = sent.at(-1) ?? assert.fail("nothing was sent");
    return { parts, named: (last as { value: PartedWindow }).value.parts };
  };
  return { send, faults, publish, sent };
}

test("a calendar window is sent in parts of one calendar each, and only new parts are sent", async () => {
  const { send } = setUp();

  const first = await send(...eventsOf("a", 450), ...eventsOf("b", 3));
  const again = await send(...eventsOf("a", 450), ...eventsOf("b", 3));
  const changed = await send(...eventsOf("a", 450), ...eventsOf("b", 3, "y"));
  const empty = await send();

  assert.deepEqual(first.parts, [200, 200, 50, 3]);
  assert.deepEqual(again, { parts: [], named: first.named });
  assert.deepEqual(changed.parts, [3]);
  assert.deepEqual(changed.named.slice(0, 3), first.named.slice(0, 3));
  assert.deepEqual(empty, { parts: [], named: [] });
});

test("after a failed send all parts are sent again", async () => {
  const { send, faults } = setUp();
  await send(...eventsOf("a", 250));

  faults.push(new Error("the channel is closed"));
  await assert.rejects(send(...eventsOf("a", 250)), /closed/);

  assert.deepEqual((await send(...eventsOf("a", 250))).parts, [200, 50]);
});

test("a part is sent as such, and the window that names it afterwards", async () => {
  const { send, sent } = setUp();
  await send(...eventsOf("a", 1));

  assert.deepEqual(
    sent.map(([method]) => method),
    ["publishCalendarPart", "publish"],
  );
});

test("a window without events is sent as it is, and other publications are channels now", async () => {
  const { publish, sent } = setUp();

  await publish("calendar.window", { events: "none" } as never);
  await assert.rejects(publish("weather.forecast" as never, { place: null } as never), {
    message:
      'ctx.publish("weather.forecast") is gone; define a channel with defineChannels, and publish with ctx.channels',
  });

  assert.deepEqual(sent, [["publish", { name: "calendar.window", value: { events: "none" } }]]);
});
