import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { Bus } from "../../../host/events/bus.ts";
import { LayoutStore } from "../../../host/layout/store.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const SHIPPED = resolve(import.meta.dirname, "../../../layouts");

async function openLayout(t: TestContext, folder?: string) {
  const dataFolder = folder ?? (await emptyFolder(t));
  const log = collectedLog();
  const bus = new Bus();
  const announced: number[] = [];
  bus.on(({ topic, data }) => topic === "layout.changed" && announced.push(data.revision));
  const layout = await LayoutStore.open({ dataFolder, shippedFolder: SHIPPED, log, bus });
  const path = join(dataFolder, "layout.json");
  const named = (name: string) => ({ ...layout.current, name });
  return { layout, dataFolder, path, log, announced, named };
}

test("the first start uses the default layout as revision 1", async (t) => {
  const { layout, path } = await openLayout(t);

  assert.equal(layout.current.revision, 1);
  assert.equal(layout.current.pages[0]?.id, "home");
  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), layout.current);
});

test("a start without changes keeps the revision", async (t) => {
  const { dataFolder } = await openLayout(t);

  const { layout } = await openLayout(t, dataFolder);

  assert.equal(layout.current.revision, 1);
  assert.equal((await layout.history()).length, 1);
});

test("a layout that is replaced is stored, announced and answered", async (t) => {
  const { layout, named, path, announced } = await openLayout(t);

  const answer = await layout.replace({ ...named("Hall"), revision: 99 }, '"1"');

  assert.equal(answer.revision, 2);
  assert.equal(layout.current.name, "Hall");
  assert.deepEqual(JSON.parse(await readFile(path, "utf8")), answer);
  assert.deepEqual(announced, [2]);
});

test("a stale If-Match or an invalid layout changes nothing", async (t) => {
  const { layout, named, path, announced } = await openLayout(t);
  const before = await readFile(path, "utf8");

  await assert.rejects(layout.replace(named("Hall"), '"0"'), { code: "revision_stale" });
  await assert.rejects(layout.replace({ ...named("Hall"), pages: 5 }), { code: "invalid" });

  assert.equal(await readFile(path, "utf8"), before);
  assert.equal(layout.current.revision, 1);
  assert.deepEqual(announced, []);
  assert.equal((await layout.history()).length, 1);
});

test("only one of two concurrent replacements with the same If-Match is stored", async (t) => {
  const { layout, named } = await openLayout(t);

  const results = await Promise.allSettled(
    ["a", "b"].map((name) => layout.replace(named(name), '"1"')),
  );

  assert.deepEqual(results.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  assert.equal(layout.current.revision, 2);
});

test("the history has each revision, newest first, and any can be restored", async (t) => {
  const { layout, named } = await openLayout(t);
  await layout.replace(named("Hall"));
  await layout.replace(named("Attic"));

  const restored = await layout.restore(2);

  assert.equal(restored.revision, 4);
  assert.equal(restored.name, "Hall");
  const history = await layout.history();
  assert.deepEqual(
    history.map(({ revision, name }) => [revision, name]),
    [
      [4, "Hall"],
      [3, "Attic"],
      [2, "Hall"],
      [1, "Home"],
    ],
  );
  assert.ok(Math.abs(Date.parse(history[0]?.savedAt ?? "") - Date.now()) < 60_000);
});

test("restoring respects If-Match, and an unknown revision is reported", async (t) => {
  const { layout } = await openLayout(t);

  await assert.rejects(layout.restore(1, '"5"'), { code: "revision_stale" });
  await assert.rejects(layout.restore(77), { code: "revision_unknown", status: 404 });
  await assert.rejects(layout.restore(Number.NaN), { code: "revision_unknown" });
});

test("fifty revisions are kept", async (t) => {
  const { layout, named, dataFolder } = await openLayout(t);
  for (let i = 0; i < 55; i++) await layout.replace(named(`${i}`));

  const revisions = (await layout.history()).map(({ revision }) => revision);

  assert.equal(revisions.length, 50);
  assert.deepEqual([revisions[0], revisions.at(-1)], [56, 7]);
  assert.equal((await readdir(join(dataFolder, "layout-history"))).length, 50);
});

test("a damaged layout is set aside and the last good one used", async (t) => {
  const { layout, named, path, dataFolder } = await openLayout(t);
  await layout.replace(named("Hall"));
  await writeFile(path, '{"version":1,');

  const { layout: next, log } = await openLayout(t, dataFolder);

  assert.equal(next.current.name, "Hall");
  assert.equal(next.current.revision, 2);
  assert.match(
    String(log.records[0]?.fields["damage"]),
    /layout\.json is not valid JSON at line 1/,
  );
  assert.ok((await readdir(dataFolder)).some((name) => name.startsWith("layout.json.damaged-")));
});

test("without a good copy the default layout is used with a new revision", async (t) => {
  const { layout, named, path, dataFolder } = await openLayout(t);
  await layout.replace(named("Hall"));
  await writeFile(path, "{}");
  await writeFile(`${path}.last-good`, "{}");

  const { layout: next } = await openLayout(t, dataFolder);

  assert.equal(next.current.name, "Home");
  assert.equal(next.current.revision, 3);
});

test("a layout edited by hand becomes its own revision", async (t) => {
  const { named, path, dataFolder } = await openLayout(t);
  await writeFile(path, JSON.stringify(named("Edited")));

  const { layout } = await openLayout(t, dataFolder);

  assert.equal(layout.current.revision, 2);
  assert.deepEqual(
    (await layout.history()).map(({ name }) => name),
    ["Edited", "Home"],
  );
});

test("a damaged revision is omitted from the history and cannot be restored", async (t) => {
  const { layout, named, dataFolder, log } = await openLayout(t);
  await layout.replace(named("Hall"));
  await writeFile(join(dataFolder, "layout-history", "1.json"), "{");

  const history = await layout.history();

  assert.deepEqual(
    history.map(({ revision }) => revision),
    [2],
  );
  assert.equal(log.records[0]?.sentence, "cannot read a revision of the layout");
  await assert.rejects(layout.restore(1), { code: "invalid" });
});

test("a layout that cannot be stored leaves no revision behind", async (t) => {
  const { layout, named, path, announced } = await openLayout(t);
  await rm(path);
  await mkdir(path);

  await assert.rejects(layout.replace(named("Hall")), { code: "EISDIR" });
  const after = await layout.history();
  await rmdir(path);
  const next = await layout.replace(named("Attic"));

  assert.deepEqual(
    after.map(({ revision }) => revision),
    [1],
  );
  assert.equal(next.revision, 2);
  assert.deepEqual(announced, [2]);
});
