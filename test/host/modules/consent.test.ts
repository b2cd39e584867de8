import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";
import {
  COUNTER,
  code,
  manifest,
  LITTLE,
  MORE,
  NEEDED,
  startCounter,
  save,
  saveMore,
  consent,
  call,
} from "./consent-counter.ts";

test("an update that requests more permissions waits, and the running version continues", async (t) => {
  const modules = await startCounter(t);
  const { registry, bus } = modules;
  assert.equal(await call(modules), "first 1 none");
  const shown: unknown[] = [];
  t.after(bus.on(({ topic, data }) => void (topic === "module.state" && shown.push(data))));

  await saveMore(modules);

  const view = registry.get("counter");
  assert.deepEqual([view.state, view.generation, view.version], ["active", 1, "1.0.0"]);
  assert.deepEqual(view.permissions.hosts, ["a.test"]);
  assert.deepEqual(view.consent, {
    needed: NEEDED,
    permissions: [
      { name: "hosts", value: "b.test" },
      { name: "listen", value: null },
    ],
  });
  await assert.rejects(registry.reload("counter"), {
    code: "consent_needed",
    status: 409,
    extras: { needed: NEEDED },
    message: /connect to b\.test; listen on the network/,
  });
  assert.equal(await call(modules), "first 2 none");
  assert.equal(registry.get("counter").lastReload, null);
  assert.match(JSON.stringify(shown), /connect to b\.test/);
  const told = registry.logs("counter").filter(({ sentence }) => sentence.includes("waits for"));
  assert.deepEqual(
    told.map(({ fields }) => fields),
    [{ needed: NEEDED }],
  );
});

test("a reload requested before the save is detected is refused and runs no new code", async (t) => {
  const modules = await startCounter(t);
  await modules.write("counter/index.ts", code("second"));
  await modules.write("counter/package.json", manifest(MORE));

  await assert.rejects(modules.registry.reload("counter"), { code: "consent_needed" });

  assert.equal(await call(modules), "first 1 none");
});

test("consent starts the update with the state of the previous version", async (t) => {
  const modules = await startCounter(t);
  await call(modules);
  await saveMore(modules);

  const { granted, reload, module } = await consent(modules, NEEDED);

  assert.deepEqual(granted, NEEDED);
  assert.deepEqual([reload.result, reload.from, reload.to], ["reloaded", 1, 2]);
  assert.ok(reload.stateHandedOver);
  assert.equal(module.consent, null);
  assert.deepEqual(module.permissions.hosts, ["a.test", "b.test"]);
  assert.equal(await call(modules), "second 2 none");
  assert.deepEqual((await consent(modules)).granted, [], "there is nothing more to give");
});

test("a later save without new permissions needs no consent", async (t) => {
  const modules = await startCounter(t);
  await saveMore(modules);

  save(modules, "third", LITTLE);
  await modules.once("counter", ({ generation }) => generation === 2);

  assert.equal(modules.registry.get("counter").consent, null);
  assert.equal(await call(modules), "third 1 none");
});

test("consent applies only to the shown permissions; an update that requests more is refused", async (t) => {
  const modules = await startCounter(t);
  await saveMore(modules);
  const more = { ...MORE, childProcesses: true };
  await modules.write("counter/package.json", manifest(more));

  await assert.rejects(consent(modules, NEEDED), (error: { extras: { needed: string[] } }) => {
    assert.match(error.extras.needed.join(), /start programs/);
    return true;
  });

  assert.equal(await call(modules), "first 1 none");
  const { granted, module } = await consent(modules);
  assert.equal(granted.length, 3);
  assert.deepEqual([module.permissions.childProcesses, module.consent], [true, null]);
});

test("consent is refused if the manifest has become invalid", async (t) => {
  const modules = await startCounter(t);
  await saveMore(modules);
  await modules.write("counter/package.json", "{");

  await assert.rejects(consent(modules), { code: "reload_failed", message: /not JSON/ });

  assert.equal(await call(modules), "first 1 none");
});

test("a permission dropped by an update needs consent again, a rollback does not", async (t) => {
  const modules = await startCounter(t, MORE);
  save(modules, "second", LITTLE);
  await modules.once("counter", ({ permissions }) => !permissions.listen);
  await until(async () => (await call(modules)).startsWith("second"));

  const { module } = await modules.registry.rollBack("counter");

  assert.equal(module.permissions.listen, true);
  assert.match(await call(modules), /^first/);
  await modules.registry.reload("counter");
  assert.match(await call(modules), /^second/);
  save(modules, "third", MORE);
  await modules.once("counter", (view) => view.consent !== null);
  assert.match(await call(modules), /^second/);
});

test("while an update waits, settings reach the running version", async (t) => {
  const modules = await startCounter(t);
  await saveMore(modules);

  await modules.config.patch({ counter: { word: "set" } }, { admin: true });
  await modules.once("counter", ({ generation }) => generation === 2);

  assert.equal(await call(modules), "first 1 set");
  assert.deepEqual(modules.registry.get("counter").consent?.needed, NEEDED);
});

test("in development a save counts as consent", async (t) => {
  const files = { "package.json": manifest(LITTLE), "index.ts": COUNTER };
  const modules = await startModules(t, { counter: files }, undefined, { consentOnSave: true });

  await modules.write("counter/package.json", manifest(MORE));
  await modules.once("counter", ({ generation }) => generation === 2);

  assert.deepEqual(modules.registry.get("counter").permissions.hosts, MORE.hosts);
  assert.equal(modules.registry.get("counter").consent, null);
  const kept = await readFile(join(modules.dataFolder, "consents.json"), "utf8");
  assert.match(kept, /b\.test/);
});

test("consented code that did not start needs no new consent when it is fixed", async (t) => {
  const modules = await startCounter(t);
  await modules.write("counter/package.json", manifest(MORE));
  await modules.once("counter", (view) => view.consent !== null);
  await modules.write("counter/index.ts", "export default ;");

  await assert.rejects(consent(modules), { code: "reload_failed" });

  assert.equal(await call(modules), "first 1 none");
  assert.equal(modules.registry.get("counter").consent, null);
  await modules.write("counter/index.ts", code("mended"));
  await modules.once("counter", ({ generation }) => generation === 2);
  assert.match(await call(modules), /^mended/);
});
