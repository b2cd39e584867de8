import assert from "node:assert/strict";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleView } from "../../../host/api/module.ts";
import { packageJson, startModules } from "../../helpers/module.ts";

const COUNTER = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";
import { greeting } from "./greeting.ts";

export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  start({ handedOver }) {
    let count = handedOver?.count ?? 0;
    return {
      services: [provide(brokerAddress, async () => ({ url: greeting + " " + ++count }))],
      handOver: () => ({ count }),
    };
  },
});
`;
const GREETING = 'export const greeting: string = "hello";\n';
const counter = {
  "package.json": packageJson("counter", { provides: ["broker.address"] }),
  "index.ts": COUNTER,
  "greeting.ts": GREETING,
};

const ask = async (services: { call(name: string, input: unknown): Promise<unknown> }) =>
  ((await services.call("broker.address", {})) as { url: string }).url;

test("a saved change answers immediately, with the state of the previous generation", async (t) => {
  const { registry, services, edit, once } = await startModules(t, { counter });
  assert.equal(registry.get("counter").state, "active");
  assert.equal(await ask(services), "hello 1");

  await edit("counter/greeting.ts", (source) => source.replace("hello", "good day"));
  const view = await once(
    "counter",
    ({ generation, lastReload }) => generation === 2 && lastReload !== null,
  );

  assert.equal(await ask(services), "good day 2");
  assert.equal(view.lastReload?.result, "reloaded");
  assert.equal(view.lastReload?.stateHandedOver, true);
  assert.equal(view.lastReload?.trigger, "file");
});

test("a syntax error keeps the old code and is shown with file and line until it is fixed", async (t) => {
  const { registry, services, edit, once } = await startModules(t, { counter });
  await ask(services);

  await edit("counter/greeting.ts", () => "export const greeting: string = ;\n");
  const broken = await once("counter", ({ lastReload }) => lastReload?.result === "rolled_back");
  await assert.rejects(registry.reload("counter"), (error: MantelError) => {
    assert.equal(error.code, "reload_failed");
    assert.equal(error.extras.rolledBack, true);
    assert.equal(error.extras.location?.line, 1);
    return true;
  });

  assert.equal(broken.state, "active");
  assert.equal(broken.lastReload?.error?.file, "greeting.ts");
  assert.equal(broken.lastReload?.error?.line, 1);
  assert.equal(await ask(services), "hello 2");

  await edit("counter/greeting.ts", () => 'export const greeting = "mended";\n');
  await once("counter", ({ generation }) => generation === 2);
  assert.equal(await ask(services), "mended 3");
});

test("calls during 20 reloads are all answered, each counted once", async (t) => {
  const { registry, services, edit } = await startModules(t, { counter });
  const answers: Promise<string>[] = [];
  let waiting = 0;
  const load = setInterval(() => {
    if (waiting > 50) return; // a busy machine would refuse more than the queue holds
    waiting++;
    answers.push(ask(services).finally(() => waiting--));
  }, 2);
  t.after(() => clearInterval(load));

  for (let round = 0; round < 20; round++) {
    await edit("counter/greeting.ts", () => `export const greeting = "r${round}";\n`);
    await registry.reload("counter");
  }
  clearInterval(load);

  const counts = (await Promise.all(answers)).map((answer) => Number(answer.split(" ")[1]));
  assert.deepEqual(
    counts.toSorted((a, b) => a - b),
    Array.from(counts, (_, at) => at + 1),
  );
});

test("saving unchanged code does not reload a degraded module, but a request does", async (t) => {
  const degraded = COUNTER.replace(
    "start({ handedOver }) {",
    'start({ handedOver, status }) { status.degraded("the lamp is away");',
  );
  const { registry, edit, once, services } = await startModules(t, {
    counter: { ...counter, "index.ts": degraded },
    later: { "package.json": packageJson("later"), "index.ts": COUNTER, "greeting.ts": GREETING },
  });
  await once("counter", ({ state }) => state === "degraded");

  await edit("counter/greeting.ts", (source) => `${source}// a comment\n`);
  await edit("later/greeting.ts", (source) => source.replace("hello", "later"));
  await once("later", ({ generation }) => generation === 2);
  await edit("counter/greeting.ts", (source) => source.replace("hello", "bye"));
  // A request during that reload would join it.
  const isDone = (view: ModuleView) =>
    view.lastReload?.result === "reloaded" && view.state === "degraded";
  await once("counter", isDone);
  const answer = await ask(services);
  const { reload } = await registry.reload("counter");

  assert.match(answer, /^bye/);
  assert.equal(reload.result, "reloaded");
  assert.equal(registry.get("counter").generation, 3, "by the real change, and as asked for");
});

test("if handOver fails, the new code starts without state, and the log names the line", async (t) => {
  const { registry, services, edit, once } = await startModules(t, { counter });
  await edit("counter/index.ts", (source) =>
    source.replace("({ count })", '{ throw new Error("no count today"); }'),
  );
  await once("counter", ({ generation }) => generation === 2);
  assert.equal(await ask(services), "hello 1");

  await edit("counter/index.ts", () => COUNTER);
  const view = await once("counter", ({ generation, lastReload }) => {
    return generation === 3 && lastReload?.stateHandedOver === false;
  });

  assert.equal(view.lastReload?.result, "reloaded");
  assert.equal(await ask(services), "hello 1");
  const [told] = registry.logs("counter", { level: "warn" });
  assert.equal(told?.sentence, "the old code handed over no state; the new code starts without it");
  assert.match(String(told?.fields?.["error"]), /no count today\n.*counter\/index\.ts:11:/);
});

test("a state that does not fit the new code is not given to it, and the log says why", async (t) => {
  const { registry, services, edit, once } = await startModules(t, { counter });
  assert.equal(await ask(services), "hello 1");

  await edit("counter/index.ts", (source) => source.replace("Type.Integer()", "Type.String()"));
  const { generation, lastReload } = await once("counter", (view) => view.lastReload !== null);

  assert.equal(await ask(services), "hello 1");
  assert.deepEqual([generation, lastReload?.stateHandedOver], [2, false]);
  const told = registry.logs("counter", { level: "warn" });
  const record = told.find(({ sentence }) => sentence.includes("does not fit the new code"));
  assert.match(String(record?.fields?.["error"]), /^\/count /);
});

test("a hundred requests to reload are at most two reloads", async (t) => {
  const { registry, edit } = await startModules(t, { counter });

  await edit("counter/greeting.ts", () => 'export const greeting = "many";\n');
  const all = await Promise.all(Array.from({ length: 100 }, () => registry.reload("counter")));

  assert.ok(registry.get("counter").generation <= 3);
  assert.ok(all.every(({ reload }) => reload.result === "reloaded"));
});

test("a host that starts with broken code runs the last good version", async (t) => {
  const first = await startModules(t, { counter });
  await first.stop();
  await first.write("counter/index.ts", "export default ;");

  const { registry, services, write, once } = await startModules(t, {}, first.home);
  const { state, lastReload } = registry.get("counter");

  assert.equal(await ask(services), "hello 1");
  assert.equal(state, "active");
  assert.equal(lastReload?.result, "rolled_back");
  assert.equal(lastReload?.error?.file, "index.ts");

  await write("counter/index.ts", COUNTER.replace("count}", "count} mended"));
  await once("counter", ({ lastReload: last }) => last?.result !== "rolled_back");
  assert.equal(registry.get("counter").state, "active");
});

test("a host that starts with a broken manifest runs the last good version", async (t) => {
  const first = await startModules(t, { counter });
  await first.stop();
  await first.write("counter/package.json", "{");

  const { registry, services } = await startModules(t, {}, first.home);

  assert.equal(await ask(services), "hello 1");
  assert.match(registry.get("counter").lastReload?.error?.message ?? "", /is not JSON/);
  const reasons = registry.logs("counter").map(({ fields }) => String(fields?.["message"]));
  for (const reason of reasons) assert.match(reason, /package\.json is not JSON/);
});
