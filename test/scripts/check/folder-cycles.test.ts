import assert from "node:assert/strict";
import { test } from "node:test";
import { findFolderCycles } from "../../../scripts/check/folder-cycles.ts";

const find = (sources: Readonly<Record<string, string>>) =>
  findFolderCycles("house", new Map(Object.entries(sources)));

test("folders that import in one direction are not reported", () => {
  const sources = {
    "house/main.ts": 'import "./roof/tile.ts";',
    "house/roof/tile.ts":
      'import { wall } from "../walls/wall.ts";\nimport { door } from "./door.ts";',
    "house/walls/wall.ts": 'import { stone } from "../cellar/deep/stone.ts";',
    "house/cellar/deep/stone.ts": 'import { map } from "../../../garden/map.ts";',
    "garden/map.ts": 'import { tile } from "../house/roof/tile.ts";',
  };

  assert.deepEqual(find(sources), []);
});

test("folders that import each other are reported with the files that do", () => {
  const sources = {
    "house/roof/tile.ts": 'import type { Wall } from "../walls/wall.ts";',
    "house/walls/wall.ts": 'export * from "../roof/gutter.ts";',
  };

  assert.deepEqual(find(sources), [
    "the folders of house import in a circle: roof -> walls (house/roof/tile.ts), walls -> roof (house/walls/wall.ts)",
  ]);
});

test("a cycle over three folders is reported once, and a folder beside it is not", () => {
  const sources = {
    "house/attic/box.ts": 'import { tile } from "../roof/tile.ts";',
    "house/roof/tile.ts": 'import { wall } from "../walls/wall.ts";',
    "house/walls/wall.ts": 'import { stone } from "../cellar/stone.ts";',
    "house/cellar/stone.ts": 'import { tile } from "../roof/tile.ts";',
  };

  const [found = "", ...others] = find(sources);

  assert.match(found, /roof -> walls .*walls -> cellar .*cellar -> roof /);
  assert.doesNotMatch(found, /attic/);
  assert.deepEqual(others, []);
});
