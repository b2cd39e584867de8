import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ApiError } from "../../../host/dashboard/api.ts";
import { ChannelSet, dayOf } from "../../../host/dashboard/channels.ts";
import { type Answers, FakeApi } from "../../helpers/page/fake-api.ts";

const EVENING = scene("demo:scene:1");
const MORNING = scene("demo:scene:2");
const WINDOW = { start: "2026-11-20T00:00:00Z", end: "2026-11-23T00:00:00Z" };

const PATH = "/channels/news/headlines";
const served = (value: unknown, revision: number | null = 1) => ({ value, revision });

test("a plugin's channel is first read when it is used, and then once for all of its users", async () => {
  const { channels, api } = home({ [PATH]: served(["Rain"]) });
  const before = api.asked.length;

  const value = channels.getOfPlugin("news/headlines");
  const early = value.value;
  await settled();

  assert.equal(channels.getOfPlugin("news/headlines"), value);
  assert.deepEqual([before, early, value.value], [0, undefined, ["Rain"]]);
  assert.deepEqual(api.asked, [`GET ${PATH}`]);
  assert.deepEqual([channels.isUsed("news/headlines"), channels.isUsed("a/b")], [true, false]);
});

test("a channel is undefined before its first value, and while no plugin provides it", async (t) => {
  const warned = t.mock.method(console, "warn", () => undefined);
  const { channels, api } = home({ [PATH]: served(null, null) });
  const value = channels.getOfPlugin("news/headlines");
  await settled();
  assert.equal(value.value, undefined);

  channels.put("news/headlines", ["Rain"], 2);
  api.answers[PATH] = new ApiError(404, { code: "channel_unknown" });
  channels.refreshAll();
  await settled();

  assert.equal(value.value, undefined);
  assert.equal(warned.mock.callCount(), 0);
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
  const { channels, api } = home({ [PATH]: served(["Rain"], 5) });
  channels.put("news/headlines", ["Sun"], 6);
  const value = channels.getOfPlugin("news/headlines");
  const ignored = value.value;
  await settled();

  channels.put("news/headlines", ["Sun"], 6);
  channels.put("news/headlines", ["late"], 4);

  assert.equal(ignored, undefined);
  assert.deepEqual(value.value, ["Sun"]);
  assert.equal(api.asked.length, 1);
  channels.put("news/headlines", undefined, 0);
  assert.equal(value.value, undefined);
});

test("an answer that is older than the last event changes nothing", async () => {
  const { channels } = home({ [PATH]: served(["Rain"], 5) });
  const value = channels.getOfPlugin("news/headlines");
  channels.put("news/headlines", ["Sun"], 6);
  await settled();
  assert.deepEqual(value.value, ["Sun"]);
});

test("only the channels in use are read again", async () => {
  const { channels, api } = home({ [PATH]: served(1), "/smart-home/scenes": { scenes: [] } });
  channels.getOfPlugin("news/headlines");
  channels.get("scenes");
  await settled();
  api.asked.length = 0;

  channels.refreshAll();
  await channels.refresh("calendar");

  assert.deepEqual(api.asked, ["GET /smart-home/scenes", `GET ${PATH}`]);
});

test("a channel that cannot be read keeps its value, and the log says which", async (t) => {
  const warned = t.mock.method(console, "warn", () => undefined);
  const { channels, api } = home({ [PATH]: served(["Rain"]) });
  const value = channels.getOfPlugin("news/headlines");
  await settled();
  const fault = new ApiError(503, { code: "unavailable" });

  api.answers[PATH] = fault;
  channels.refreshAll();
  await settled();

  assert.deepEqual(value.value, ["Rain"]);
  const told = "could not read the channel news/headlines";
  assert.deepEqual(warned.mock.calls[0]?.arguments, [told, fault]);
});

test("activating a scene changes its last activation, and that of no other scene", async (t) => {
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
