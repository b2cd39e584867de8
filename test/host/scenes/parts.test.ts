import assert from "node:assert/strict";
import { test } from "node:test";
import { blind, fanWithLight } from "../devices/open-devices.ts";
import { faultsOf, openScenes } from "./open-scenes.ts";

const ID = "host:scene:evening";
const LOCK = {
  nativeId: "door",
  kind: "lock",
  name: "Door",
  capabilities: { locked: { type: "boolean" }, code: { type: "text" } },
  state: { locked: true },
} as const;

test("a scene has parts, extras and commands without state, and sends them as they are", async (t) => {
  const { bridge, devices, scenes } = await openScenes(t);
  await devices.publish("b", [fanWithLight(), blind()]);
  const targets = {
    "demo:fan:1": { on: true, parts: { light: { brightness: 20 } }, extra: { childLock: true } },
    "demo:cover:1": { stop: true },
  };

  const stored = await scenes.put(ID, { name: "Evening", targets });
  const { status } = await scenes.activate(ID);

  assert.deepEqual([stored.targets, status], [targets, "ok"]);
  assert.deepEqual(
    bridge.asked.map(({ command, beyond }) => [command, beyond]),
    [
      [
        { on: true },
        { parts: { light: { on: true, brightness: 20 } }, extra: { childLock: true } },
      ],
      [{ stop: true }, undefined],
    ],
  );
});

test("a scene with readings, unknown parts, wrong commands or codes is refused with every fault", async (t) => {
  const { devices, scenes } = await openScenes(t);
  await devices.publish("b", [fanWithLight(), blind(), LOCK]);

  await assert.rejects(
    scenes.put(ID, {
      name: "Evening",
      targets: {
        "demo:fan:1": {
          parts: { light: { power: 3 }, lamp: { on: true } },
          extra: { linkQuality: 3 },
        },
        "demo:cover:1": { stop: false, position: 101 },
        "demo:lock:1": { locked: false, code: "1234" },
      },
    }),
    faultsOf([
      "/targets/demo:fan:1/parts/light/power",
      "/targets/demo:fan:1/parts/lamp",
      "/targets/demo:fan:1/extra/linkQuality",
      "/targets/demo:cover:1/stop",
      "/targets/demo:cover:1/position",
      "/targets/demo:lock:1/code",
    ]),
  );
});

test("fields that a device has moved into parts and extras since are sent there", async (t) => {
  const { bridge, devices, scenes } = await openScenes(t);
  const on = { type: "boolean" } as const;
  const gangs = { nativeId: "gangs", kind: "switch", name: "Gangs", state: {} } as const;
  await devices.publish("b", [
    { ...gangs, capabilities: { onLeft: on, onBottomRight: on, childLock: on, gone: on } },
  ]);
  const target = { onLeft: true, onBottomRight: false, childLock: true };
  await scenes.put(ID, { name: "Evening", targets: { "demo:switch:1": target } });

  const part = (id: string) =>
    ({ id, kind: "switch", name: id, capabilities: { on }, state: {} }) as const;
  await devices.publish("b", [
    {
      ...gangs,
      capabilities: {},
      parts: [part("left"), part("bottom-right")],
      extra: { capabilities: { childLock: { ...on, group: "configuration" } }, state: {} },
    },
  ]);
  const moved = scenes.get(ID).targets["demo:switch:1"];
  const { status } = await scenes.activate(ID);

  assert.equal(status, "ok");
  assert.deepEqual(moved, {
    parts: { left: { on: true }, "bottom-right": { on: false } },
    extra: { childLock: true },
  });
  assert.deepEqual(bridge.asked.at(-1)?.beyond, moved);
  assert.deepEqual(await scenes.put(ID, { name: "Evening", targets: scenes.get(ID).targets }), {
    ...scenes.get(ID),
  });
});
