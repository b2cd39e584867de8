import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "@mantel/plugin-sdk/errors";
import { packageJson, startModules } from "../helpers/module.ts";
import { until } from "../helpers/until.ts";
import { bridge, startMisbehavingBridge } from "./misbehaving-bridge.ts";

test("an answer that is too large fails that call alone, with its size", async (t) => {
  const { services, assertStillWorks } = await startMisbehavingBridge(
    t,
    "",
    `[provide(answer, () => "x".repeat(20 * 2 ** 20))]`,
  );

  await assert.rejects(services.call("odd.answer", {}), /answer of a call has 20\.0 MiB/);

  await assertStillWorks();
});

/** Calls that the host refuses, and what it says. */
const REFUSED: readonly (readonly [what: string, call: string, reason: RegExp])[] = [
  [
    "a device with the id of another bridge",
    `ctx.devices.publish([{ nativeId: "lamp", kind: "light", name: "Lamp", state: {}, capabilities: {},
      id: "hue:light:1", bridgeKind: "hue" }])`,
    /the device list of odd.*is not a known key/s,
  ],
  ["no list of devices", `ctx.devices.publish("many")`, /the device list of odd/],
  [
    "a state that is not a value of its capability",
    `ctx.devices.publish([{ nativeId: "lamp", kind: "light", name: "Lamp", state: { on: "yes" },
      capabilities: { on: { type: "boolean" } } }])`,
    /the device list of odd/,
  ],
  [
    "a window of the wrong type",
    `ctx.publish("calendar.window", { events: "many" })`,
    /calendar\.window of odd/,
  ],
  [
    "what its manifest does not name",
    `ctx.publish("weather.forecast", {})`,
    /is gone; define a channel/,
  ],
  [
    "more than a message holds",
    `ctx.publish("calendar.window", { events: "x".repeat(9 * 2 ** 20) })`,
    /9\.0 MiB/,
  ],
];

test("data of the wrong type, size or owner is refused by name, and the module continues", async (t) => {
  const calls = REFUSED.map(([what, call]) => `["${what}", () => ${call}]`);
  const { registry, assertStillWorks, devices } = await startMisbehavingBridge(
    t,
    `for (const [what, call] of [${calls.join(", ")}] as [string, () => Promise<void>][]) {
       await call().catch((error: Error) => ctx.log.error(what, { reason: String(error) }));
     }`,
  );

  const reasons = new Map(
    registry.logs("odd").map((each) => [each.sentence, each.fields?.["reason"]]),
  );
  for (const [what, , reason] of REFUSED) assert.match(String(reasons.get(what)), reason, what);
  assert.equal(devices.list().length, 1);
  await assertStillWorks();
});

test("a service that another module provides is not given to a second one", async (t) => {
  const first = {
    ...bridge(""),
    "package.json": packageJson("first", { provides: ["odd.answer"] }),
  };
  const source = `import { definePlugin, defineService, provide, Type } from "@mantel/plugin-sdk";
const answer = defineService("odd.answer", { input: Type.Object({}), output: Type.String() });
export default definePlugin({ start: () => ({ services: [provide(answer, () => "mine")] }) });`;
  const { registry, services } = await startModules(t, {
    first: { ...first, "index.ts": source },
    second: {
      "package.json": packageJson("second", { provides: ["odd.answer"] }),
      "index.ts": source,
    },
  });

  const failed = registry.list().filter(({ state }) => state === "failed");
  const [id] = failed.map((module) => module.id);
  assert.equal(failed.length, 1);
  assert.match(failed[0]?.error?.message ?? "", new RegExp(`^${id} provides odd.answer, which`));
  assert.equal(await services.call("odd.answer", {}), "mine");
});

test("an update of another module's device is refused, and the other updates are applied", async (t) => {
  const { assertStillWorks, devices } = await startMisbehavingBridge(
    t,
    `ctx.devices.update({ nativeId: "another", state: { on: true } }, { nativeId: 7 } as any);`,
  );

  await assertStillWorks();
  assert.equal(devices.list().length, 1);
});

test("a refused update is in the module's log, with its location and count", async (t) => {
  const { registry, assertStillWorks } = await startMisbehavingBridge(
    t,
    `for (let n = 0; n < 1_000; n++) ctx.devices.event("lamp-" + n, "on");
    ctx.devices.update({ nativeId: "lamp", state: { on: "yes" } });`,
  );

  await assertStillWorks();

  const told = registry.logs("odd").map(({ sentence, level, fields = {} }) => {
    const [fault] = fields["errors"] as readonly Fault[];
    return [level, sentence, fields["count"], fault?.pointer];
  });
  const event = (count: number) => ["warn", "refused an event of a device", count, "/nativeId"];
  assert.deepEqual(told, [
    ...[1, 10, 100, 1_000].map(event),
    ["warn", "refused an update of devices", 1, "/state/on"],
  ]);
});

test("a device update by a plugin that is not a bridge is logged, with the line to add", async (t) => {
  const source = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ async start({ devices }) {
  devices.update({ nativeId: "lamp", state: { on: true } });
  return {};
} });`;
  const { registry } = await startModules(t, {
    odd: { "package.json": packageJson("odd"), "index.ts": source },
  });

  const [told] = await until(() => {
    const entries = registry.logs("odd");
    return entries.length > 0 && entries;
  });

  assert.equal(told?.sentence, "refused an update of devices");
  assert.match(String(told?.fields?.["error"]), /add "bridge" with its "kind" to "mantel"/);
});

test("a failed call of a plugin is logged once, with its location", async (t) => {
  const { services, registry, assertStillWorks } = await startMisbehavingBridge(
    t,
    "",
    `[provide(answer, () => { throw new Error("no calendar"); })]`,
  );

  await assert.rejects(services.call("odd.answer", {}), /no calendar/);

  const told = registry.logs("odd").map(({ fields }) => String(fields?.["error"]));
  assert.equal(told.length, 1, told.join());
  assert.match(told[0] ?? "", /no calendar[^]*index\.ts:\d+/);
  await assertStillWorks();
});

/** Ways not to give a state, and what the log says of each; a loop that hardly gets CPU time is only late. */
const UNREST: readonly (readonly [code: string, said: string, cause: RegExp])[] = [
  [`throw new Error("no state");`, "handed over no state", /no state[^]*index\.ts:\d+/],
  [
    "for (;;);",
    "did not quiesce",
    /did not answer for.*look for an endless loop|quiesce timed out after/,
  ],
  ["process.exit(3);", "did not quiesce", /exited with code 3/],
];

for (const [code, said, cause] of UNREST) {
  test(`a quiesce with "${code}" loses the state, logs the reason, and the new code works`, async (t) => {
    const handOver = `[], handOver() { ${code} }`;
    const { registry, once, edit, assertStillWorks } = await startMisbehavingBridge(
      t,
      "",
      handOver,
    );

    await edit("odd/index.ts", (source) => source.replace(handOver, "[]"));
    await once("odd", ({ generation }) => generation === 2, 30_000);

    const told = registry.logs("odd").find(({ sentence }) => sentence.includes(said));
    assert.match(String(told?.fields?.["error"]), cause);
    await assertStillWorks();
  });
}

test("a hanging quiesce is cut off, and the new code works", async (t) => {
  const { registry, once, edit, assertStillWorks } = await startMisbehavingBridge(
    t,
    "ctx.onDispose(() => new Promise(() => undefined));",
  );

  await edit("odd/index.ts", (source) => source.replace("ctx.onDispose(", "void ("));
  await once("odd", ({ generation }) => generation === 2, 30_000);

  const sentences = registry.logs("odd").map(({ sentence }) => sentence);
  assert.ok(sentences.some((sentence) => sentence.includes("did not quiesce")));
  await assertStillWorks();
});
