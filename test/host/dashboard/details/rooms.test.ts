import assert from "node:assert/strict";
import { test } from "node:test";
import "../../../helpers/page/light-dom.ts";
import type { Device } from "@mantel/plugin-sdk/device";
import type { Place } from "../../../../host/dashboard/widget-context.ts";
import { deviceOf } from "../../../helpers/device.ts";

const { changedBy, restoring } = await import("../../../../host/dashboard/details/room-command.ts");
const { levelOf, roomLevel, scaledLevels } =
  await import("../../../../host/dashboard/details/room-levels.ts");
const { apart } = await import("../../../../host/dashboard/details/room-view.ts");

const lamp = (number: number, change: Partial<Device> = {}): Device =>
  deviceOf({ number, room: "Hall", state: { on: true }, ...change });

test("a command changes the reachable devices of its kind and room that can follow it and do not yet", () => {
  const devices = [
    lamp(1),
    lamp(2, { state: { on: false } }),
    lamp(3, { available: false }),
    lamp(4, { room: "Attic" }),
    lamp(5, { kind: "plug" }),
    lamp(6, { capabilities: {} }),
    lamp(7, { room: null, groups: ["Evening"] }),
  ];
  const numbers = (place: Place) =>
    changedBy(devices, { place, kind: "light", command: { on: false } }).map(
      ({ number }) => number,
    );

  assert.deepEqual(numbers({ room: "Hall" }), [1]);
  assert.deepEqual(numbers({ room: "" }), [1, 4, 7]);
  assert.deepEqual(numbers({ group: "Evening" }), [7]);
});

test("undo turns a lamp on again with its level, and leaves one that was off dark", () => {
  const dimmed = lamp(1, { state: { on: true, brightness: 40 } });
  const off = lamp(2, { state: { on: false, brightness: 40 } });

  assert.deepEqual(restoring(dimmed, { on: false }), { on: true });
  assert.deepEqual(restoring(dimmed, { brightness: 90 }), { on: true, brightness: 40 });
  assert.deepEqual(restoring(off, { on: true }), { on: false });
  assert.deepEqual(restoring(off, { brightness: 90 }), { on: false });
});

test("the level of a room is the mean of the lamps that are on", () => {
  const lights = [
    lamp(1, { state: { on: true, brightness: 60 } }),
    lamp(2, { state: { on: true, brightness: 20 } }),
    lamp(3, { state: { on: false, brightness: 90 } }),
  ];

  assert.deepEqual(lights.map(levelOf), [60, 20, 0]);
  assert.equal(roomLevel(lights), 40);
  assert.equal(levelOf(lamp(4)), 100, "a lamp without a level");
  assert.equal(roomLevel([]), 0);
});

test("a room's level keeps the differences between its lamps", () => {
  assert.deepEqual(scaledLevels([60, 20, 0], 20), [30, 10, 0]);
  assert.deepEqual(scaledLevels([60, 20], 80), [100, 40], "none above its most");
  assert.deepEqual(scaledLevels([99, 1], 5), [10, 1], "none goes out before all do");
  assert.deepEqual(scaledLevels([0, 0], 30), [30, 30]);
  assert.deepEqual(scaledLevels([60, 20], 0), [0, 0]);
});

test("marks are far enough from each other to be read", () => {
  assert.deepEqual(apart([0, 0, 0]), [0, 11, 22]);
  assert.deepEqual(apart([95, 100, 100]), [78, 89, 100]);
  assert.deepEqual(apart([10, 50]), [10, 50]);
});
