import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameIcons } from "../../../../host/dashboard/frames/frame-icons.ts";

test("frames can load three hundred icons, and further ones are a question mark", async () => {
  const icons = new FrameIcons(async (name) => `M ${name}`);

  for (let n = 0; n < 300; n++) assert.equal(await icons.pathOf(`icon-${n}`), `M icon-${n}`);

  assert.equal(await icons.pathOf("lamp"), "M help");
  assert.equal(await icons.pathOf("icon-7"), "M icon-7");
  assert.equal(Object.keys(icons.loaded).length, 300);
  assert.equal(icons.loaded["icon-7"], "M icon-7");
});

test("icons count while they are still loading", async () => {
  const loading: string[] = [];
  const icons = new FrameIcons((name) => {
    loading.push(name);
    return new Promise(() => undefined);
  });

  for (let n = 0; n < 310; n++) void icons.pathOf(`icon-${n}`);

  assert.equal(loading.filter((name) => name === "help").length, 10);
  assert.deepEqual(icons.loaded, {});
});
