import assert from "node:assert/strict";
import { test } from "node:test";
import { definePlugin, type DeviceDescription, type DeviceState } from "@mantel/plugin-sdk";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { LAMP } from "./testing-lamp.ts";

test("an update with NaN, or of a part or extras that were not published, fails the test by name", async (t) => {
  const { nativeId: _, ...own } = LAMP;
  const part = { ...own, id: "light" };
  const withParts = { ...LAMP, nativeId: "lamp-2", parts: [part, { ...part, id: "fan" }] };
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([LAMP, withParts]);
        return {
          command: async (nativeId, state, _id, { parts, extra }) =>
            devices.update({ nativeId, state, parts, extra }),
        };
      },
    }),
  );
  const refusals: string[] = [];
  const emit = t.mock.method(process, "emit", (event: string, reason: Error) => {
    refusals.push(`${event}: ${reason.message}`);
    return true;
  });

  await host.command("lamp-1", {}, { parts: { light: { on: true } } });
  await host.command("lamp-2", {}, { parts: { door: { on: true } } });
  await host.command("lamp-1", {}, { extra: { childLock: true } });
  await host.command("lamp-1", { on: Number.NaN });
  await new Promise((done) => setImmediate(done));
  emit.mock.restore();

  assert.deepEqual(refusals, [
    "unhandledRejection: lamp-1 was published without part light",
    "unhandledRejection: lamp-2 was published without part door",
    "unhandledRejection: lamp-1 was published without extras",
    "unhandledRejection: an update of lamp-1 is invalid: /state/on is NaN; use null for an unknown number",
  ]);
  await host.stop();
});

test("the error of a refused update has the plugin's line, and the other updates are applied", async (t) => {
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([LAMP]);
        const setLamp = (state: DeviceState) => devices.update({ nativeId: "lamp-1", state });
        return {
          command: async () => {
            setLamp({ on: "yes" });
            setLamp({ on: true });
          },
        };
      },
    }),
  );
  const reasons: Error[] = [];
  const emit = t.mock.method(process, "emit", (_event: string, reason: Error) =>
    reasons.push(reason),
  );

  await host.command("lamp-1", {});
  await new Promise((done) => setImmediate(done));
  emit.mock.restore();

  const [first = "", origin = ""] = reasons[0]?.stack?.split("\n") ?? [];
  assert.equal(
    first,
    'MantelError: an update of lamp-1 is invalid: /state/on is "yes"; expected true or false',
  );
  assert.match(origin, /at setLamp \(.*testing-devices\.test\.ts:\d+:\d+\)$/);
  assert.deepEqual([reasons.length, host.state("lamp-1")["on"]], [1, true]);
  await host.stop();
});

test("an update of one part leaves the others as they are", async () => {
  const { nativeId: _, ...own } = LAMP;
  const part = { ...own, id: "light" };
  const host = await startPlugin(
    definePlugin({
      async start({ devices }) {
        await devices.publish([{ ...LAMP, parts: [part, { ...part, id: "fan" }] }]);
        devices.update({ nativeId: "lamp-1", parts: { fan: { on: true } } });
      },
    }),
  );
  await Promise.resolve();

  const states = host.devices.get("lamp-1")?.parts?.map(({ id, state }) => [id, state["on"]]);
  assert.deepEqual(states, [
    ["light", false],
    ["fan", true],
  ]);
  await host.stop();
});

test("a device that uses a canonical name with another meaning is refused, as by the host", async () => {
  const publishing = (fields: Partial<DeviceDescription>) =>
    startPlugin(
      definePlugin({ start: ({ devices }) => devices.publish([{ ...LAMP, ...fields }]) }),
    );
  const kelvin = { type: "number", unit: "K" } as const;
  const part = { id: "light", kind: "light", name: "Light", state: {} } as const;

  const wrong: readonly (readonly [Partial<DeviceDescription>, string])[] = [
    [{ capabilities: { on: { type: "text" } }, state: {} }, "/0/capabilities/on"],
    [
      { parts: [{ ...part, capabilities: { brightness: kelvin } }] },
      "/0/parts/0/capabilities/brightness",
    ],
    [
      {
        extra: {
          capabilities: { effect: { type: "choice", values: ["a"], group: "main" } },
          state: {},
        },
      },
      "/0/extra/capabilities/effect",
    ],
  ];
  for (const [fields, pointer] of wrong) {
    await assert.rejects(publishing(fields), ({ code, extras }: MantelError) => {
      assert.deepEqual([code, extras.errors?.[0]?.pointer], ["invalid", pointer]);
      return true;
    });
  }
});

for (const [fault, device, message] of [
  [
    "a value of the wrong type",
    { ...LAMP, state: { on: 1 } },
    /\/0\/state\/on is 1; expected true/,
  ],
  ["a value out of range", { ...LAMP, state: { brightness: 101 } }, /a number from 0 to 100/],
  ["NaN", { ...LAMP, state: { on: Number.NaN } }, /\/0\/state\/on is NaN; use null for/],
  ["a value without a capability", { ...LAMP, state: { colour: 1 } }, /no such capability/],
  ["a field that does not exist", { ...LAMP, colour: "red" }, /the device list is invalid: /],
] as const) {
  test(`a device with ${fault} is refused`, async () => {
    const publishing = definePlugin({
      start: ({ devices }) => devices.publish([device as DeviceDescription]),
    });

    await assert.rejects(startPlugin(publishing), message);
  });
}

test("two devices with one native id are refused", async () => {
  const publishing = definePlugin({ start: ({ devices }) => devices.publish([LAMP, LAMP]) });

  await assert.rejects(startPlugin(publishing), /\/1\/nativeId is lamp-1, which another/);
});
