import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Device } from "@mantel/plugin-sdk/widget";
import { ApiError } from "../../../host/dashboard/api.ts";
import { dayOf } from "../../../host/dashboard/channels.ts";
import { deviceOf } from "../../helpers/device.ts";
import { mockAgain } from "../../helpers/mock-again.ts";
import "../../helpers/page/light-dom.ts";
import { CLOCK, LAMP, LAYOUT, moduleOf, settled, StreamingHome } from "./streaming-home.ts";

const { Session } = await import("../../../host/dashboard/session.ts");
const { currentLocale } = await import("../../../host/dashboard/i18n/language.ts");

const PLUG = deviceOf({ kind: "plug", number: 2 });

test("an opened session has the devices, modules, layout and settings of the home", async (t) => {
  const { session } = await open(t);

  assert.deepEqual(session.store.allDevices().value, [LAMP]);
  assert.deepEqual(session.store.modules().value, [CLOCK]);
  assert.deepEqual(session.store.layout.value, LAYOUT);
  assert.deepEqual(session.store.ui.value, { timeZone: "UTC", locale: "en-GB" });
});

test("a stream that continues where it ended needs nothing read again", async (t) => {
  const { host, pass } = await open(t);
  await host.event("device.state", { device: LAMP }, "7");
  host.asked.length = 0;

  await host.end();
  await pass(500);

  assert.deepEqual(host.asked, ["GET /events"]);
});

test("a resync event makes the page load everything again", async (t) => {
  const { host, session } = await open(t);
  Object.assign(host.answers, { "/smart-home/devices": { devices: [PLUG] } });

  await host.event("resync");

  assert.deepEqual(session.store.allDevices().value, [PLUG]);
});

test("channels in use are read again with everything else", async (t) => {
  const { host, session } = await open(t);
  session.channels.getOfPlugin("news/headlines");
  await settled();
  host.asked.length = 0;

  await host.event("resync");

  assert.equal(host.asked.filter((each) => each === "GET /channels/news/headlines").length, 1);
});

test("each event changes what it is about", async (t) => {
  const { host, session, pass } = await open(t);
  const { store } = session;
  const lamp = store.device(LAMP.id);
  const clock = store.module("clock");
  const widget = { hash: "1", url: "/w.js", runsIn: "page", shipped: true, needs: {} };
  const send = async (topic: string, data: unknown): Promise<void> => {
    await host.event(topic, data);
    await pass(100);
  };

  await send("device.state", { device: { ...LAMP, revision: 2, state: { on: true } } });
  assert.equal(lamp.value?.state.on, true);
  await send("device.added", { device: PLUG });
  assert.equal(store.device(PLUG.id).value?.kind, "plug");
  await send("device.removed", { id: LAMP.id });
  assert.equal(lamp.value, undefined);
  await send("module.state", { module: moduleOf("clock", "failed") });
  assert.equal(clock.value?.state, "failed");
  await send("widget.updated", { module: "clock", ...widget });
  assert.deepEqual([clock.value?.widget, clock.value?.state], [widget, "failed"]);
  await send("module.removed", { id: "clock" });
  assert.equal(clock.value, undefined);
});

test("new code of a widget whose module is not known changes nothing", async (t) => {
  const { host, session, pass } = await open(t);

  await host.event("widget.updated", {
    module: "other",
    hash: "1",
    url: "/w.js",
    runsIn: "page",
    needs: {},
  });
  await pass(100);

  assert.deepEqual(session.store.modules().value, [CLOCK]);
});

test("each channel follows its event", async (t) => {
  const { host, session, pass } = await open(t);
  const headlines = session.channels.getOfPlugin("news/headlines");
  const scenes = session.channels.get("scenes");
  const calendar = session.channels.get("calendar");
  await settled();
  const reads = () => host.asked.map((each) => each.replace(/\?.*/, ""));

  const news = { plugin: "news", name: "headlines" };
  await host.event("channel", { ...news, value: ["Sun"], revision: 2 });
  await host.event("channel", { plugin: "other", name: "unused", value: 1, revision: 2 });
  await pass(100);
  assert.deepEqual(headlines.value, ["Sun"]);
  await host.event("channel", { ...news, removed: true });
  await pass(100);
  assert.equal(headlines.value, undefined);
  await host.event("scene.activated", { sceneId: "demo:scene:1" });
  await pass(100);
  assert.notEqual(scenes.value?.[0]?.lastActivatedAt, null);
  for (const [topic, path] of [
    ["scenes.changed", "/smart-home/scenes"],
    ["calendar.updated", "/calendar/events"],
  ] as const) {
    host.asked.length = 0;
    await host.event(topic, {});
    await pass(100);
    assert.deepEqual(reads(), [`GET ${path}`], topic);
  }
  assert.deepEqual(calendar.value?.events, []);
});

test("a changed layout or changed settings are read, and nothing else", async (t) => {
  const { host, session, pass } = await open(t);
  host.answers["/layout"] = { ...LAYOUT, revision: 2 };
  host.answers["/config"] = { config: { ui: { locale: "de-AT" } } };
  host.asked.length = 0;

  await host.event("layout.changed", {});
  await pass(100);
  await host.event("config.changed", {});
  await pass(100);

  assert.deepEqual(host.asked, ["GET /layout", "GET /config"]);
  assert.equal(session.store.layout.value?.revision, 2);
  assert.deepEqual(session.store.ui.value, { locale: "de-AT" });
  assert.equal(currentLocale.value, "de-AT");
});

test("a change that cannot be read is logged, and the previous document stays", async (t) => {
  const warned = t.mock.method(console, "warn", () => undefined);
  const { host, session, pass } = await open(t);
  const fault = new ApiError(503, { code: "unavailable" });
  host.answers["/layout"] = fault;

  await host.event("layout.changed", {});
  await pass(100);

  assert.deepEqual(session.store.layout.value, LAYOUT);
  assert.deepEqual(warned.mock.calls[0]?.arguments, ["could not read a change", fault]);
});

test("the theme and language of the home are remembered for the next visit", async (t) => {
  const { host, pass } = await open(t);
  host.answers["/config"] = { config: { ui: { theme: "light", locale: "de-AT" } } };

  await host.event("config.changed", {});
  await pass(100);

  assert.equal(localStorage.getItem("mantel.theme"), "light");
  assert.equal(localStorage.getItem("mantel.locale"), "de-AT");
});

test("an event of an unknown topic is skipped, also one named like a property of every object", async (t) => {
  const warned = t.mock.method(console, "warn", () => undefined);
  const { host, pass } = await open(t);

  await host.event("new.topic", {});
  await host.sendText("event: toString\ndata: not JSON\n\n");
  await pass(100);

  assert.equal(warned.mock.callCount(), 0);
});

test("an invalid event is skipped with a warning, and those behind it are applied", async (t) => {
  const warned = t.mock.method(console, "warn", () => undefined);
  const { host, session, pass } = await open(t);

  await host.event("device.state", { device: "none" });
  await host.event("device.removed", { id: LAMP.id });
  await pass(100);

  assert.equal(warned.mock.calls[0]?.arguments[0], "invalid event device.state; ignoring it");
  assert.deepEqual(session.store.allDevices().value, []);
});

test("events that arrive while everything is read are applied behind it, in order", async (t) => {
  const { host, session } = await open(t);
  const answer = host.hold("/layout");
  await host.event("resync");

  await host.event("device.state", { device: { ...LAMP, revision: 2, name: "First" } });
  await host.event("device.state", { device: { ...LAMP, revision: 3, name: "Second" } });
  const before = session.store.device(LAMP.id).value?.name;
  await answer();

  assert.equal(before, LAMP.name);
  assert.equal(session.store.device(LAMP.id).value?.name, "Second");
});

test("changes that wait to be drawn when everything is read again are dropped, because they are older", async (t) => {
  const { host, session, pass } = await open(t);
  await host.event("device.removed", { id: PLUG.id });

  await host.events(["device.removed", { id: LAMP.id }], ["resync"]);
  await pass(100);

  assert.deepEqual(session.store.allDevices().value, [LAMP]);
});

test("a request to read everything while that is read causes one more read, and the newest stays", async (t) => {
  const { host, session } = await open(t);
  const answer = host.hold("/layout");
  await host.event("resync");
  host.asked.length = 0;

  await host.event("resync");
  await host.event("resync");
  Object.assign(host.answers, { "/smart-home/devices": { devices: [PLUG] } });
  const before = host.asked.length;
  await answer();

  assert.equal(before, 0);
  assert.equal(host.asked.filter((each) => each === "GET /modules").length, 1);
  assert.deepEqual(session.store.allDevices().value, [PLUG]);
});

test("a home that cannot be read is read again after five seconds, without the events of the meantime", async (t) => {
  const warned = t.mock.method(console, "warn", () => undefined);
  const { host, session, pass } = await open(t);
  const fault = new ApiError(503, { code: "unavailable" });
  const answer = host.hold("/modules");
  host.answers["/modules"] = fault;
  await host.event("resync");
  await host.event("device.removed", { id: LAMP.id });
  await answer();
  const kept = session.store.allDevices().value;
  host.answers["/modules"] = { modules: [] };
  await pass(4_999);
  const early = session.store.modules().value.length;
  await pass(1);

  assert.deepEqual(warned.mock.calls[0]?.arguments, [
    "could not load the state of the home",
    fault,
  ]);
  assert.deepEqual([kept, early], [[LAMP], 1]);
  assert.deepEqual(session.store.modules().value, []);
});

test("the answer to a command draws the events behind it without delay", async (t) => {
  const { host, session, pass } = await open(t);
  const device: Device = { ...LAMP, revision: 2, state: { on: true } };
  host.answers["/smart-home/devices/demo%3Alight%3A1/command"] = { device };
  await host.event("device.state", { device: { ...LAMP, name: "Drawn before" } });
  await pass(1);

  await session.contexts.shared.command(LAMP.id, { on: true });
  await host.event("device.removed", { id: LAMP.id });
  await pass(0);

  assert.deepEqual(session.store.allDevices().value, []);
});

test("widgets are online while the event stream is open", async (t) => {
  const { host, session } = await open(t);
  const { online } = session.contexts.shared;
  const before = online.value;

  await host.end();

  assert.deepEqual([before, online.value], [true, false]);
  assert.equal(session.link.value.state, "away");
});

test("the calendar is read for the days of the settings, two weeks by default, and again at midnight", async (t) => {
  const { host, session, pass } = await open(t, { at: Date.UTC(2026, 10, 20, 23, 59) });
  const ranges = (): string[] =>
    host.asked
      .filter((each) => each.startsWith("GET /calendar"))
      .map((each) => /start=(.*)&tz/.exec(each)?.[1] ?? "");
  session.channels.get("calendar");
  await settled();
  host.answers["/config"] = { config: { ui: { timeZone: "UTC" }, calendar: { defaultDays: 3 } } };
  await host.event("config.changed", {});
  await pass(100);

  await pass(20_000);
  const evening = ranges();
  await pass(40_000);

  assert.deepEqual(evening, ["2026-11-20&end=2026-12-04"]);
  assert.deepEqual(ranges().slice(1), ["2026-11-21&end=2026-11-24"]);
});

test("times are in the zone of the home, or of the browser if it has none", async (t) => {
  const { host, session, pass } = await open(t);
  const { timeZone } = session.contexts.shared;
  const home = timeZone.value;
  host.answers["/config"] = { config: { ui: {} } };

  await host.event("config.changed", {});
  await pass(100);

  assert.equal(home, "UTC");
  assert.equal(timeZone.value, Intl.DateTimeFormat().resolvedOptions().timeZone);
  assert.equal(dayOf(Date.now(), timeZone.value), dayOf(Date.now(), "UTC"));
});

test("a screen shows the pages and the theme of its display, by address or by name", async (t) => {
  history.replaceState(null, "", "/?display=wall");
  const byAddress = await open(t);
  history.replaceState(null, "", "/");
  const byName = await open(t, { name: "Hall tablet" });
  const other = await open(t, { name: "Phone" });

  for (const { session } of [byAddress, byName]) {
    assert.equal(session.display.value?.id, "wall");
    assert.deepEqual(
      session.shown.value?.pages.map(({ id }) => id),
      ["hall"],
    );
    assert.equal(session.theme.theme.value, "light");
  }
  assert.equal(other.session.display.value, undefined);
  assert.deepEqual(other.session.shown.value, LAYOUT);
});

test("before the first answer there is no display and no layout to show", async (t) => {
  const { session } = await open(t, { answers: "late" });

  assert.equal(session.display.value, undefined);
  assert.equal(session.shown.value, undefined);
});

test("a session knows what its visitor may do", async (t) => {
  const { session } = await open(t, { mayEdit: true, isPaired: true });

  assert.deepEqual([session.mayEdit, session.isPaired], [true, true]);
});

test("numbers and dates are written as in the home", async (t) => {
  const { session } = await open(t);

  assert.equal(session.formats.value.time(Date.UTC(2026, 10, 20, 18, 42)), "18:42");
});

test("a module is reloaded by its id", async (t) => {
  const { host, session } = await open(t);
  host.answers["/modules/a%2Fb/reload"] = {};

  await session.reloadModule("a/b");

  assert.equal(host.asked.at(-1), "POST /modules/a%2Fb/reload");
});

test("a closed session follows no stream", async (t) => {
  const { host, session, pass } = await open(t);
  host.asked.length = 0;

  session.close();
  await settled();
  await pass(35_000); // the silence after which an open stream is opened again
  await pass(1_000);

  assert.deepEqual(host.asked, []);
});

interface Visit {
  readonly name?: string;
  readonly mayEdit?: boolean;
  readonly isPaired?: boolean;
  readonly at?: number;
  /** `late` if the first read never ends. */
  readonly answers?: "late";
}

/** Opens a session, at noon of a Friday unless `at` says otherwise. */
async function open(t: TestContext, visit: Visit = {}) {
  const { name, mayEdit = false, isPaired = false, at = Date.UTC(2026, 10, 20, 12) } = visit;
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: at });
  mockAgain(t, performance, "now", () => Date.now() - at);
  mockAgain(t, Math, "random", () => 1);
  localStorage.clear();
  const host = new StreamingHome();
  if (visit.answers === "late") host.hold("/layout");
  const session = new Session(host, {
    name,
    mayControl: true,
    mayEdit,
    mayAdminister: false,
    isPaired,
    announce: () => undefined,
  });
  t.after(() => session.close());
  await settled();
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await settled();
  };
  return { session, host, pass };
}
