import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import "../../../helpers/page/light-dom.ts";
import { CLOCK, LAMP, LAYOUT, settled, StreamingHome } from "../streaming-home.ts";
import { FakeCaches } from "./fake-caches.ts";

const { deleteSavedHome, saveHome, showSavedHome } =
  await import("../../../../host/dashboard/offline/saved-home.ts");
const { ChannelSet } = await import("../../../../host/dashboard/channels.ts");
const { Commands } = await import("../../../../host/dashboard/commands.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");
const { forgetSignedIn, rememberSignedIn, visitNote } =
  await import("../../../../host/dashboard/signed-in.ts");

const SAVED_AT = Date.parse("2026-11-20T07:05:00Z");
const MIA = { name: "Mia", scope: ["edit"], display: false };
let caches = new FakeCaches();

after(() => Reflect.deleteProperty(globalThis, "caches"));
beforeEach(() => {
  caches = new FakeCaches();
  Object.assign(globalThis, { caches });
  localStorage.clear();
  rememberSignedIn(MIA);
});

test("a page without the host shows the home as it was saved, with its time", async () => {
  const before = await seenHome();
  await saveHome(before, noteOf(), SAVED_AT);
  const page = emptyHome();

  assert.equal(await showSavedHome(page, noteOf()), true);

  const { store, channels } = page;
  assert.deepEqual(store.allDevices().value, [LAMP]);
  assert.deepEqual(store.modules().value, [CLOCK]);
  assert.deepEqual([store.layout.value, store.ui.value], [LAYOUT, { timeZone: "UTC" }]);
  assert.deepEqual(channels.getOfPlugin("news/headlines").value, ["Rain"]);
  assert.deepEqual(channels.get("scenes").value?.length, 1);
  assert.equal(store.savedAt.value, SAVED_AT);
});

test("commands are not sent from a saved home", async () => {
  const page = emptyHome();
  await saveHome(await seenHome(), noteOf(), SAVED_AT);
  await showSavedHome(page, noteOf());
  const host = new StreamingHome();
  const commands = new Commands(host, page.store, () => undefined);

  const results = [
    await commands.send(LAMP.id, { on: true }),
    await commands.activateScene("demo:scene:1"),
  ];

  assert.ok(results.every(({ ok, error }) => !ok && error?.code === "offline"));
  assert.deepEqual(host.asked, []);
});

test("a home that another sign-in saw is never shown, and is deleted", async () => {
  await saveHome(await seenHome(), noteOf(), SAVED_AT);
  localStorage.setItem("mantel.signed-in", JSON.stringify({ ...MIA, at: 1 }));
  const page = emptyHome();

  assert.equal(await showSavedHome(page, noteOf()), false);

  assert.equal(page.store.layout.value, undefined);
  assert.deepEqual(caches.pathsIn("mantel-home"), []);
});

test("signing out deletes the saved home, and a page of that visit saves no other", async () => {
  const home = await seenHome();
  const visit = noteOf();
  await saveHome(home, visit, SAVED_AT);

  forgetSignedIn();
  await deleteSavedHome();
  await saveHome(home, visit, SAVED_AT);

  assert.deepEqual(await caches.keys(), []);
});

test("an answer of the host is not replaced by a saved home", async () => {
  const home = await seenHome();
  await saveHome(home, noteOf(), SAVED_AT);

  assert.equal(await showSavedHome(home, noteOf()), false);
  assert.equal(home.store.savedAt.value, undefined);
});

test("pending values are not saved", async () => {
  const home = await seenHome();
  const part = { id: "2", kind: "light", capabilities: {}, state: {}, pending: { on: true } };
  const extra = { capabilities: {}, state: {}, pending: { mode: "a" } };
  home.store.putDevice({ ...LAMP, pending: { on: true }, parts: [part], extra } as never);
  await saveHome(home, noteOf(), SAVED_AT);
  const page = emptyHome();
  await showSavedHome(page, noteOf());

  const [lamp] = page.store.allDevices().value;

  assert.deepEqual([lamp?.pending, lamp?.parts?.[0]?.pending, lamp?.extra?.pending], [{}, {}, {}]);
});

test("a home in an unknown format, and storage that is full or forbidden, change nothing", async (t) => {
  t.mock.method(console, "info", () => undefined);
  const cache = await caches.open("mantel-home");
  await cache.put("/saved-home", Response.json({ format: 2, visit: noteOf() }));
  assert.equal(await showSavedHome(emptyHome(), noteOf()), false);

  caches.fault = new DOMException("forbidden", "SecurityError");
  await saveHome(await seenHome(), noteOf(), SAVED_AT);
  assert.equal(await showSavedHome(emptyHome(), noteOf()), false);
  Reflect.deleteProperty(globalThis, "caches");
  await saveHome(await seenHome(), noteOf(), SAVED_AT);
  await deleteSavedHome();
  forgetSignedIn();
  assert.equal(visitNote(), null);
});

function emptyHome() {
  const calendar = () => ({ timeZone: "UTC", calendarDays: 14 });
  const channels = new ChannelSet(new StreamingHome(), calendar);
  return { store: new Store(), channels };
}

async function seenHome() {
  const home = emptyHome();
  home.store.replaceDevices([LAMP]);
  home.store.replaceModules([CLOCK]);
  home.store.layout.value = LAYOUT;
  home.store.ui.value = { timeZone: "UTC" };
  home.channels.get("scenes");
  home.channels.getOfPlugin("news/headlines");
  home.channels.getOfPlugin("news/none");
  await settled();
  return home;
}

const noteOf = (): string => visitNote() ?? "";
