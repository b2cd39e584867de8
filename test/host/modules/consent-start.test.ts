import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
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

test("a host that starts with an update that needs consent runs the previous version", async (t) => {
  const first = await startCounter(t);
  await first.stop();
  save(first, "second", MORE);

  const modules = await startModules(t, {}, first.home);

  const view = modules.registry.get("counter");
  assert.equal(await call(modules), "first 1 none");
  assert.deepEqual([view.state, view.consent?.needed], ["active", NEEDED]);
  assert.deepEqual(view.permissions.hosts, ["a.test"]);
  await consent(modules, NEEDED);
  assert.match(await call(modules), /^second/);
  await modules.stop();
  const next = await startModules(t, {}, first.home);
  assert.match(await call(next), /^second/);
  assert.equal(next.registry.get("counter").consent, null);
});

test("without a previous version the module waits unconfigured for consent", async (t) => {
  const first = await startCounter(t);
  await first.stop();
  save(first, "second", MORE);
  await rm(join(first.dataFolder, "cache"), { recursive: true });

  const modules = await startModules(t, {}, first.home);

  const view = modules.registry.get("counter");
  assert.deepEqual([view.state, view.generation], ["unconfigured", 0]);
  assert.match(view.error?.message ?? "", /consent.*connect to b\.test/);
  assert.deepEqual(view.consent?.needed, NEEDED);
  await assert.rejects(modules.registry.reload("counter"), { code: "consent_needed" });
  const { module } = await consent(modules);
  assert.equal(module.state, "active");
  assert.match(await call(modules), /^second/);
});

test("a returning folder keeps its granted permissions, and waits for consent to further ones", async (t) => {
  const modules = await startCounter(t);
  const [folder, away] = [join(modules.root, "counter"), join(modules.home, "away")];
  await cp(folder, away, { recursive: true });
  await rm(folder, { recursive: true });
  await until(() => modules.registry.list().length === 0);
  await writeFile(join(away, "package.json"), manifest(MORE));
  await writeFile(join(away, "index.ts"), code("second"));

  await cp(away, folder, { recursive: true });
  // The code that ran before was deleted with its folder.
  await until(() => modules.registry.list().some(({ state }) => state === "unconfigured"));

  assert.deepEqual(modules.registry.get("counter").consent?.needed, NEEDED);
  await consent(modules, NEEDED);
  assert.match(await call(modules), /^second/);
});

test("a new plugin, or one from before consents existed, has its requested permissions", async (t) => {
  const first = await startCounter(t);
  await first.stop();
  save(first, "second", MORE);
  await rm(join(first.dataFolder, "consents.json"));
  await rm(join(first.dataFolder, "consents.json.last-good"));

  const modules = await startModules(t, {}, first.home);

  assert.match(await call(modules), /^second/);
  assert.equal(modules.registry.get("counter").consent, null);
});

test("a damaged consent file is restored and grants nothing more", async (t) => {
  const first = await startCounter(t);
  await first.stop();
  save(first, "second", MORE);
  await writeFile(join(first.dataFolder, "consents.json"), "{");

  const modules = await startModules(t, {}, first.home);

  assert.deepEqual(modules.registry.get("counter").consent?.needed, NEEDED);
  assert.match(await readFile(join(first.dataFolder, "consents.json"), "utf8"), /a\.test/);
});

test("after a crash of the consented version the previous one runs with its permissions", async (t) => {
  const modules = await startCounter(t, { hosts: ["old.test"] });
  await modules.write("counter/package.json", manifest({ hosts: ["new.test"] }));
  await modules.once("counter", (view) => view.consent !== null);
  const crashing = code("second").replace("async () => (", "() => process.exit(3) ?? (");
  await modules.write("counter/index.ts", crashing);
  await consent(modules);

  await call(modules).catch(() => undefined);
  await modules.once("counter", ({ lastReload }) => lastReload?.trigger === "crash");

  assert.match(await call(modules), /^first/);
  await modules.stop();
  await modules.write("counter/index.ts", "export default ;");
  const next = await startModules(t, {}, modules.home);
  assert.match(await call(next), /^first/);
  assert.deepEqual(next.registry.get("counter").permissions.hosts, ["old.test"]);
});

test("consent for a disabled module keeps it disabled", async (t) => {
  const modules = await startCounter(t);
  await modules.registry.disable("counter");
  await saveMore(modules);

  const { granted, reload, module } = await consent(modules);

  assert.deepEqual([granted, reload.result, module.state], [NEEDED, "unchanged", "disabled"]);
  await modules.registry.enable("counter");
  assert.match(await call(modules), /^second/);
});

test("a disabled module without consent runs the previous version when it is enabled", async (t) => {
  const modules = await startCounter(t);
  await modules.registry.disable("counter");
  await saveMore(modules);

  await modules.registry.enable("counter");

  assert.match(await call(modules), /^first/);
  assert.deepEqual(modules.registry.get("counter").consent?.needed, NEEDED);
});

test("an update of an unconfigured plugin waits too, and consent does not start it", async (t) => {
  const requiresConfig = (permissions: object) => manifest(permissions, { requiresConfig: true });
  const files = { "package.json": requiresConfig(LITTLE), "index.ts": COUNTER };
  const modules = await startModules(t, { counter: files });
  await modules.write("counter/package.json", requiresConfig(MORE));
  await modules.once("counter", (view) => view.consent !== null);

  const { granted, module } = await consent(modules);

  assert.deepEqual([granted, module.state], [NEEDED, "unconfigured"]);
  assert.match(module.error?.message ?? "", /^not configured; .*add a section/);
});

test("a plugin of another kind that requests more permissions waits, and then replaces the running one", async (t) => {
  const modules = await startCounter(t);
  const bridge = { kind: "other", commandsPerSecond: 1 };
  await modules.write("counter/package.json", manifest(MORE, { bridge, kinds: ["bridge"] }));
  await modules.once("counter", (view) => view.consent !== null);
  assert.equal(await call(modules), "first 1 none");

  const { reload, module } = await consent(modules);

  assert.deepEqual([reload.result, module.state, module.kinds], ["reloaded", "active", ["bridge"]]);
  assert.equal(module.consent, null);
});

test("an update behind an allowed link also waits for consent", async (t) => {
  const modules = await startModules(t, {});
  const work = join(modules.home, "work");
  await mkdir(work);
  await writeFile(join(work, "package.json"), manifest(LITTLE));
  await writeFile(join(work, "index.ts"), COUNTER);
  await symlink(work, join(modules.root, "counter"));
  await modules.config.patch({ modules: { counter: { links: true } } }, { admin: true });
  await modules.once("counter", ({ state }) => state === "active");

  await writeFile(join(work, "package.json"), manifest(MORE));
  await modules.once("counter", (view) => view.consent !== null);

  assert.equal(await call(modules), "first 1 none");
  assert.deepEqual((await consent(modules, NEEDED)).granted, NEEDED);
});
