import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import vm from "node:vm";
import { buildWidget } from "../../../host/assets/build-widget.ts";
import { placeInWidget } from "../../../host/modules/lifecycle/widget-faults.ts";
import type { PluginPackage } from "../../../host/modules/manifest/manifest.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const SOURCE = `import { level } from "./level.ts";
export default {
  mount() {
    return level(undefined);
  },
};
`;
const LEVEL = `interface Lamp { level: number }

export function level(lamp: Lamp | undefined): number {
  return (lamp as Lamp).level;
}
`;

/** A built widget whose `mount` throws, and a browser's stack of that under a script's address. */
async function openWidget(t: TestContext) {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "widget.ts"), SOURCE);
  await writeFile(join(folder, "level.ts"), LEVEL);
  const bundle = await buildWidget({ id: "lamp", folder, entry: "widget.ts" });
  const plugin = { id: "lamp", folder } as PluginPackage;
  const stackIn = (script: string): string => {
    let stack = "";
    const mantelDefine = (_id: string, _hash: string, factory: (...parts: object[]) => unknown) => {
      const { default: widget } = factory(() => ({}), {}) as { default: { mount(): void } };
      try {
        widget.mount();
      } catch (error) {
        ({ stack } = error as { stack: string });
      }
    };
    vm.runInNewContext(bundle.code, { mantelDefine }, { filename: script });
    return stack;
  };
  return { bundle, plugin, stackIn, served: { bundle, plugin } };
}

const SHOWN = { file: "level.ts", line: 4, column: 25 };

test("an error of a built widget has the place in the author's source", async (t) => {
  const { stackIn, served, bundle } = await openWidget(t);
  const script = `http://home:8470/assets/widgets/lamp.${bundle.hash}.js`;

  for (const address of [script, "blob:null/3f1b-22"]) {
    const { frame = "", ...place } = placeInWidget(stackIn(address), served) ?? {};
    assert.deepEqual(place, SHOWN);
    assert.match(frame, /> 4 \|   return \(lamp as Lamp\)\.level;/);
  }
});

test("a stack in Firefox's form has its place too", async (t) => {
  const { stackIn, served } = await openWidget(t);
  const [, row, column] = /:(\d+):(\d+)\)?\n/.exec(stackIn("blob:null/1")) ?? [];

  const place = placeInWidget(`level@blob:null/1:${row}:${column}\nmount@blob:null/1:1:1`, served);

  assert.deepEqual([place?.file, place?.line], [SHOWN.file, SHOWN.line]);
});

test("stacks without a place in the widget's own source have none", async (t) => {
  const { stackIn, served } = await openWidget(t);

  for (const stack of [
    "",
    "Error: boom",
    stackIn("http://home/assets/shell.js"),
    stackIn("http://home/assets/widgets/clock.0000.js"),
    "at mount (blob:null/1:999999999:999999999)",
    `at x (blob:${"x".repeat(100_000)}:1:1)`,
    "at blob:null/1:1:1\n".repeat(10_000),
  ]) {
    assert.equal(placeInWidget(stack, served), undefined, stack.slice(0, 80));
  }
});
