import assert from "node:assert/strict";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

/** Counts its calls in steps, hands the count over, and says what is set. */
const COUNTER = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";
const STEP: number = 1;

export default definePlugin({
  options: Type.Object({ word: Type.String({ default: "none" }) }),
  state: Type.Object({ count: Type.Integer() }),
  start({ handedOver, config }) {
    let count = handedOver?.count ?? 0;
    return {
      services: [provide(brokerAddress, async () => ({ url: (count += STEP) + " " + config.word }))],
      handOver: () => ({ count }),
    };
  },
});
`;
const inSteps = (step: number) => COUNTER.replace("STEP: number = 1", `STEP: number = ${step}`);
const manifest = (version: string) =>
  packageJson("counter", { provides: ["broker.address"] }).replace("1.0.0", version);

type Modules = Awaited<ReturnType<typeof startModules>>;

/** A counter in steps of ten, which has counted in steps of one before. */
async function openCounter(t: TestContext): Promise<Modules> {
  const counter = { "package.json": manifest("1.0.0"), "index.ts": COUNTER };
  const modules = await startModules(t, { counter });
  await modules.write("counter/index.ts", inSteps(10));
  await modules.once("counter", ({ earlier }) => earlier !== null);
  return modules;
}

const count = ({ services }: Modules) =>
  services.call("broker.address", {}).then((answer) => (answer as { url: string }).url);

/** The result of the last reload. */
const lastOf = ({ registry }: Modules) => {
  const { trigger, result } = registry.get("counter").lastReload ?? {};
  return [trigger, result];
};

test("a module is rolled back with its state, until the files change", async (t) => {
  const modules = await openCounter(t);
  const { registry, write, once } = modules;
  assert.equal(await count(modules), "10 none");
  assert.equal(registry.get("counter").earlier?.version, "1.0.0");

  const { module, reload } = await registry.rollBack("counter");

  assert.deepEqual([reload.result, reload.stateHandedOver], ["rolled_back", true]);
  assert.deepEqual([module.state, module.generation, module.earlier], ["active", 3, null]);
  assert.ok(module.heldSince);
  assert.equal(await count(modules), "11 none");

  await write("counter/index.ts", inSteps(100));
  await once("counter", ({ heldSince }) => heldSince === null);
  assert.equal(await count(modules), "111 none");
  assert.ok(registry.get("counter").earlier, "and there is a way back again");
});

test("code on the disk stays pending through unchanged saves and config changes", async (t) => {
  const modules = await openCounter(t);
  const { registry, config, root, write, once } = modules;
  await registry.rollBack("counter");
  const index = join(root, "counter/index.ts");

  await config.patch({ counter: { word: "set" } }, { admin: true });
  await once("counter", ({ lastReload }) => lastReload?.trigger === "config");
  await utimes(index, new Date(), new Date());
  await write("other/index.ts", COUNTER);
  await write("other/package.json", packageJson("other"));
  await until(() => registry.list().some(({ id, state }) => id === "other" && state === "active"));

  assert.equal(await count(modules), "1 set");
  assert.ok(registry.get("counter").heldSince);
  assert.deepEqual(lastOf(modules), ["config", "reloaded"]);
});

test("a requested reload uses the code on the disk and can be rolled back again", async (t) => {
  const modules = await openCounter(t);
  const { registry } = modules;
  await registry.rollBack("counter");

  const { module } = await registry.reload("counter");

  assert.equal(module.heldSince, null);
  assert.equal(await count(modules), "10 none");
  await registry.rollBack("counter");
  assert.equal(await count(modules), "11 none");
});

test("without a previous version a rollback is refused and changes nothing", async (t) => {
  const modules = await openCounter(t);
  const { registry } = modules;
  await registry.rollBack("counter");
  const before = registry.get("counter");

  await assert.rejects(registry.rollBack("counter"), { code: "no_earlier_code", status: 409 });
  await assert.rejects(registry.rollBack("nobody"), { code: "module_unknown" });

  assert.deepEqual({ ...registry.get("counter"), resources: 0 }, { ...before, resources: 0 });
});

test("a disabled module cannot be rolled back", async (t) => {
  const { registry } = await openCounter(t);
  await registry.disable("counter");

  await assert.rejects(registry.rollBack("counter"), /counter is disabled; enable it first/);
});

test("if the previous code does not start, the running code continues with its state", async (t) => {
  const picky = COUNTER.replace(
    "let count",
    'if (handedOver?.count === 20) throw new Error("not from 20");\n    let count',
  );
  const counter = { "package.json": manifest("1.0.0"), "index.ts": picky };
  const modules = await startModules(t, { counter });
  const { registry, write, once } = modules;
  await write("counter/index.ts", inSteps(10));
  await once("counter", ({ generation }) => generation === 2);
  await count(modules);
  await count(modules);

  await assert.rejects(registry.rollBack("counter"), { code: "reload_failed" });

  assert.equal(await count(modules), "30 none");
  assert.deepEqual(lastOf(modules), ["rollback", "failed"]);
  assert.match(registry.get("counter").lastReload?.error?.message ?? "", /not from 20/);
  assert.equal(registry.get("counter").heldSince, null);
});

test("a restarted host continues with the rolled-back code", async (t) => {
  const first = await openCounter(t);
  await first.write("counter/package.json", manifest("2.0.0"));
  await first.once("counter", ({ version }) => version === "2.0.0");
  await first.write("counter/index.ts", inSteps(1_000));
  await first.once("counter", ({ generation }) => generation === 4);
  await first.registry.rollBack("counter");
  await first.stop();

  const second = await startModules(t, {}, first.home);
  assert.equal(await count(second), "10 none");
  assert.ok(second.registry.get("counter").heldSince);
  await second.stop();
  await second.write("counter/index.ts", inSteps(7));
  const third = await startModules(t, {}, first.home);

  assert.equal(await count(third), "7 none");
  assert.equal(third.registry.get("counter").heldSince, null);
});

test("an update made while the host was stopped can be rolled back", async (t) => {
  const first = await openCounter(t);
  await first.stop();
  await first.write("counter/package.json", manifest("2.0.0"));
  await first.write("counter/index.ts", inSteps(50));

  const modules = await startModules(t, {}, first.home);
  assert.equal(await count(modules), "50 none");
  await modules.registry.rollBack("counter");

  assert.equal(await count(modules), "60 none");
  assert.equal(modules.registry.get("counter").version, "1.0.0");
});

test("a crashed module works again after a rollback", async (t) => {
  const first = await openCounter(t);
  await first.stop();
  const crashing = inSteps(1).replace("async () => (", "async () => process.exit(3) ?? (");
  await first.write("counter/index.ts", crashing);
  const modules = await startModules(t, {}, first.home);
  const call = count(modules).catch(() => "lost");
  await modules.once("counter", ({ restarts, state }) => restarts > 0 && state === "loading");

  const { module } = await modules.registry.rollBack("counter");

  await call;
  assert.match(await count(modules), /^[12]0 none$/);
  assert.deepEqual([module.state, module.error], ["active", null]);
});

test("code that crashes soon after its start is rolled back once", async (t) => {
  const modules = await openCounter(t);
  const { registry, services, write, once } = modules;
  await write(
    "counter/index.ts",
    inSteps(10).replace("async () => (", "() => process.exit(3) ?? ("),
  );
  await once("counter", ({ generation }) => generation === 3);
  await services.call("broker.address", {}).catch(() => undefined);
  await once("counter", ({ lastReload }) => lastReload?.trigger === "crash");

  assert.match(await count(modules), /0 none$/);
  assert.equal(registry.get("counter").earlier, null, "it is what runs");
});
