import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { packageJson, type PluginFiles, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

/** Counts its calls, hands the count over, and rests. */
const COUNTER = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";

export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  start(ctx) {
    let count = ctx.handedOver?.count ?? 0;
    const step = 1;
    return {
      services: [provide(brokerAddress, async () => ({ url: String((count += step)) }))],
      handOver: () => ({ count }),
      canRest: () => true,
    };
  },
});
`;
const counter = (source = COUNTER, manifest: object = {}): PluginFiles => ({
  "package.json": packageJson("counter", { provides: ["broker.address"], ...manifest }),
  "index.ts": source,
});

/** Processes are asked twice a second if they may rest. */
const BEAT_MS = 500;
const REST_AFTER_MS = 250;

/** The counter, which rests soon. */
async function startResting(t: TestContext, files = counter()) {
  const started = await startModules(t, { counter: files }, undefined, {
    restAfterMs: REST_AFTER_MS,
  });
  const call = async () => {
    const key = "broker.address";
    const { url } = (await started.services.callFor({ key, input: {}, chain: [] })) as {
      url: string;
    };
    return url;
  };
  const rested = () => started.once("counter", ({ restingSince }) => restingSince !== null, 10_000);
  return { ...started, call, rested };
}
test("a module with nothing to do has no process, and the next call gets one with the state from before", async (t) => {
  const started = await startResting(t);
  assert.deepEqual([await started.call(), await started.call()], ["1", "2"]);

  const { state, generation, resources } = await started.rested();
  assert.deepEqual([state, generation, resources.memoryBytes], ["active", 1, null]);
  const answers = await Promise.all([started.call(), started.call(), started.call()]);

  assert.deepEqual(answers.toSorted(), ["3", "4", "5"]);
  const awake = started.registry.get("counter");
  assert.deepEqual(
    [awake.state, awake.restingSince, awake.generation, awake.restarts],
    ["active", null, 1, 0],
  );
  await started.rested();
  assert.equal(await started.call(), "6");
});

test("a module that is called again and again does not rest", async (t) => {
  const { call, registry } = await startResting(t);
  const endsAt = performance.now() + 4 * BEAT_MS;

  while (performance.now() < endsAt) {
    await call();
    assert.equal(registry.get("counter").restingSince, null);
    await delay(REST_AFTER_MS / 10);
  }
});

/** The counter without its service, which only one module can provide. */
const withoutService = (source: string) => source.replace(/services: .*/, "");
const BUSY: Readonly<Record<string, string>> = {
  "that says it cannot": COUNTER.replace("canRest: () => true", "canRest: () => false"),
  "that says nothing": COUNTER.replace("canRest: () => true,", ""),
  "whose canRest throws": COUNTER.replace(
    "canRest: () => true",
    'canRest: () => { throw new Error("no"); }',
  )
    .replace("return {", "return Object.freeze({")
    .replace(/\};(?=\n  \},)/, "});"),
  "with a timer of ctx.schedule": COUNTER.replace(
    "const step",
    'void ctx.schedule.every("look", 60_000, () => undefined);\n    const step',
  ),
  "that follows the home": COUNTER.replace(
    "const step",
    'void ctx.home.devices.on("*", () => undefined);\n    const step',
  ),
  "that reads a channel": COUNTER.replace(
    "const step",
    'ctx.channel("news/headlines", Type.Unknown());\n    const step',
  ),
  "that follows sources": COUNTER.replace(
    "const step",
    "void ctx.sources.follow(() => undefined);\n    const step",
  ),
  "that is degraded": COUNTER.replace(
    "const step",
    'ctx.status.degraded("it is far away");\n    const step',
  ),
};

test("a module that has something to do, or does not say that it may rest, does not rest", async (t) => {
  const manifest = {
    permissions: { home: { read: ["*"] } },
    uses: ["news/headlines"],
    sources: "notes",
  };
  const idOf = (which: string) => which.replaceAll(/[ .A-Z]+/g, "-");
  const modules = Object.entries({ ...BUSY, "that may rest": COUNTER }).map(([which, source]) => [
    idOf(which),
    { "package.json": packageJson(idOf(which), manifest), "index.ts": withoutService(source) },
  ]);
  const { registry, once } = await startModules(t, Object.fromEntries(modules), undefined, {
    restAfterMs: REST_AFTER_MS,
  });

  await once("that-may-rest", ({ restingSince }) => restingSince !== null, 10_000);
  // Twice the time after which it rested: the others would have done so too.
  await delay(2 * REST_AFTER_MS + BEAT_MS);

  for (const { id, state, restingSince, error } of registry.list()) {
    const isDegraded = id === "that-is-degraded";
    assert.equal(state, isDegraded ? "degraded" : "active", `${id}: ${error?.message}`);
    assert.equal(restingSince !== null, id === "that-may-rest", id);
  }
});

test("a change in a folder of the plugin starts it again", async (t) => {
  const source = COUNTER.replace(
    "const step",
    'ctx.log.info("started", { files: readdirSync(ctx.folder("notes")).join() });\n    const step',
  ).replace("import", 'import { readdirSync } from "node:fs";\nimport');
  const manifest = { permissions: { folders: ["notes"] } };
  const { rested, dataFolder, registry } = await startResting(t, counter(source, manifest));
  await rested();
  const notes = join(dataFolder, "notes");
  assert.ok(existsSync(notes));

  await writeFile(join(notes, "today.txt"), "rain");

  await until(() => registry.logs("counter").at(-1)?.fields?.["files"] === "today.txt");
});

test("a change of the home's settings starts it again", async (t) => {
  const source = COUNTER.replace(
    "const step",
    'ctx.log.info("started", { zone: ctx.home.timeZone });\n    const step',
  );
  const { rested, config, registry } = await startResting(t, counter(source));
  await rested();

  await config.patch({ ui: { timeZone: "Asia/Tokyo" } }, { admin: true });

  await until(() =>
    registry.logs("counter").some(({ fields }) => fields?.["zone"] === "Asia/Tokyo"),
  );
});

test("saved code starts in place of the code that rests, with its state", async (t) => {
  const { call, rested, edit, once } = await startResting(t);
  assert.equal(await call(), "1");
  await rested();

  await edit("counter/index.ts", (source) => source.replace("step = 1", "step = 10"));
  const { lastReload, state, restingSince } = await once(
    "counter",
    (view) => view.generation === 2 && view.lastReload !== null,
  );

  assert.deepEqual(
    [lastReload?.result, lastReload?.stateHandedOver, lastReload?.downtimeMs, state, restingSince],
    ["reloaded", true, 0, "active", null],
  );
  assert.equal(await call(), "11");
});

test("saved code that does not start leaves the module resting, and its next call is answered", async (t) => {
  const { call, rested, edit, once } = await startResting(t);
  assert.equal(await call(), "1");
  await rested();

  await edit("counter/index.ts", (source) =>
    source.replace("const step", 'throw new Error("boom");\n    const step'),
  );
  const { state, lastReload, restingSince } = await once(
    "counter",
    (view) => view.lastReload !== null,
  );

  assert.deepEqual([state, lastReload?.result], ["active", "rolled_back"]);
  assert.notEqual(restingSince, null);
  assert.equal(await call(), "2");
});

test("a rest ends with the module: a call of a disabled one is refused, and it starts again when enabled", async (t) => {
  const { call, rested, registry } = await startResting(t);
  await call();
  await rested();

  await registry.disable("counter");
  assert.equal(registry.get("counter").restingSince, null);
  await assert.rejects(call(), { code: /service_unavailable|module_down|not_found/ });
  await registry.enable("counter");

  assert.equal(await call(), "1");
});

test("code that does not start again counts as crashed, and its call waits for the next attempt", async (t) => {
  const source = COUNTER.replace(
    "const step",
    `const first = join(ctx.folder("notes"), "first");
    if (ctx.handedOver && !existsSync(first)) {
      writeFileSync(first, "");
      throw new Error("not yet");
    }
    const step`,
  ).replace(
    "import",
    'import { existsSync, writeFileSync } from "node:fs";\nimport { join } from "node:path";\nimport',
  );
  const manifest = { permissions: { folders: ["notes"] } };
  const { call, rested, registry } = await startResting(t, counter(source, manifest));
  await call();
  await rested();

  t.mock.method(Math, "random", () => 0); // the next attempt comes as soon as it may
  const answer = await call();

  assert.equal(answer, "1"); // a restart after a crash begins without the state
  assert.deepEqual(
    [registry.get("counter").restarts, registry.get("counter").state],
    [1, "active"],
  );
});

/** Publishes the number of its starts. */
const NEWS = `
import { defineChannels, definePlugin, Type } from "@mantel/plugin-sdk";
const channels = defineChannels({ starts: { schema: Type.Integer(), title: "Starts" } });
export default definePlugin({
  channels,
  state: Type.Integer(),
  async start(ctx) {
    const starts = (ctx.handedOver ?? 0) + 1;
    await ctx.channels.starts.publish(starts);
    return { handOver: () => starts, canRest: () => true };
  },
});
`;

test("a module rests while nobody follows its channels, and a reader gets a value from after its rest", async (t) => {
  const news = { "package.json": packageJson("news"), "index.ts": NEWS };
  const options = { restAfterMs: REST_AFTER_MS };
  const { channels, once, registry } = await startModules(t, { news }, undefined, options);
  const rested = () => once("news", ({ restingSince }) => restingSince !== null, 10_000);
  const value = () => channels.find("news", "starts")?.current?.value;
  await rested();
  assert.equal(value(), 1);

  await channels.demand.whenCurrent("news");
  assert.equal(value(), 2);
  await rested();
  const leave = channels.demand.follow(channels.plugins(), (plugin) => plugin === "news");
  await once("news", ({ restingSince }) => restingSince === null);
  await delay(2 * REST_AFTER_MS + 2 * BEAT_MS); // it would have rested meanwhile
  assert.equal(registry.get("news").restingSince, null);
  leave();

  await rested();
  assert.equal(value(), 3);
});
