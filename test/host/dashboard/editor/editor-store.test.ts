import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../../host/dashboard/api.ts";
import { findWidget } from "../../../../host/dashboard/editor/document.ts";
import { deviceOf } from "../../../helpers/device.ts";
import { FakeHost, open, STORED, tilesOf } from "./fake-host.ts";

test("the editor opens with the host's layout, on the page and screen that the dashboard shows", async () => {
  const { store } = await open({ pageId: "lights", breakpoint: "sm" });

  assert.deepEqual(store.document.value, STORED);
  assert.equal(store.page.value?.title, "LIGHTS");
  assert.equal(store.breakpoint.value, "sm");
  assert.equal(store.isDirty.value, false);
  assert.equal(store.history.value.undoLabel, undefined);
});

test("the first page is shown if the address names an unknown page", async () => {
  const { store } = await open({ pageId: "gone" });

  assert.equal(store.page.value?.id, "home");
});

test("the editor does not open if the host does not answer", async () => {
  const host = new FakeHost();
  host.failure = new ApiError(0, { code: "offline" });

  await assert.rejects(open({ host }), { code: "offline" });
});

test("an edit changes the draft and not the host, and is announced", async () => {
  const { store, host, said } = await open();

  store.remove("clock");

  assert.deepEqual(tilesOf(store.document.value), ["room"]);
  assert.equal(store.isDirty.value, true);
  assert.deepEqual(said, ["clock-widget removed"]);
  assert.deepEqual(host.stored, STORED);
});

test("a tile is announced with its title, its room or the name of its device", async () => {
  const { store, dashboard, said } = await open();
  dashboard.putDevice(deviceOf({ id: "demo:light:1", name: "Sofa lamp" }));

  for (const config of [
    { title: "Desk", room: "Study" },
    { title: "", room: "Study" },
    { device: "demo:light:1" },
    { device: "demo:light:9" },
  ]) {
    store.add({ module: "lamp", config, size: [1, 1] });
  }

  assert.deepEqual(said, [
    "lamp Desk added",
    "lamp Study added",
    "lamp Sofa lamp added",
    "lamp added",
  ]);
});

test("an added tile takes the first gap of the page and opens its panel", async () => {
  const { store } = await open();

  store.add({ module: "note-widget", config: {}, size: [6, 3] });

  const added = findWidget(store.document.value, "note");
  assert.deepEqual(added?.geometry, { lg: { x: 4, y: 5, w: 6, h: 3 } });
  assert.deepEqual(store.panel.value, { kind: "tile", id: "note" });
});

test("a dropped tile takes its place on the screen that is shown, and the others make way", async () => {
  const { store, said } = await open({ breakpoint: "sm" });
  const place = { x: 0, y: 0, w: 12, h: 1 };
  const others = new Map([
    ["clock", { ...place, y: 1 }],
    ["room", { ...place, y: 2 }],
  ]);

  store.add({ module: "note-widget", config: {}, size: [2, 2] }, { place, others });

  const { document } = store;
  assert.deepEqual(
    ["note", "clock", "room"].map((id) => findWidget(document.value, id)?.geometry.sm?.y),
    [0, 1, 2],
  );
  assert.deepEqual(findWidget(document.value, "clock")?.geometry.lg, { x: 0, y: 0, w: 4, h: 8 });
  assert.deepEqual(said, ["note-widget added: column 1, row 1, 12 wide, 1 high"]);
  assert.deepEqual(store.panel.value, { kind: "tile", id: "note" });
});

test("a tile's panel closes when its tile is removed or another page is opened", async () => {
  const { store } = await open();

  store.panel.value = { kind: "tile", id: "clock" };
  store.remove("clock");
  const afterRemove = store.panel.value;
  store.panel.value = { kind: "tile", id: "room" };
  store.openPage("lights");
  const afterOpen = store.panel.value;
  store.panel.value = { kind: "versions" };
  store.openPage("home");

  assert.equal(afterRemove, undefined);
  assert.equal(afterOpen, undefined);
  assert.deepEqual(store.panel.value, { kind: "versions" });
});

test("a new page is opened with its panel; without it, the first page is shown again", async () => {
  const { store } = await open();

  store.addPage();
  const added = store.page.value;
  const panel = store.panel.value;
  assert(added);
  store.removePage(added);

  assert.equal(added.title, "New page");
  assert.deepEqual(panel, { kind: "page" });
  assert.equal(store.page.value?.id, "home");
  assert.equal(store.panel.value, undefined);
});

test("edits are undone and redone one by one, and each is announced", async () => {
  const { store, said } = await open();
  store.remove("clock");
  store.moveToPage("room", "lights");
  said.length = 0;

  store.undo();
  const once = tilesOf(store.document.value);
  store.undo();
  const twice = store.document.value;
  const isDirtyAtStart = store.isDirty.value;
  store.undo();
  store.redo();
  const again = tilesOf(store.document.value);

  assert.deepEqual(once, ["room"]);
  assert.deepEqual(twice, STORED);
  assert.equal(isDirtyAtStart, false);
  assert.deepEqual(again, ["room"]);
  assert.equal(store.history.value.undoLabel, "clock-widget removed");
  assert.equal(store.history.value.redoLabel, "room-widget moved to LIGHTS");
  assert.deepEqual(said, [
    "Undone: room-widget moved to LIGHTS",
    "Undone: clock-widget removed",
    "Nothing to undo",
    "Redone: clock-widget removed",
  ]);
});

test("an edit after an undo discards the steps to redo", async () => {
  const { store, said } = await open();
  store.remove("clock");
  store.undo();

  store.remove("room");
  store.redo();

  assert.deepEqual(tilesOf(store.document.value), ["clock"]);
  assert.equal(said.at(-1), "Nothing to redo");
});

test("typing and repeated moves of one tile are one step; those of another tile are another", async () => {
  const { store } = await open();
  const move = (id: string, y: number): void =>
    store.arrange(id, "moved", new Map([[id, { x: 0, y, w: 4, h: 8 }]]));

  store.configure("clock", { title: "N" });
  store.configure("clock", { title: "No" });
  move("clock", 9);
  move("clock", 10);
  move("room", 30);
  store.undo();
  const moved = findWidget(store.document.value, "clock")?.geometry.lg.y;
  store.undo();
  const typed = findWidget(store.document.value, "clock")?.config;
  store.undo();

  assert.equal(moved, 10);
  assert.deepEqual(typed, { title: "No" });
  assert.deepEqual(store.document.value, STORED);
});

test("an edit that changes nothing is not a step", async () => {
  const { store } = await open();

  store.configure("clock", {});

  assert.equal(store.history.value.undoLabel, undefined);
  assert.equal(store.isDirty.value, false);
});
