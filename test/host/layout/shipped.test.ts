import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parseLayout } from "../../../host/layout/parse.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SIZE = /^  size: \{ default: (\[.+?\]), min: (\[.+?\])(?:, max: (\[.+?\]))? \},$/m;

type Cells = readonly [number, number];

test("tiles of the default layout respect the size limits of their widgets", async () => {
  const text = await readFile(join(ROOT, "layouts/default.json"), "utf8");
  const { pages, grid } = parseLayout(JSON.parse(text));
  const sizes = await sizesOfWidgets();

  for (const { id, module, geometry } of pages.flatMap(({ widgets }) => widgets)) {
    const { w, h } = geometry.lg;
    const { min, max = [grid.columns, h] } = sizes.get(module) ?? {};
    assert.ok(min, `${module} says its least size`);
    assert.ok(w >= min[0] && h >= min[1], `${id} is ${w} by ${h}, at least ${min.join(" by ")}`);
    assert.ok(w <= max[0] && h <= max[1], `${id} is ${w} by ${h}, at most ${max.join(" by ")}`);
  }
});

test("a widget's default size is between its minimum and maximum", async () => {
  for (const [module, { first, min, max }] of await sizesOfWidgets()) {
    assert.ok(
      first.every((cells, at) => cells >= (min[at] ?? 0) && cells <= (max?.[at] ?? cells)),
      `${module} begins with ${first.join(" by ")}`,
    );
  }
});

async function sizesOfWidgets(): Promise<Map<string, { first: Cells; min: Cells; max?: Cells }>> {
  const names = (await readdir(join(ROOT, "plugins"))).filter((name) => name.endsWith("-widget"));
  const found = names.map(async (name) => {
    const code = await readFile(join(ROOT, "plugins", name, "widget.ts"), "utf8");
    const [first, min, max] = (SIZE.exec(code) ?? assert.fail(`${name} says its sizes`)).slice(1);
    const read = (cells: string | undefined): Cells => JSON.parse(cells ?? "") as Cells;
    const sizes = { first: read(first), min: read(min) };
    return [name, max === undefined ? sizes : { ...sizes, max: read(max) }] as const;
  });
  return new Map(await Promise.all(found));
}
