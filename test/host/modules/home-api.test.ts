import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Cause } from "@mantel/plugin-sdk/cause";
import type { ActsFor } from "@mantel/plugin-sdk/home";
import type { HomePermissions } from "@mantel/plugin-sdk/home-permissions";
import type { ModuleKind } from "@mantel/plugin-sdk/manifest";
import { Calendar } from "../../../host/calendar/calendar.ts";
import { Commands } from "../../../host/devices/commands.ts";
import { HomeFeeds } from "../../../host/home/feeds.ts";
import { homeApi } from "../../../host/modules/calls/home-api.ts";
import { HomeCommandLimit } from "../../../host/modules/calls/home-commands.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { SceneRegistry } from "../../../host/scenes/registry.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { createBridge, lamp, openDevices } from "../devices/open-devices.ts";

/** The calls of a plugin `auto` with these permissions, in a home with two lamps and a scene. */
async function openApi(t: TestContext, home: HomePermissions = {}, kind: ModuleKind = "service") {
  const bridge = createBridge("b", "demo");
  const parts = await openDevices(t, [bridge]);
  await parts.devices.publish("b", [lamp("a", { room: "Hall" }), lamp("c", { room: "Attic" })]);
  const commands = new Commands(parts);
  const scenes = await SceneRegistry.open({ ...parts, commands });
  await scenes.put("host:scene:on", { name: "On", targets: { "demo:light:1": { on: true } } });
  const feeds = new HomeFeeds(parts.bus);
  t.after(() => feeds.close());
  const config = { current: { calendar: { defaultDays: 14 }, ui: { timeZone: "Europe/Berlin" } } };
  const calendar = new Calendar({
    bus: parts.bus,
    config,
    call: () => Promise.reject(new Error()),
  });
  const place = { latitude: 52.5, longitude: 13.4 };
  const state = { isLive: true, coordinates: place as typeof place | undefined };
  const log = collectedLog();
  const api = homeApi(
    {
      id: "auto",
      manifest: { id: "auto", title: "Autopilot", kinds: [kind], permissions: { home } },
      log: new ModuleLog(log),
      sendChanges: () => Promise.resolve(),
      exited: new Promise(() => undefined),
      requireLive: () => {
        if (!state.isLive) throw new Error("it has ended");
      },
    },
    { ...parts, commands, scenes, feeds, calendar, coordinates: () => state.coordinates },
  );
  const call = async (name: keyof typeof api, input: unknown = {}): Promise<unknown> =>
    (api[name] as (input: unknown) => unknown)(input);
  return { ...parts, bridge, calendar, feeds, state, log, call };
}

const SPAN = { start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z" };
const FOLLOW = { follower: 1, what: "changes", isStart: false };
const REFUSED = [
  ["listHomeDevices", { selector: "*" }, "read *", '"read": ["*"]'],
  ["listHomeDevices", { selector: "lock:*" }, "read lock:*", '"read": ["lock:*"]'],
  ["listHomeDevices", { selector: { kind: "lock" } }, "read lock:*", '"read": ["lock:*"]'],
  ["getHomeDevice", { id: "demo:light:1" }, "read demo:light:1", '"read": ["demo:light:1"]'],
  ["followHome", { ...FOLLOW, selector: "light:*" }, "read light:*", '"read": ["light:*"]'],
  ["listHomeRooms", {}, "read *", '"read": ["*"]'],
  ["listHomeScenes", {}, "read scenes", '"read": ["scene:*"]'],
  ["getCoordinates", {}, "know where the home is", '"read": ["location"]'],
  ["getSun", {}, "know where the home is", '"read": ["location"]'],
  ["listHomeEvents", SPAN, "read the calendars", '"read": ["calendar"]'],
  [
    "commandHome",
    { id: "demo:light:1", command: { on: true } },
    "control demo:light:1",
    '"control": ["demo:light:1"]',
  ],
  [
    "activateHomeScene",
    { id: "host:scene:on" },
    "control host:scene:on",
    '"control": ["host:scene:on"]',
  ],
] as const;

for (const [name, input, what, line] of REFUSED) {
  test(`${name} (${what}) is refused with the line to add to the manifest`, async (t) => {
    const { call, bridge } = await openApi(t);

    await assert.rejects(call(name, input), {
      code: "invalid",
      message: `auto may not ${what}: its manifest does not declare it; add "home": {${line}} to "mantel.permissions" in its package.json`,
    });

    assert.deepEqual(bridge.asked, []);
  });
}

test("reading everything does not include the calendars and the place of the home, nor any control", async (t) => {
  const { call } = await openApi(t, { read: ["*"] });

  for (const [name, input] of [
    ["getCoordinates", {}],
    ["listHomeEvents", SPAN],
    ["commandHome", { id: "demo:light:1", command: { on: true } }],
  ] as const) {
    await assert.rejects(call(name, input), { code: "invalid" });
  }
});

test("a list has only the devices that the manifest lists, and says if it is the last part", async (t) => {
  const { call } = await openApi(t, { read: ["demo:light:2"] });

  const answer = (await call("listHomeDevices", { selector: "*" })) as {
    devices: { id: string }[];
    isLast: boolean;
  };

  assert.deepEqual(
    answer.devices.map(({ id }) => id),
    ["demo:light:2"],
  );
  assert.equal(answer.isLast, true);
  assert.deepEqual(await call("listHomeDevices", { selector: "*", after: "demo:light:2" }), {
    devices: [],
    isLast: true,
  });
  assert.deepEqual(await call("listHomeRooms"), [{ name: "Attic", deviceIds: ["demo:light:2"] }]);
});

test("a command of a plugin reaches the device, and its cause is the module", async (t) => {
  const { call, bridge, bus, devices } = await openApi(t, { control: ["light:*"] });
  const causes: Cause[] = [];
  bus.on(({ topic, data }) => void (topic === "device.state" && causes.push(data.cause)));
  bridge.answer = (nativeId, state) => devices.update("b", [{ nativeId, state }]);

  const answer = await call("commandHome", { id: "demo:light:1", command: { on: true } });

  assert.equal((answer as { status: string }).status, "applied");
  assert.deepEqual(timeless(causes[0]), { kind: "module", id: "auto", name: "Autopilot" });
});

const EVENING = { id: "evening", name: "Evening" };

/** The cause without its instant, which is that of the call. */
function timeless(cause: Cause | undefined): Omit<Cause, "at"> | undefined {
  const { at = "", ...rest } = cause ?? assert.fail("there is no cause");
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 600_000, at);
  return rest;
}

/** The causes of the changes that a command for an automation makes. */
async function causesOf(
  { bus, bridge, devices, call }: Awaited<ReturnType<typeof openApi>>,
  parent?: Cause,
  reason: Partial<ActsFor> = {},
) {
  const causes: Cause[] = [];
  bus.on(({ topic, data }) => void (topic === "device.state" && causes.push(data.cause)));
  bridge.answer = (nativeId, state) => devices.update("b", [{ nativeId, state }]);
  const by = { automation: EVENING, ...(parent && { parent }), ...reason };
  const isOn = devices.get("demo:light:1").state["on"] === true;
  await call("commandHome", { id: "demo:light:1", command: { on: !isOn }, by });
  return causes;
}

test("the cause of a command for an automation is the automation, and the cause of its run", async (t) => {
  const api = await openApi(t, { control: ["light:*"] }, "automation");
  const anna: Cause = { kind: "person", id: "t1", name: "Anna" };
  api.feeds.causes.note("auto", anna);

  const [cause] = await causesOf(api, { name: "Anna", id: "t1", kind: "person" });

  assert.deepEqual(timeless(cause), { kind: "automation", ...EVENING, parent: anna });
});

test("an automation says why it runs and since when, but not in the future", async (t) => {
  const api = await openApi(t, { control: ["light:*"] }, "automation");
  const what = { type: "sun", values: { event: "sunset", offsetMs: -600_000 } };
  const at = "2026-11-20T16:31:02.000Z";

  const [cause] = await causesOf(api, undefined, { what, at });
  const [later] = await causesOf(api, undefined, { at: "2999-01-01T00:00:00Z" });

  assert.deepEqual(cause, { kind: "automation", ...EVENING, what, at });
  assert.deepEqual(timeless(later), { kind: "automation", ...EVENING });
});

test("a reason of an automation that is not valid is refused", async (t) => {
  const api = await openApi(t, { control: ["light:*"] }, "automation");
  const refused = { code: "invalid" };
  const values = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`v${index}`, index]));

  await assert.rejects(causesOf(api, undefined, { what: { type: "" } }), refused);
  await assert.rejects(causesOf(api, undefined, { what: { type: "sun", values } }), refused);
  await assert.rejects(causesOf(api, undefined, { at: "yesterday" }), refused);
});

test("a cause that was sent is known at any instant, but only with its reason", async (t) => {
  const api = await openApi(t, { control: ["light:*"] }, "automation");
  const what = { type: "sun", values: { event: "sunset", offsetMs: 0 } };
  const morning: Cause = { kind: "automation", id: "morning", name: "Morning", what };
  api.feeds.causes.note("auto", { ...morning, at: "2026-11-20T16:31:02.000Z" });
  const later = { ...morning, at: "2026-11-20T16:32:00.000Z" };

  const [known] = await causesOf(api, later);
  const [forged] = await causesOf(api, { ...morning, what: { type: "manual" } });

  assert.deepEqual([known?.parent, forged?.parent], [later, undefined]);
});

test("an automation names a device that it reads as its cause, under the name that the host knows", async (t) => {
  const api = await openApi(t, { read: ["light:*"], control: ["light:*"] }, "automation");

  const [cause] = await causesOf(api, { kind: "device", id: "demo:light:2", name: "Anna" });

  const { id, name } = api.devices.get("demo:light:2");
  assert.deepEqual(cause?.parent, { kind: "device", id, name });
});

test("an automation cannot name a cause that the host has not sent to its plugin", async (t) => {
  const api = await openApi(t, { read: ["light:*"], control: ["light:*"] }, "automation");
  const anna: Cause = { kind: "person", id: "t1", name: "Anna" };
  api.feeds.causes.note("other", anna);
  api.feeds.causes.note("auto", { ...anna, name: "Ben" });

  const [cause] = await causesOf(api, anna);

  assert.deepEqual(timeless(cause), { kind: "automation", ...EVENING });
});

test("a plugin of another kind acts for no automation", async (t) => {
  const { call } = await openApi(t, { control: ["light:*"] });
  const request = { id: "demo:light:1", command: { on: true }, by: { automation: EVENING } };

  await assert.rejects(call("commandHome", request), /add "automation" to "mantel.kinds"/);
});

test("a plugin activates a scene, and its devices name both as the cause", async (t) => {
  const { call, bridge, bus, devices } = await openApi(t, {
    read: ["scene:*"],
    control: ["host:scene:on"],
  });
  const causes: Cause[] = [];
  bus.on(({ topic, data }) => void (topic === "device.state" && causes.push(data.cause)));
  bridge.answer = (nativeId, state) => devices.update("b", [{ nativeId, state }]);

  const scenes = (await call("listHomeScenes")) as { id: string }[];
  const { status } = (await call("activateHomeScene", { id: scenes[0]?.id })) as { status: string };

  assert.equal(status, "ok");
  const module = { kind: "module", id: "auto", name: "Autopilot" };
  assert.deepEqual(timeless(causes[0]?.parent), module);
  assert.equal(causes[0]?.kind, "scene");
});

test("scenes are followed with the permission to read scenes, and failures with that of their devices", async (t) => {
  const { call } = await openApi(t, { read: ["scene:*"] });
  const follow = { ...FOLLOW, selector: "*" };

  await call("followHome", { ...follow, what: "scenes" });
  await assert.rejects(call("followHome", { ...follow, what: "failures" }), /"read": \["\*"\]/);
  const { call: ofLights } = await openApi(t, { read: ["light:*"] });
  await ofLights("followHome", { ...follow, selector: "light:*", what: "failures" });
  await assert.rejects(ofLights("followHome", { ...follow, what: "scenes" }), /"scene:\*"/);
});

test("commands and subscriptions of an ended generation are refused", async (t) => {
  const { call, state } = await openApi(t, { read: ["*"], control: ["*"] });
  state.isLive = false;

  await assert.rejects(call("commandHome", { id: "demo:light:1", command: {} }), /has ended/);
  await assert.rejects(call("followHome", { ...FOLLOW, selector: "*" }), /has ended/);
});

test("malformed requests are refused", async (t) => {
  const { call } = await openApi(t, { read: ["*", "calendar", "location"], control: ["*"] });

  for (const [name, input] of [
    ["listHomeDevices", {}],
    ["listHomeDevices", { selector: { price: 3 } }],
    ["getHomeDevice", { id: 3 }],
    ["followHome", { ...FOLLOW, selector: "*", what: "all" }],
    ["followHome", { ...FOLLOW, selector: "*", follower: 0 }],
    ["commandHome", null],
    ["getSun", { at: "noon" }],
    ["listHomeEvents", { start: "now" }],
    ["suspendHome", { unseen: "all" }],
  ] as const) {
    await assert.rejects(call(name, input), { code: "invalid" }, name);
  }
});

test("the sun is known where the home has coordinates", async (t) => {
  const { call, state } = await openApi(t, { read: ["location"] });

  const { isUp } = (await call("getSun", { at: "2026-06-21T12:00:00Z" })) as { isUp: boolean };
  assert.equal(isUp, true);
  assert.deepEqual(await call("getCoordinates"), { latitude: 52.5, longitude: 13.4 });
  state.coordinates = undefined;

  assert.deepEqual([await call("getSun"), await call("getCoordinates")], [null, null]);
});

test("the events of a span come from the published calendars", async (t) => {
  const { call, calendar } = await openApi(t, { read: ["calendar"] });
  await assert.rejects(call("listHomeEvents", SPAN), { code: "service_unavailable" });

  calendar.accept(
    {
      start: "2026-01-01T00:00:00Z",
      end: "2027-01-01T00:00:00Z",
      events: [],
      sources: [],
    },
    "calendar",
  );

  assert.deepEqual(await call("listHomeEvents", SPAN), {
    events: [],
    sources: [],
    truncated: false,
    complete: true,
  });
});

test("a plugin may send a hundred commands at once and then twenty a second", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const limit = limitOf(new ModuleLog(collectedLog()));
  for (let at = 0; at < 100; at++) limit.take("demo:light:1");

  assert.throws(() => limit.take("demo:light:1"), { code: "rate_limited" });
  now += 50;
  limit.take("demo:light:1");
  assert.throws(() => limit.take("demo:light:1"), { code: "rate_limited" });
});

test("a plugin that answers its own changes is named in its log, once a minute", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const log = collectedLog();
  const limit = limitOf(new ModuleLog(log));
  const answer = (cause: Cause, times: number) => {
    for (let at = 0; at < times; at++) {
      now += 100;
      limit.noteChange("demo:light:1", cause);
      limit.take("demo:light:1");
    }
  };

  answer({ kind: "person", id: "1", name: "Anna" }, 50);
  assert.equal(log.records.length, 0);
  answer({ kind: "module", id: "auto", name: "Autopilot" }, 50);

  assert.equal(log.records.length, 1);
  assert.match(log.records[0]?.sentence ?? "", /may be in a loop/);
  assert.equal(log.records[0]?.fields["device"], "demo:light:1");
});

test("a plugin of automations may send five hundred commands at once", (t) => {
  t.mock.method(performance, "now", () => 0);
  const limit = limitOf(new ModuleLog(collectedLog()), "automation");
  for (let at = 0; at < 500; at++) limit.take("demo:light:1");

  assert.throws(() => limit.take("demo:light:1"), { code: "rate_limited" });
});

const limitOf = (log: ModuleLog, kind: ModuleKind = "service") =>
  new HomeCommandLimit({ id: "auto", log, manifest: { kinds: [kind] } });
