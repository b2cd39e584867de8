import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../helpers/until.ts";
import { startMisbehavingBridge } from "./misbehaving-bridge.ts";

for (const [what, print] of [
  ["records", "ctx.log.info('again', { n })"],
  ["console lines", "console.log('again', n)"],
] as const) {
  test(`a flood of ${what} is counted, and the module continues`, async (t) => {
    const { logDrops, assertStillWorks, registry } = await startMisbehavingBridge(
      t,
      `setInterval(() => { for (let n = 0; n < 5_000; n++) ${print}; }, 10);`,
    );

    await until(() => logDrops() > 20_000, { withinMs: 30_000 });

    assert.ok(registry.logs("odd").length <= 500);
    await assertStillWorks();
  });
}

test("a flood of output is throttled, and the module continues", async (t) => {
  const { logDrops, assertStillWorks } = await startMisbehavingBridge(
    t,
    `setInterval(() => process.stdout.write("again\\n".repeat(200)), 10);`,
  );

  await until(() => logDrops() > 10_000, { withinMs: 30_000 });

  await assertStillWorks();
});

test("a very long printed line is cut", async (t) => {
  const { sentences, assertStillWorks } = await startMisbehavingBridge(
    t,
    `process.stdout.write("x".repeat(10 * 2 ** 20)); process.stdout.write("\\nnext\\n");`,
  );

  await until(() => sentences().includes("next"));

  assert.deepEqual(
    sentences().map(({ length }) => length),
    [4_000, "next".length],
  );
  await assertStillWorks();
});

test("large log records are cut, and fields that are not JSON become text", async (t) => {
  const { registry, assertStillWorks } = await startMisbehavingBridge(
    t,
    `ctx.log.info("big", { text: "x".repeat(2 ** 20) }); ctx.log.info("odd", { n: 1n });`,
  );

  await until(() => registry.logs("odd").length === 2);

  const [big, odd] = registry.logs("odd");
  assert.equal(JSON.stringify(big?.fields?.["cut"]).length < 10_000, true);
  assert.deepEqual(odd?.fields, { n: "1n" });
  await assertStillWorks();
});
