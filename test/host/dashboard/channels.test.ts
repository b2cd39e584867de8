import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { SystemSample } from "@mantel/plugin-sdk/widget";
import { ApiError } from "../../../host/dashboard/api.ts";
import { ChannelSet, dayOf } from "../../../host/dashboard/channels.ts";
import { type Answers, FakeApi } from "../../helpers/page/fake-api.ts";

const EVENING = scene("demo:scene:1");
const MORNING = scene("demo:scene:2");
const WINDOW = { start: "2026-11-20T00:00:00Z", end: "2026-11-23T00:00:00Z" };
const SAMPLE = { sampledAt: "2026-11-20T10:00:00Z" } as SystemSample;

test("a channel is first read when it is used, and then once for all of its users", async () => {
  const { channels, api } = home({ "/system": SAMPLE });
  const before = api.asked.length;

  const value = channels.get("system");
  const early = value.value;
  await settled();

  assert.equal(channels.get("system"), value);
  assert.deepEqual([before, early, value.value], [0, undefined, SAMPLE]);
  assert.deepEqual(api.asked, ["GET /system"]);
});

test("the weather is the forecast, or unknown while nothing provides one", async () => {
  const forecast = { place: "Town", hours: [], days: [] };
  const { channels, api } = home({ "/weather": { forecast } });
  const value = channels.get("weather");
  await settled();
  const known = value.value;

  api.answers["/weather"] = { forecast: null };
  await channels.refresh("weather");

  assert.deepEqual([known, value.value], [forecast, undefined]);
});

test("the calendar has the days of the settings, from today in the home's time zone", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 19, 23, 30) });
  const path = "/calendar/events?start=2026-11-20&end=2026-11-23&tz=Europe%2FBerlin";
  const answer = { window: WINDOW, events: [{ id: "1" }], sources: [{ id: "family" }] };
  const { channels } = home({ [path]: answer });

  const value = channels.get("calendar");
  await settled();

  assert.deepEqual(value.value, {
    ...WINDOW,
    events: [{ id: "1" }],
    sources: [{ id: "family" }],
  });
});

test("the day of an instant is the one in the given time zone", () => {
  const at = Date.UTC(2026, 10, 19, 23, 30);

  assert.deepEqual(
    ["UTC", "Europe/Berlin", "America/New_York"].map((zone) => dayOf(at, zone)),
    ["2026-11-19", "2026-11-20", "2026-11-19"],
  );
});

test("a value that the event stream brings is shown, if a widget uses the channel", async () => {
  const { channels, api } = home({ "/system": SAMPLE });
  const later = { ...SAMPLE, sampledAt: "2026-11-20T10:00:05Z" };
  channels.put("system", later);
  const value = channels.get("system");
  const ignored = value.value;
  await settled();

  channels.put("system", later);

  assert.equal(ignored, undefined);
  assert.deepEqual(value.value, later);
  assert.equal(api.asked.length, 1);
});

test("only the channels in use are read again", async () => {
  const { channels, api } = home({ "/system": SAMPLE, "/weather": { forecast: null } });
  channels.get("system");
  channels.get("weather");
  await settled();
  api.asked.length = 0;

  channels.refreshAll();
  await channels.refresh("scenes");

  assert.deepEqual(api.asked, ["GET /system", "GET /weather"]);
});

test("a channel that cannot be read keeps its value, and the log says which", async (t) => {
  const warned = t.mock.method(console, "warn", () => undefined);
  const { channels, api } = home({ "/system": SAMPLE });
  const value = channels.get("system");
  await settled();
  const fault = new ApiError(503, { code: "unavailable" });

  api.answers["/system"] = fault;
  await channels.refresh("system");

  assert.deepEqual(value.value, SAMPLE);
  assert.deepEqual(warned.mock.calls[0]?.arguments, ["could not read the channel system", fault]);
});

test("an activated scene is the one activated last, and the others stay", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20) });
  const { channels } = home({ "/smart-home/scenes": { scenes: [EVENING, MORNING] } });
  const value = channels.get("scenes");
  channels.sceneActivated(EVENING.id); // not known yet
  await settled();
  const before = value.value;

  channels.sceneActivated(EVENING.id);

  assert.deepEqual(before, [EVENING, MORNING]);
  assert.deepEqual(value.value, [
    { ...EVENING, lastActivatedAt: "2026-11-20T00:00:00.000Z" },
    MORNING,
  ]);
});

test("an activated scene changes nothing while no widget shows scenes", async () => {
  const { channels, api } = home({ "/smart-home/scenes": { scenes: [EVENING] } });

  channels.sceneActivated(EVENING.id);
  await settled();

  assert.deepEqual(api.asked, []);
});

function home(answers: Answers) {
  const api = new FakeApi(answers);
  const channels = new ChannelSet(api, () => ({ timeZone: "Europe/Berlin", calendarDays: 3 }));
  return { api, channels };
}

function scene(id: string) {
  return { id, name: id, lastActivatedAt: null };
}

async function settled(): Promise<void> {
  await setImmediate();
}
