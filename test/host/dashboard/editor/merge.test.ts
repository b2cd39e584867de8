import assert from "node:assert/strict";
import { test } from "node:test";
import { findWidget, overlap, pageOf } from "../../../../host/dashboard/editor/document.ts";
import { changesBetween, merge, sameContent } from "../../../../host/dashboard/editor/merge.ts";
import {
  addPage,
  addWidget,
  arrangePage,
  changePage,
  configure,
  movePage,
  moveToPage,
  removePage,
  removeWidget,
} from "../../../../host/dashboard/editor/operations.ts";
import { parseLayout } from "../../../../host/layout/parse.ts";
import { layout, page, widget } from "./layouts.ts";

const base = layout(
  page("home", widget("clock", [0, 0, 4, 8]), widget("room", [4, 0, 8, 5])),
  page("lights", widget("lamp", [0, 0, 2, 2])),
  page("climate"),
);
const NOTHING = new Set<string>();

test("changes of only one side are merged, down to single fields of a widget", () => {
  const mine = configure(base, "clock", { seconds: true });
  const theirs = {
    ...arrangePage(
      base,
      { pageId: "home", breakpoint: "lg" },
      new Map([["clock", { x: 8, y: 9, w: 4, h: 4 }]]),
    ),
    revision: 7,
  };

  const { conflicts, resolve } = merge({ base, mine, theirs });
  const merged = resolve(NOTHING);

  assert.deepEqual(conflicts, []);
  assert.deepEqual(findWidget(merged, "clock")?.config, { seconds: true });
  assert.deepEqual(findWidget(merged, "clock")?.geometry.lg, { x: 8, y: 9, w: 4, h: 4 });
  assert.equal(merged.revision, 7);
});

test("different changes of the same value are a conflict for the user", () => {
  const mine = configure(base, "clock", { seconds: true });
  const theirs = configure(base, "clock", { seconds: false });

  const { conflicts, resolve } = merge({ base, mine, theirs });

  assert.deepEqual(conflicts, [
    { kind: "widget", id: "clock", mine: "changed", theirs: "changed" },
  ]);
  assert.deepEqual(findWidget(resolve(NOTHING), "clock")?.config, { seconds: true });
  assert.deepEqual(findWidget(resolve(new Set(["widget/clock"])), "clock")?.config, {
    seconds: false,
  });
});

test("equal changes of both sides are not a conflict", () => {
  const both = removeWidget(base, "lamp");

  const { conflicts, resolve } = merge({ base, mine: both, theirs: both });

  assert.deepEqual(conflicts, []);
  assert.ok(sameContent(resolve(NOTHING), both));
});

test("a widget removed on one side and changed on the other is a conflict", () => {
  const mine = removeWidget(base, "clock");
  const theirs = configure(base, "clock", { seconds: true });

  const { conflicts, resolve } = merge({ base, mine, theirs });

  assert.deepEqual(conflicts, [
    { kind: "widget", id: "clock", mine: "removed", theirs: "changed" },
  ]);
  assert.equal(findWidget(resolve(NOTHING), "clock"), undefined);
  assert.ok(findWidget(resolve(new Set(["widget/clock"])), "clock"));
});

test("a page removed on one side stays if the other side added something to it", () => {
  const mine = removePage(base, "climate");
  const { document: theirs, id } = addWidget(base, "climate", {
    module: "note-widget",
    config: {},
    size: [2, 2],
  });

  const merged = merge({ base, mine, theirs }).resolve(NOTHING);

  assert.equal(pageOf(merged, id)?.title, "CLIMATE");
});

test("new pages and tabs of both sides are merged in the changed order", () => {
  const mine = movePage(base, "climate", -2);
  const theirs = addPage(base, "Garden").document;

  const { conflicts, resolve } = merge({ base, mine, theirs });

  assert.deepEqual(conflicts, []);
  assert.deepEqual(
    resolve(NOTHING).pages.map(({ id }) => id),
    ["climate", "garden", "home", "lights"],
  );
});

test("different orders of the same pages are a conflict", () => {
  const mine = movePage(base, "climate", -2);
  const theirs = movePage(base, "lights", -1);

  const { conflicts, resolve } = merge({ base, mine, theirs });

  assert.deepEqual(
    conflicts.map(({ kind }) => kind),
    ["order"],
  );
  assert.equal(resolve(new Set(["order"])).pages[0]?.id, "lights");
});

test("tiles that both sides put in one place do not overlap after a merge", () => {
  const note = { module: "note-widget", config: {}, size: [3, 3] } as const;
  const mine = addWidget(base, "lights", note).document;
  const theirs = addWidget(base, "lights", { ...note, module: "photo-widget" }).document;

  const merged = merge({ base, mine, theirs }).resolve(NOTHING);

  const places = merged.pages[1]?.widgets.map(({ geometry }) => geometry.lg) ?? [];
  assert.equal(places.length, 3);
  for (const [index, place] of places.entries()) {
    assert.ok(!places.slice(index + 1).some((other) => overlap(place, other)));
  }
});

test("the host accepts every merge result", () => {
  const shown = { ...base, displays: [{ id: "hall", name: "Hall", pages: ["climate"] }] };
  const mine = moveToPage(removePage(shown, "climate"), "clock", "lights");
  const theirs = changePage(removeWidget(shown, "room"), "home", { title: "Start" });

  const merged = merge({ base: shown, mine, theirs }).resolve(NOTHING);

  assert.deepEqual(parseLayout(merged), merged);
  assert.equal(merged.pages[0]?.title, "Start");
  assert.deepEqual(merged.displays[0]?.pages, []);
});

test("changes are announced per device", () => {
  const changed = configure(
    removeWidget(moveToPage(addPage(base, "Garden").document, "lamp", "garden"), "room"),
    "clock",
    { seconds: true },
  );

  assert.deepEqual(changesBetween(base, changed), [
    { kind: "widget", id: "clock", how: "changed" },
    { kind: "widget", id: "room", how: "removed" },
    { kind: "widget", id: "lamp", how: "moved" },
    { kind: "page", id: "garden", how: "added" },
  ]);
  assert.deepEqual(changesBetween(base, structuredClone(base)), []);
});
