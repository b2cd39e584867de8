import assert from "node:assert/strict";
import { test } from "node:test";
import { capturedCommand } from "@mantel/plugin-sdk/scene-capture";

const capabilities = {
  on: { type: "boolean" },
  brightness: { type: "number", min: 0, max: 100 },
  power: { type: "number", readOnly: true },
} as const;

test("a scene only turns off a lamp that is off, without a level", () => {
  const command = capturedCommand({ capabilities, state: { on: false, brightness: 40, power: 0 } });

  assert.deepEqual(command, { on: false });
});

test("read-only and unknown values are not part of a command", () => {
  const command = capturedCommand({
    capabilities,
    state: { on: true, brightness: null, power: 8 },
  });

  assert.deepEqual(command, { on: true });
});

test("a scene has the volume of a player, and not the position in a track", () => {
  const player = {
    volume: { type: "number", min: 0, max: 100 },
    elapsed: { type: "number", min: 0, unit: "s" },
  } as const;

  const command = capturedCommand({ capabilities: player, state: { volume: 35, elapsed: 82 } });

  assert.deepEqual(command, { volume: 35 });
});

test("no command is derived from a sensor", () => {
  const { power } = capabilities;

  assert.deepEqual(capturedCommand({ capabilities: { power }, state: { power: 3 } }), {});
});

test("the parts and main extras of a device are restored, commands and configuration are left out", () => {
  const command = capturedCommand({
    capabilities: {
      position: { type: "number", min: 0, max: 100 },
      action: { type: "choice", values: ["opening", "stopped"], readOnly: true },
      stop: { type: "command" },
    },
    state: { position: 30, action: "stopped" },
    parts: [
      { id: "light", kind: "light", name: "Light", capabilities, state: { on: true } },
      { id: "lamp", kind: "light", name: "Lamp", capabilities, state: { on: false } },
      { id: "meter", kind: "sensor", name: "", capabilities, state: { power: 3 } },
    ],
    extra: {
      capabilities: {
        scene: { type: "choice", values: ["calm"], group: "main" },
        childLock: { type: "boolean", group: "configuration" },
        linkQuality: { type: "number", readOnly: true, group: "diagnostic" },
      },
      state: { scene: "calm", childLock: true, linkQuality: 8 },
    },
  });

  assert.deepEqual(command, {
    position: 30,
    parts: { light: { on: true }, lamp: { on: false } },
    extra: { scene: "calm" },
  });
});

test("a thermostat's target and mode are restored", () => {
  const target = { type: "number", min: 5, max: 30, unit: "°C" } as const;
  const command = capturedCommand({
    capabilities: {
      temperature: { type: "number", unit: "°C", readOnly: true },
      targetTemperature: target,
      mode: { type: "choice", values: ["off", "heat"] },
    },
    state: { temperature: 19, targetTemperature: 21.5, mode: "heat" },
  });

  assert.deepEqual(command, { targetTemperature: 21.5, mode: "heat" });
});
