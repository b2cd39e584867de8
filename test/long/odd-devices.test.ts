import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault, MantelError } from "@mantel/plugin-sdk/errors";
import { startMisbehavingBridge } from "./misbehaving-bridge.ts";

const ON = `on: { type: "boolean" }`;
const PART = `{ id: "l1", kind: "light", name: "L1", capabilities: { ${ON} }, state: {} }`;
const device = (fields: string) =>
  `{ nativeId: "odd", kind: "fan", name: "Odd", capabilities: {}, state: {}, ${fields} }`;
const fan = (speeds: number) =>
  device(`capabilities: { ${ON}, speed: { type: "number", min: 0, max: 100, unit: "%", step: 100 / ${speeds} } },
    state: { speed: 100 }`);

/** Devices that the host refuses, and the location of the fault. */
const REFUSED: readonly (readonly [what: string, device: string, pointer: string])[] = [
  ["the same part twice", device(`parts: [${PART}, ${PART}]`), "/0/parts/1/id"],
  ["two kinds", device(`kind: ["fan", "light"]`), "/0/kind"],
  [
    "a value outside its range",
    device(
      `capabilities: { speed: { type: "number", max: 100, unit: "%" } }, state: { speed: 101 }`,
    ),
    "/0/state/speed",
  ],
  [
    "300 extras",
    device(`extra: { state: {}, capabilities: Object.fromEntries(Array.from({ length: 300 },
      (_, n) => ["x" + n, { type: "boolean", group: "main" }])) }`),
    "/0",
  ],
  ["a step of zero", fan(Infinity), "/0/capabilities/speed/step"],
  ["a part named __proto__", device(`parts: [{ ...${PART}, id: "__proto__" }]`), "/0/parts/0/id"],
  [
    "a state of a command",
    device(`kind: "cover", capabilities: { stop: { type: "command" } }, state: { stop: true }`),
    "/0/state/stop",
  ],
  ["parts that are not a list", device(`parts: { l1: ${PART} }`), "/0/parts"],
];

test("devices that contradict themselves are refused with their place, and the module continues", async (t) => {
  const calls = REFUSED.map(([what, each]) => `["${what}", ${each}]`);
  const { registry, assertStillWorks, devices } = await startMisbehavingBridge(
    t,
    `for (const [what, device] of [${calls.join(", ")}] as [string, any][]) {
       await ctx.devices.publish([device]).catch((error: any) => ctx.log.error(what, { errors: error.extras.errors }));
     }`,
  );

  const found = registry.logs("odd").map(({ sentence, fields }) => {
    const [fault] = (fields?.["errors"] ?? []) as readonly Fault[];
    return [sentence, fault?.pointer];
  });
  assert.deepEqual(
    found,
    REFUSED.map(([what, , pointer]) => [what, pointer]),
  );
  assert.equal(devices.list().length, 1);
  await assertStillWorks();
});

test("a fan of one or two hundred speeds, a cover without commands and no parts are served", async (t) => {
  const lamp = `{ nativeId: "lamp", kind: "light", name: "Lamp", state: { on: false }, capabilities: { ${ON} } }`;
  const { assertStillWorks, commands, devices } = await startMisbehavingBridge(
    t,
    `await ctx.devices.publish([${lamp}, ${fan(1)}, { ...${fan(200)}, nativeId: "fast" },
       { nativeId: "cover", kind: "cover", name: "Cover", state: { position: 5 }, parts: [],
         capabilities: { position: { type: "number", min: 0, max: 100, unit: "%", readOnly: true } } }] as any);`,
  );

  const steps = ["odd:fan:1", "odd:fan:2"].map((id) => devices.get(id).capabilities["speed"]);
  assert.deepEqual(
    steps.map((speed) => speed?.type === "number" && speed.step),
    [100, 0.5],
  );
  assert.equal("parts" in devices.get("odd:cover:1"), false);
  assert.throws(
    () => commands.send("odd:cover:1", { stop: true }),
    (error: MantelError) => {
      const detail = "is not a capability of the device; the device takes no commands";
      assert.deepEqual(error.extras.errors, [{ pointer: "/stop", detail }]);
      return true;
    },
  );
  await assertStillWorks();
});
