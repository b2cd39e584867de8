import assert from "node:assert/strict";
import { test } from "node:test";
import { Type } from "typebox";
import { admin, editor, openConfig } from "./open-config.ts";

const OPTIONS = Type.Object({
  host: Type.Optional(Type.String()),
  timeout: Type.Optional(Type.Integer()),
  key: Type.Optional(Type.String({ writeOnly: true })),
});

/** A plugin with all its options set, of which a later version has one. */
async function openWithLeftOptions(t: Parameters<typeof openConfig>[0]) {
  const opened = await openConfig(t);
  const { config } = opened;
  config.registerOptions("lamp", OPTIONS);
  await config.patch({ lamp: { host: "a.local", timeout: 5, key: "secret" } }, admin);
  config.registerOptions("lamp", Type.Pick(OPTIONS, ["host"]));
  return opened;
}

test("an option that its plugin no longer has can be removed but not set", async (t) => {
  const { config, stored } = await openWithLeftOptions(t);

  await assert.rejects(config.patch({ lamp: { timeout: 6 } }, admin), /not a known key/);
  await assert.rejects(config.patch({ lamp: { timeout: null } }, editor), /timeout/);
  await config.patch({ lamp: { timeout: null } }, admin);

  assert.deepEqual(await stored(), { lamp: { host: "a.local" } });
});

test("removing a section also removes keys that its plugin no longer has", async (t) => {
  const { config, stored } = await openWithLeftOptions(t);

  const { changed } = await config.patch({ lamp: null }, admin);

  assert.deepEqual(changed, ["lamp.host"]);
  assert.deepEqual(await stored(), {});
  assert.equal(config.hasSection("lamp"), false); // the secret is gone too
});

test("the section of an uninstalled plugin can be removed", async (t) => {
  const { config, stored } = await openConfig(t, {
    files: { "config.json": '{"gone":{"host":"a.local"},"ui":{"theme":"dark"}}' },
  });

  await config.patch({ gone: null }, admin);

  assert.deepEqual(await stored(), { ui: { theme: "dark" } });
  await assert.rejects(config.patch({ gone: null }, admin), /not a known key/);
});

test("a section that only repeats the defaults is announced when it is added and when it is removed", async (t) => {
  const { config } = await openConfig(t);
  config.registerOptions("lamp", Type.Object({ timeout: Type.Integer({ default: 5 }) }));
  const told: (readonly string[])[] = [];
  config.onChange((changed) => told.push(changed));

  await config.patch({ lamp: { timeout: 5 } }, admin);
  await config.patch({ ui: { theme: "dark" } }, admin);
  await config.patch({ lamp: null }, admin);
  await config.patch({ ui: { theme: "night" } }, admin);

  assert.deepEqual(told, [["lamp"], ["ui.theme"], ["lamp"], ["ui.theme"]]);
});
