import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../../host/dashboard/api.ts";
import { findWidget } from "../../../../host/dashboard/editor/document.ts";
import {
  changePage,
  configure,
  movePage,
  removeWidget,
} from "../../../../host/dashboard/editor/operations.ts";
import { open, STORED, tilesOf, until } from "./fake-host.ts";
import { page } from "./layouts.ts";

test("a save stores the draft under the revision it was edited from, and says so", async () => {
  const { store, host, said } = await open();
  store.remove("clock");

  await store.save();
  const isDirtyAfterwards = store.isDirty.value;
  store.undo();
  const isDirtyAfterUndo = store.isDirty.value;
  await store.save();

  assert.deepEqual(host.sent, ["PUT /layout at 1", "PUT /layout at 2"]);
  assert.equal(isDirtyAfterwards, false);
  assert.equal(isDirtyAfterUndo, true);
  assert.deepEqual(host.stored, { ...STORED, revision: 3 });
  assert.equal(said.filter((text) => text === "Saved").length, 2);
  assert.deepEqual(store.message.value, { tone: "note", text: "Saved" });
});

test("edits during a save stay unsaved, and a second save waits for the first", async () => {
  const { store, host } = await open();
  store.remove("clock");
  const answer = host.holdAnswers();

  const saving = store.save();
  const isSavingMeanwhile = store.isSaving.value;
  store.remove("room");
  await store.save();
  answer();
  await saving;

  assert.equal(isSavingMeanwhile, true);
  assert.equal(store.isSaving.value, false);
  assert.deepEqual(host.sent, ["PUT /layout at 1"]);
  assert.deepEqual(tilesOf(host.stored), ["room"]);
  assert.deepEqual(tilesOf(store.document.value), []);
  assert.equal(store.isDirty.value, true);
});

test("a refused save shows every fault and keeps the draft, until the next edit", async () => {
  const { store, host } = await open();
  const errors = [{ pointer: "/pages/0/title", detail: "must not be empty" }];
  store.remove("clock");
  host.failure = new ApiError(422, { code: "invalid", detail: "invalid layout", errors });

  await store.save();
  const refused = store.message.value;
  const isDirtyStill = store.isDirty.value;
  const isSavingStill = store.isSaving.value;
  store.undo();
  store.remove("room");

  assert.deepEqual(refused, { tone: "alert", text: "Not saved: invalid layout", faults: errors });
  assert.equal(isDirtyStill, true);
  assert.equal(isSavingStill, false);
  assert.equal(store.message.value, undefined);
  assert.equal(store.panel.value, undefined);
});

test("a save that failed can be repeated", async () => {
  const { store, host } = await open();
  store.remove("clock");
  host.failure = new ApiError(0, { code: "offline" });
  await store.save();

  host.failure = undefined;
  await store.save();

  assert.deepEqual(tilesOf(host.stored), ["room"]);
  assert.equal(store.isDirty.value, false);
});

test("a save that conflicts with another user's save overwrites nothing and offers a merge", async (t) => {
  const { store, host, said } = await open({ follow: t });
  store.remove("clock");
  host.saveElsewhere((document) => changePage(document, "lights", { title: "Lamps" }));

  await store.save();
  const { theirs, panel } = store;
  const atConflict = [theirs.value?.revision, panel.value, tilesOf(store.document.value)];
  await store.save();

  assert.deepEqual(atConflict, [2, { kind: "merge" }, ["room"]]);
  assert.deepEqual(tilesOf(host.stored), ["clock", "room"]);
  assert.deepEqual(host.sent, ["PUT /layout at 1"], "nothing is sent before the merge");
  assert.ok(said.includes("The layout was changed elsewhere in the meantime."));
  assert.ok(!said.includes("Saved"));
});

test("a merge has the changes of both sides, is saved under their revision, and can be undone", async () => {
  const { store, host, said } = await open();
  store.remove("clock");
  host.saveElsewhere((document) => changePage(document, "lights", { title: "Lamps" }));
  await store.save();

  store.takeOver();
  const merged = store.document.value;
  await store.save();
  store.undo();

  assert.deepEqual(tilesOf(merged), ["room"]);
  assert.equal(merged.pages[1]?.title, "Lamps");
  assert.deepEqual(host.sent, ["PUT /layout at 1", "PUT /layout at 2"]);
  assert.deepEqual(host.stored.pages, merged.pages);
  assert.equal(store.theirs.value, undefined);
  assert.equal(store.panel.value, undefined);
  assert.equal(store.document.value.pages[1]?.title, "LIGHTS");
  assert.deepEqual(said.slice(-3), ["Merged", "Saved", "Undone: Merged"]);
});

test("the user decides each conflict; an undecided one keeps the user's own change", async () => {
  const { store, host } = await open();
  store.configure("clock", { seconds: true });
  store.configure("room", { room: "Bath" });
  store.movePage(STORED.pages[1] ?? page("none"), -1);
  host.saveElsewhere((document) =>
    configure(configure(document, "clock", { seconds: false }), "room", { room: "Hall" }),
  );
  await store.save();
  const conflicts = store.merge.value?.conflicts.map(({ id }) => id);

  store.decide("widget/clock", true);
  store.decide("widget/room", true);
  store.decide("widget/room", false);
  store.takeOver();

  assert.deepEqual(conflicts, ["clock", "room"]);
  assert.deepEqual(findWidget(store.document.value, "clock")?.config, { seconds: false });
  assert.deepEqual(findWidget(store.document.value, "room")?.config, { room: "Bath" });
  assert.deepEqual(store.document.value.pages[0]?.id, "lights");
  assert.equal(store.takeTheirs.value.size, 0, "the next conflict is decided from the start");
});

test("a layout saved elsewhere is shown at once while there are no unsaved edits", async (t) => {
  const { store, host, said } = await open({ follow: t });

  host.saveElsewhere((document) => removeWidget(document, "clock"));
  host.announce();
  await until(() => store.base.value.revision === 2);

  assert.deepEqual(tilesOf(store.document.value), ["room"]);
  assert.equal(store.isDirty.value, false);
  assert.equal(store.theirs.value, undefined);
  assert.deepEqual(said, ["The layout was changed elsewhere. The new version is shown."]);
  assert.equal(store.message.value?.tone, "note");
  store.undo();
  assert.deepEqual(tilesOf(store.document.value), ["clock", "room"]);
});

test("a layout saved elsewhere leaves unsaved edits alone, and the latest one is merged", async (t) => {
  const { store, host, said } = await open({ follow: t });
  store.remove("clock");
  said.length = 0;

  host.saveElsewhere((document) => changePage(document, "lights", { title: "Lamps" }));
  host.announce();
  await until(() => store.theirs.value?.revision === 2);
  const draft = store.document.value;
  const panel = store.panel.value;
  host.saveElsewhere((document) => movePage(document, "lights", -1));
  host.announce();
  await until(() => store.theirs.value?.revision === 3);
  store.takeOver();

  assert.deepEqual(tilesOf(draft), ["room"]);
  assert.equal(draft.pages[1]?.title, "LIGHTS");
  assert.equal(panel, undefined, "the panel of the user stays");
  assert.equal(said[0], "The layout was changed elsewhere in the meantime.");
  assert.deepEqual(
    store.document.value.pages.map(({ title }) => title),
    ["Lamps", "HOME"],
  );
  assert.deepEqual(tilesOf(store.document.value), ["room"]);
});

test("a save that is announced before its answer is not treated as a change by another user", async (t) => {
  const { store, host, said } = await open({ follow: t });
  store.remove("clock");
  const answer = host.holdAnswers();

  const saving = store.save();
  store.remove("room");
  host.announce();
  answer();
  await saving;

  assert.equal(host.stored.revision, 2);
  assert.equal(store.theirs.value, undefined);
  assert.deepEqual(said, ["clock-widget removed", "room-widget removed", "Saved"]);
});

test("a change elsewhere that could not be read is read with the next one", async (t) => {
  const { store, host } = await open({ follow: t });
  const warned = new Promise((resolve) => t.mock.method(console, "warn", resolve));
  host.failure = new ApiError(0, { code: "offline" });
  host.saveElsewhere((document) => removeWidget(document, "clock"));
  host.announce();
  await warned;
  const meanwhile = store.document.value;

  host.failure = undefined;
  host.saveElsewhere((document) => removeWidget(document, "room"));
  host.announce();
  await until(() => store.base.value.revision === 3);

  assert.deepEqual(meanwhile, STORED);
  assert.deepEqual(tilesOf(store.document.value), []);
});

test("edits that are discarded never reach the host", async () => {
  const { store, host } = await open();
  store.remove("clock");
  store.addPage();

  const { store: next } = await open({ host });

  assert.deepEqual(host.sent, []);
  assert.deepEqual(next.document.value, STORED);
});

test("a restored version is in use at once, and undo brings the draft back", async () => {
  const { store, host, said } = await open();
  store.remove("clock");
  await store.save();
  store.remove("room");

  await store.restore(1);

  assert.deepEqual(tilesOf(host.stored), ["clock", "room"]);
  assert.equal(store.isDirty.value, false);
  assert.equal(said.at(-1), "Version 1 restored");
  assert.deepEqual(
    store.versions.value.map(({ revision }) => revision),
    [3, 2, 1],
  );
  store.undo();
  assert.deepEqual(tilesOf(store.document.value), []);
  assert.equal(store.isDirty.value, true);
});

test("an imported file is in use at once; one that is not JSON is not sent", async () => {
  const { store, host, said } = await open();
  const text = JSON.stringify(removeWidget(STORED, "room"));

  await store.importFile(new File(["{ not JSON"], "broken.json"));
  const refused = store.message.value;
  const sentMeanwhile = host.sent.length;
  await store.importFile(new File([text], "mine.json"));

  assert.deepEqual(refused, {
    tone: "alert",
    text: "Could not import broken.json: it is not valid JSON",
    faults: [],
  });
  assert.equal(sentMeanwhile, 0);
  assert.deepEqual(tilesOf(host.stored), ["clock"]);
  assert.deepEqual(tilesOf(store.document.value), ["clock"]);
  assert.equal(said.at(-1), "mine.json imported");
  assert.equal(store.history.value.undoLabel, "mine.json imported");
});
