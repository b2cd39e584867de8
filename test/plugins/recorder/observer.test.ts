import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk";
import { toDevice } from "../../../plugin-sdk/testing-device.ts";
import { Observer } from "../../../plugins/recorder/observer.ts";

const LAMP = toDevice({
  id: "demo:light:1",
  name: "Lamp",
  capabilities: { on: { type: "boolean" }, brightness: { type: "number", min: 0, max: 100 } },
  state: { on: true, brightness: 10 },
  extra: {
    capabilities: { linkQuality: { type: "number", readOnly: true, group: "diagnostic" } },
    state: { linkQuality: 80 },
    pending: {},
  },
});
const ANNA = { kind: "person", id: "t1", name: "Anna" } as const;
const EMPTY = { devices: [], series: [], unreachable: [] };
const lampWith = (change: Partial<Device>): Device => ({ ...LAMP, ...change });

function observing(device = LAMP) {
  const observer = new Observer(EMPTY, () => true);
  observer.found(device, 1_000);
  observer.take();
  return observer;
}

test("a device as it is found is recorded with all its fields, those of extras too", () => {
  const observer = new Observer(EMPTY, () => true);
  observer.found(LAMP, 1_000);

  const { devices, series, points, entries } = observer.take();

  assert.deepEqual(devices, [{ id: LAMP.id, name: "Lamp", room: null, kind: "light" }]);
  assert.deepEqual(
    series.map(({ field }) => field),
    ["on", "brightness", "extra.linkQuality"],
  );
  assert.deepEqual([points.value, entries.length, observer.isEmpty], [[1, 10, 80], 0, true]);
});

test("values that a stored history has already are not recorded again", () => {
  const row = { id: 7, device: LAMP.id, field: "on", unit: null, isCounter: false, value: 1 };
  const observer = new Observer({ ...EMPTY, series: [row] }, () => true);
  observer.found(LAMP, 1_000);

  const { series, points } = observer.take();
  assert.deepEqual(
    [series.map(({ id }) => id), points.series],
    [
      [8, 9],
      [8, 9],
    ],
  );
});

test("an unreachable device has unknown values until it is back", () => {
  const observer = observing();
  const gone = lampWith({ available: false });
  observer.changed(gone, LAMP, undefined, 2_000);
  observer.changed(LAMP, gone, undefined, 3_000);

  const { points, entries } = observer.take();
  assert.deepEqual(points.value, [NaN, NaN, NaN, 1, 10, 80]);
  assert.deepEqual(
    entries.map(({ kind, to }) => [kind, to]),
    [
      ["availability", "false"],
      ["availability", "true"],
    ],
  );
});

test("after an interruption values are unknown until they are reported again", () => {
  const observer = observing();
  observer.interrupted(2_000);
  observer.found(LAMP, 9_000);

  assert.deepEqual(observer.take().points.at, [2_000, 2_000, 2_000, 9_000, 9_000, 9_000]);
});

test("the steps of a dimming lamp are one entry", () => {
  const observer = observing();
  let before = LAMP;
  for (const brightness of [20, 30, 40]) {
    const now = lampWith({ state: { on: true, brightness } });
    observer.changed(now, before, ANNA, 2_000);
    before = now;
  }

  const { entries, points } = observer.take();
  assert.deepEqual(
    entries.map(({ from, to }) => [from, to]),
    [["10", "40"]],
  );
  assert.deepEqual(points.value, [20, 30, 40]);
});

test("a lamp that dims and returns to its brightness is not an entry", () => {
  const observer = observing();
  let before = LAMP;
  for (const brightness of [20, 30, 10]) {
    const now = lampWith({ state: { on: true, brightness } });
    observer.changed(now, before, ANNA, 2_000);
    before = now;
  }

  assert.deepEqual(observer.take().entries, []);
});

test("each change of a switch and of a mode is an entry", () => {
  const capabilities: Device["capabilities"] = {
    on: { type: "boolean" },
    mode: { type: "choice", values: ["auto", "heat", "off"] },
  };
  const switched = (on: boolean, mode: string) => lampWith({ capabilities, state: { on, mode } });
  let before = switched(false, "auto");
  const observer = observing(before);
  for (const now of [switched(true, "heat"), switched(false, "off"), switched(true, "auto")]) {
    observer.changed(now, before, ANNA, 2_000);
    before = now;
  }

  const { entries } = observer.take();
  const changesOf = (field: string) =>
    entries.filter(({ what }) => what === field).map(({ from, to }) => [from, to]);
  assert.deepEqual(changesOf("on"), [
    ["false", "true"],
    ["true", "false"],
    ["false", "true"],
  ]);
  assert.deepEqual(changesOf("mode"), [
    ['"auto"', '"heat"'],
    ['"heat"', '"off"'],
    ['"off"', '"auto"'],
  ]);
});

test("a device that changes all the time has at most 60 entries a minute", () => {
  const observer = observing();
  let before = LAMP;
  for (let index = 0; index < 500; index++) {
    const now = lampWith({ state: { on: index % 2 === 0, brightness: 10 } });
    observer.changed(now, before, { kind: "person", id: `${index}`, name: "Anna" }, 2_000 + index);
    before = now;
  }
  observer.changed(LAMP, before, { kind: "person", id: "last", name: "Anna" }, 70_000);

  assert.equal(observer.take().entries.length, 61);
});

test("a renamed, a new and a removed device and a gesture are entries", () => {
  const observer = observing();
  const renamed = lampWith({ name: "Hall lamp" });
  observer.changed(renamed, LAMP, undefined, 2_000);
  observer.happened(
    { deviceId: LAMP.id, event: "single", at: "1970-01-01T00:00:02Z", data: { side: 2 } },
    3_000,
  );
  observer.changed(undefined, renamed, undefined, 4_000);
  observer.changed(renamed, undefined, undefined, 5_000);

  const { entries, devices } = observer.take();
  assert.deepEqual(
    entries.map(({ kind, what, from, to }) => [kind, what, from, to]),
    [
      ["renamed", "name", '"Lamp"', '"Hall lamp"'],
      ["event", "single", null, '"{\\"side\\":2}"'],
      ["removed", "removed", null, null],
      ["added", "added", null, null],
    ],
  );
  assert.equal(devices[0]?.name, "Hall lamp");
});

test("diagnostic values are in the logbook only if somebody changed them", () => {
  const observer = observing();
  const capabilities = { childLock: { type: "boolean", group: "configuration" } } as const;
  const locked = (childLock: boolean) =>
    lampWith({ extra: { capabilities, state: { childLock }, pending: {} } });
  observer.changed(locked(true), locked(false), undefined, 2_000);
  observer.changed(locked(false), locked(true), ANNA, 3_000);

  assert.deepEqual(
    observer.take().entries.map(({ what, cause }) => [what, cause.kind]),
    [["extra.childLock", "person"]],
  );
});

test("the progress of a player is in the logbook only if somebody moved it", () => {
  const capabilities = { elapsed: { type: "number", min: 0 } } as const;
  const at = (elapsed: number) => lampWith({ capabilities, state: { elapsed } });
  const observer = observing(at(10));
  observer.changed(at(30), at(10), undefined, 2_000);
  observer.changed(at(120), at(30), ANNA, 3_000);

  assert.deepEqual(
    observer.take().entries.map(({ to, cause }) => [to, cause.kind]),
    [["120", "person"]],
  );
});

test("a known device that its bridge publishes again after a start is not a new one", () => {
  const device = { id: LAMP.id, name: "Lamp", room: null, kind: "light" };
  const observer = new Observer({ ...EMPTY, devices: [device] }, () => true);
  observer.changed(LAMP, undefined, undefined, 1_000);

  const { entries, points } = observer.take();
  assert.deepEqual([entries, points.value], [[], [1, 10, 80]]);
});

test("a device whose bridge connects after the start is not an entry, nor is its first state", () => {
  const observer = new Observer(EMPTY, () => true);
  const unconnected = lampWith({ available: false, state: { on: false, brightness: 10 } });
  observer.found(unconnected, 1_000);
  observer.changed(LAMP, unconnected, { kind: "module", id: "demo", name: "Demo" }, 2_000);

  const { entries, points } = observer.take();
  assert.deepEqual([entries, points.value], [[], [1, 10, 80]]);
});

test("a new device whose bridge connects later is only the entry of a new one", () => {
  const observer = new Observer(EMPTY, () => true);
  const unconnected = lampWith({ available: false });
  observer.changed(unconnected, undefined, undefined, 1_000);
  observer.changed(LAMP, unconnected, undefined, 2_000);

  assert.deepEqual(
    observer.take().entries.map(({ what }) => what),
    ["added"],
  );
});

test("a device that the logbook calls unreachable is back when it is seen after a restart", () => {
  const observer = new Observer({ ...EMPTY, unreachable: [LAMP.id] }, () => true);
  const unconnected = lampWith({ available: false });
  observer.found(unconnected, 1_000);
  observer.changed(LAMP, unconnected, undefined, 2_000);
  observer.found(LAMP, 3_000);

  assert.deepEqual(
    observer.take().entries.map(({ at, kind, from, to }) => [at, kind, from, to]),
    [[2_000, "availability", "false", "true"]],
  );
});

const FAILURE = {
  deviceId: LAMP.id,
  at: "1970-01-01T00:00:02Z",
  command: { on: true },
  error: { code: "deadline_passed", detail: "the lamp does not answer" },
  cause: ANNA,
};

test("a failed command is an entry with the command, the reason and the cause", () => {
  const observer = observing();
  observer.failed(FAILURE, 3_000);
  observer.failed({ ...FAILURE, deviceId: "demo:light:9" }, 3_000);

  assert.deepEqual(observer.take().entries, [
    {
      at: 2_000,
      kind: "failed",
      device: LAMP.id,
      what: "deadline_passed",
      from: JSON.stringify('{"on":true}'),
      to: '"the lamp does not answer"',
      cause: ANNA,
    },
  ]);
});

test("a refusal because of a rate limit is an entry unless the sender sends the command again", () => {
  const observer = observing();
  const error = { code: "bridge_rate_limited", detail: "too many" };
  const evening = { kind: "automation", id: "evening", name: "Evening" } as const;
  observer.failed({ ...FAILURE, error }, 3_000);
  observer.failed({ ...FAILURE, error, cause: evening }, 3_000);

  assert.deepEqual(
    observer.take().entries.map(({ cause }) => cause.kind),
    ["automation"],
  );
});

test("an activated scene is an entry, whose cause is the scene and who activated it", () => {
  const observer = observing();
  const movie = { sceneId: "host:scene:movie", name: "Movie", activationId: "1", at: FAILURE.at };
  observer.activated({ ...movie, status: "ok", cause: ANNA }, 3_000);
  const error = { code: "bridge_down", detail: "the bridge is down" };
  observer.activated({ ...movie, status: "failed", error }, 3_000);

  const scene = { kind: "scene", id: "host:scene:movie", name: "Movie" };
  assert.deepEqual(
    observer
      .take()
      .entries.map(({ kind, device, what, to, cause }) => [kind, device, what, to, cause]),
    [
      ["scene", null, "ok", null, { ...scene, parent: ANNA }],
      ["scene", null, "failed", '"the bridge is down"', scene],
    ],
  );
});
