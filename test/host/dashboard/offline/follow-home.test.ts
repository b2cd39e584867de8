import assert from "node:assert/strict";
import { after, test, type TestContext } from "node:test";
import { signal } from "@preact/signals-core";
import type { ConnectionState } from "../../../../host/dashboard/connection.ts";
import type { Session } from "../../../../host/dashboard/session.ts";
import { deviceOf } from "../../../helpers/device.ts";
import "../../../helpers/page/light-dom.ts";
import { mockAgain } from "../../../helpers/mock-again.ts";
import { LAMP, LAYOUT, moduleOf, settled, StreamingHome } from "../streaming-home.ts";
import { FakeCaches } from "./fake-caches.ts";

const { followHome } = await import("../../../../host/dashboard/offline/follow-home.ts");
const { ChannelSet } = await import("../../../../host/dashboard/channels.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");
const { rememberSignedIn } = await import("../../../../host/dashboard/signed-in.ts");

const LIVE: ConnectionState = { state: "live" };
const CONNECTING: ConnectionState = { state: "away", since: 0, retryAt: 0 };
const AWAY: ConnectionState = { state: "away", since: 0, retryAt: 500 };
after(() => {
  Reflect.deleteProperty(globalThis, "caches");
  Reflect.deleteProperty(navigator, "serviceWorker");
  document.head.replaceChildren();
});
const PAGE = '<script type="module" src="/assets/main.2.js"></script>';
/** The worker of the host, whose page is `PAGE`. */
const WORKER =
  'const MANTEL_BUILD={"id":"b2","files":["/assets/main.2.js","/assets/a.2.css"]};(()=>{})();';

test("the home is saved after the start, every five minutes, and when the connection ends", async (t) => {
  const { link, store, pass, savedDevices } = open(t);
  fill(store);
  link.value = LIVE;
  await pass(5_000);
  assert.deepEqual(await savedDevices(), [LAMP.id]);

  const plug = deviceOf({ kind: "plug", number: 2 });
  store.putDevice(plug);
  await pass(5 * 60_000);
  assert.deepEqual(await savedDevices(), [LAMP.id, plug.id]);

  store.removeDevice(LAMP.id);
  link.value = AWAY;
  await settled();
  assert.deepEqual(await savedDevices(), [plug.id]);
});

test("a home that is not live is not saved again, so its time stays", async (t) => {
  const { link, store, pass, savedDevices } = open(t);
  fill(store);
  link.value = LIVE;
  await pass(5_000);
  link.value = AWAY;
  await settled();

  store.removeDevice(LAMP.id);
  link.value = { ...AWAY, retryAt: 9_000 };
  await pass(10 * 60_000);
  dispatchEvent(new Event("pagehide"));
  await settled();

  assert.deepEqual(await savedDevices(), [LAMP.id]);
});

test("a page whose first connection fails, or waits for two seconds, shows the saved home", async (t) => {
  for (const wait of ["refused", "no answer"]) {
    const first = open(t);
    fill(first.store);
    first.link.value = LIVE;
    await first.pass(5_000);

    const { link, store, pass } = open(t, first.caches);
    if (wait === "refused") link.value = AWAY;
    await pass(2_000);
    await settled();

    assert.deepEqual(store.layout.value, LAYOUT, wait);
    assert.ok(document.documentElement.hasAttribute("data-saved"));
    store.savedAt.value = undefined;
    assert.ok(!document.documentElement.hasAttribute("data-saved"));
  }
});

test("a page that started alone loads again once if the host has other code", async (t) => {
  sessionStorage.clear();
  const reload = t.mock.method(location, "reload", () => undefined);
  for (const shown of ["/assets/main.1.js", "/assets/main.1.js"]) {
    document.head.innerHTML = `<script type="module" src="${shown}"></script>`;
    const { link } = open(t);
    link.value = AWAY;
    link.value = LIVE;
    await settled();
  }

  assert.equal(reload.mock.callCount(), 1);
});

test("a page that a worker may have kept loads again if the host has other code", async (t) => {
  sessionStorage.clear();
  const reload = t.mock.method(location, "reload", () => undefined);
  document.head.innerHTML = '<script type="module" src="/assets/main.1.js"></script>';
  const { link, worker } = open(t);
  worker.controller = {};
  link.value = LIVE;
  await settled();

  assert.equal(reload.mock.callCount(), 1);
});

test("a page that has the host's code is not loaded again, and one that the host answered does not compare", async (t) => {
  sessionStorage.clear();
  const reload = t.mock.method(location, "reload", () => undefined);
  document.head.innerHTML = PAGE;
  const alone = open(t);
  alone.link.value = AWAY;
  alone.link.value = LIVE;
  await settled();
  const other = open(t);
  other.link.value = LIVE;
  await settled();

  assert.equal(reload.mock.callCount(), 0);
  assert.equal(other.fetched.length, 0);
});

test("the worker is registered and stores what the page uses", async (t) => {
  const { link, store, pass, worker } = open(t);
  fill(store);
  store.putModule({ ...moduleOf("room"), widget: { url: "/assets/widgets/room.1.js" } } as never);
  link.value = LIVE;
  await pass(5_000);

  assert.deepEqual(worker.registered, ["/service-worker.js"]);
  assert.ok(worker.sent[0]?.includes("/assets/widgets/room.1.js"));
});

test("a browser that refuses the worker, and a visit without a note, change nothing", async (t) => {
  const info = t.mock.method(console, "info", () => undefined);
  const { worker } = open(t, undefined, true);
  await settled();
  assert.deepEqual([worker.registered, info.mock.callCount()], [[], 1]);

  localStorage.clear();
  open(t, undefined, false, false);
  assert.ok(!document.documentElement.hasAttribute("data-saved"));
});

function open(t: TestContext, caches = new FakeCaches(), refuses = false, signsIn = true) {
  if (signsIn && !localStorage.getItem("mantel.signed-in")) {
    rememberSignedIn({ name: "Mia", scope: ["edit"], display: false });
  }
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const fetched: string[] = [];
  const worker = {
    registered: [] as string[],
    sent: [] as string[][],
    controller: null as object | null,
  };
  const serviceWorker = {
    get controller() {
      return worker.controller;
    },
    register: async (path: string) => {
      if (refuses) throw new DOMException("refused", "SecurityError");
      worker.registered.push(path);
    },
    ready: Promise.resolve({
      active: { postMessage: (urls: string[]) => void worker.sent.push(urls) },
    }),
  };
  Object.defineProperty(navigator, "serviceWorker", { value: serviceWorker, configurable: true });
  mockAgain(
    t,
    performance,
    "getEntriesByType",
    () =>
      [
        { name: "https://elsewhere.test/a.js" },
        { name: `${location.origin}/assets/icons/7/lamp,sofa.json` },
      ] as never,
  );
  Object.assign(globalThis, { caches });
  mockAgain(t, globalThis, "fetch", async (url) => {
    fetched.push(typeof url === "string" ? url : "");
    return new Response(WORKER);
  });
  const store = new Store();
  const api = new StreamingHome();
  const channels = new ChannelSet(api, () => ({ timeZone: "UTC", calendarDays: 14 }));
  const link = signal<ConnectionState>(CONNECTING);
  const contexts = { shared: { now: Date.now } } as Session["contexts"];
  followHome({ store, channels, contexts, link, api });
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await settled();
  };
  const savedDevices = async (): Promise<string[]> => {
    const cache = await caches.open("mantel-home");
    const home = (await (await cache.match("/saved-home"))?.json()) as {
      devices: [{ id: string }];
    };
    return home.devices.map(({ id }) => id);
  };
  return { link, store, caches, pass, fetched, worker, savedDevices };
}

function fill(store: InstanceType<typeof Store>): void {
  store.replaceDevices([LAMP]);
  store.layout.value = LAYOUT;
}
