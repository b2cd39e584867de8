import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import type { SceneRegistry } from "../../../host/scenes/registry.ts";
import { mergedOrder } from "../../../host/scenes/scene-order.ts";
import { EVENING, faultsOf, openScenes } from "./open-scenes.ts";

const [EVENING_ID, NIGHT_ID, MOVIE_ID, AWAY_ID] = [
  "host:scene:evening",
  "host:scene:night",
  "demo:scene:1",
  "demo:scene:2",
];
const MOVIE = { nativeId: "s1", name: "Movie" };
const AWAY = { nativeId: "s2", name: "Away" };

const idsOf = (scenes: SceneRegistry): string[] => scenes.list().map(({ id }) => id);

/** The scenes Evening and Night of the host, and Movie and Away of a bridge. */
async function openFour(t: Parameters<typeof openScenes>[0]) {
  const home = await openScenes(t);
  await home.scenes.put(EVENING_ID, EVENING);
  await home.scenes.put(NIGHT_ID, EVENING);
  await home.scenes.publish("b", [MOVIE, AWAY]);
  home.heard();
  return home;
}

test("scenes of the host and of bridges have one order, which a restart keeps", async (t) => {
  const { scenes, heard, dataFolder } = await openFour(t);
  const { revision } = scenes;

  await scenes.reorder({ scenes: [AWAY_ID, NIGHT_ID, MOVIE_ID, EVENING_ID] });
  const again = await openScenes(t, dataFolder);
  const withoutBridge = idsOf(again.scenes);
  await again.scenes.publish("b", [MOVIE, AWAY]);

  assert.deepEqual(idsOf(scenes), [AWAY_ID, NIGHT_ID, MOVIE_ID, EVENING_ID]);
  assert.deepEqual(heard(), ["scenes.changed"]);
  assert.ok(scenes.revision > revision);
  assert.deepEqual(withoutBridge, [NIGHT_ID, EVENING_ID]);
  assert.deepEqual(idsOf(again.scenes), [AWAY_ID, NIGHT_ID, MOVIE_ID, EVENING_ID]);
});

test("without an order the scenes of the host come first, and the file has none", async (t) => {
  const { scenes, dataFolder } = await openFour(t);

  const file = JSON.parse(await readFile(join(dataFolder, "scenes.json"), "utf8"));

  assert.deepEqual(idsOf(scenes), [EVENING_ID, NIGHT_ID, MOVIE_ID, AWAY_ID]);
  assert.deepEqual(Object.keys(file), ["version", "scenes"]);
});

test("a new scene comes last, and a removed one loses its place", async (t) => {
  const { scenes, dataFolder } = await openFour(t);
  await scenes.reorder({ scenes: [EVENING_ID, MOVIE_ID, NIGHT_ID, AWAY_ID] });

  await scenes.put("host:scene:bright", EVENING);
  const withNew = idsOf(scenes);
  await scenes.remove(EVENING_ID);
  await scenes.put(EVENING_ID, EVENING);

  assert.deepEqual(withNew, [EVENING_ID, MOVIE_ID, NIGHT_ID, AWAY_ID, "host:scene:bright"]);
  assert.deepEqual(idsOf(scenes), [MOVIE_ID, NIGHT_ID, AWAY_ID, "host:scene:bright", EVENING_ID]);
  const { order } = JSON.parse(await readFile(join(dataFolder, "scenes.json"), "utf8"));
  assert.deepEqual(order, [MOVIE_ID, NIGHT_ID, AWAY_ID]);
});

test("a bridge that is away keeps the places of its scenes while others are ordered", async (t) => {
  const { scenes } = await openFour(t);
  await scenes.reorder({ scenes: [MOVIE_ID, EVENING_ID, AWAY_ID, NIGHT_ID] });

  scenes.removeBridge("b");
  await scenes.reorder({ scenes: [NIGHT_ID, EVENING_ID] });
  const away = idsOf(scenes);
  await scenes.publish("b", [MOVIE, AWAY]);

  assert.deepEqual(away, [NIGHT_ID, EVENING_ID]);
  assert.deepEqual(idsOf(scenes), [MOVIE_ID, NIGHT_ID, EVENING_ID, AWAY_ID]);
});

test("a scene that its bridge removed loses its place at the next ordering", async (t) => {
  const { scenes } = await openFour(t);
  await scenes.reorder({ scenes: [MOVIE_ID, AWAY_ID, EVENING_ID, NIGHT_ID] });

  await scenes.publish("b", [AWAY]);
  await scenes.publish("b", [MOVIE, AWAY]);
  const back = idsOf(scenes);
  await scenes.publish("b", [AWAY]);
  await scenes.reorder({ scenes: [NIGHT_ID, AWAY_ID, EVENING_ID] });
  await scenes.publish("b", [MOVIE, AWAY]);

  assert.deepEqual(back, [MOVIE_ID, AWAY_ID, EVENING_ID, NIGHT_ID]);
  assert.deepEqual(idsOf(scenes), [NIGHT_ID, AWAY_ID, EVENING_ID, MOVIE_ID]);
});

test("an order with unknown, repeated or too many scenes is refused and not stored", async (t) => {
  const { scenes, heard } = await openFour(t);
  const many = Array.from({ length: 2_001 }, (_, number) => `host:scene:s${number}`);

  await assert.rejects(
    scenes.reorder({ scenes: [NIGHT_ID, "host:scene:gone", NIGHT_ID, "__proto__"] }),
    faultsOf(["/scenes/1", "/scenes/2", "/scenes/3"]),
  );
  await assert.rejects(scenes.reorder({ scenes: many }), faultsOf(["/scenes"]));
  await assert.rejects(scenes.reorder({ scenes: [], x: 1 }), faultsOf(["/x"]));
  await assert.rejects(scenes.reorder([NIGHT_ID]), { code: "invalid" });

  assert.deepEqual(idsOf(scenes), [EVENING_ID, NIGHT_ID, MOVIE_ID, AWAY_ID]);
  assert.deepEqual(heard(), []);
});

test("of two orders for the same revision, the first is stored and the second is refused", async (t) => {
  const { scenes } = await openFour(t);
  const tag = `"${scenes.revision}"`;

  const results = await Promise.allSettled([
    scenes.reorder({ scenes: [NIGHT_ID, EVENING_ID] }, tag),
    scenes.reorder({ scenes: [AWAY_ID, MOVIE_ID] }, tag),
  ]);

  assert.deepEqual(
    results.map((each) =>
      each.status === "rejected" ? (each.reason as MantelError).code : each.status,
    ),
    ["fulfilled", "revision_stale"],
  );
  assert.deepEqual(idsOf(scenes), [NIGHT_ID, EVENING_ID, MOVIE_ID, AWAY_ID]);
});

test("a scene without an entry in the wanted order stays behind the one that it follows", () => {
  assert.deepEqual(mergedOrder(["c", "a"], ["x", "a", "y", "z", "c"]), ["x", "c", "a", "y", "z"]);
  assert.deepEqual(mergedOrder([], ["a", "b"]), ["a", "b"]);
});

test("a file from before the order existed is read", async (t) => {
  const { dataFolder } = await openScenes(t);
  const scenes = { [NIGHT_ID]: EVENING, [EVENING_ID]: EVENING };
  await writeFile(join(dataFolder, "scenes.json"), JSON.stringify({ version: 1, scenes }));

  const opened = await openScenes(t, dataFolder);

  assert.deepEqual(idsOf(opened.scenes), [NIGHT_ID, EVENING_ID]);
});
