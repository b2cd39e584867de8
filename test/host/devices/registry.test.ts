import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { OWN } from "@mantel/plugin-sdk/device-sections";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { createBridge, lamp, openDevices } from "./open-devices.ts";

const RELAY = {
  kind: "switch",
  capabilities: { on: { type: "boolean" } },
  state: { on: false },
} as const;

test("a published device is served with its id and defaults for missing fields", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("hue-bridge", "hue")]);

  await devices.publish("hue-bridge", [lamp("a", { info: { model: "X1" } })]);

  const { lastSeenAt, stateChangedAt, revision, capabilities, ...rest } =
    devices.get("hue:light:1");
  assert.deepEqual(rest, {
    id: "hue:light:1",
    bridgeKind: "hue",
    kind: "light",
    number: 1,
    bridge: "hue-bridge",
    name: "a",
    room: null,
    groups: [],
    info: { manufacturer: null, model: "X1", serial: null, firmware: null },
    available: true,
    hidden: false,
    state: { on: false, brightness: 40 },
    pending: {},
  });
  assert.ok(lastSeenAt && stateChangedAt);
  assert.equal(revision, devices.revision);
  assert.deepEqual(Object.keys(capabilities), ["on", "brightness", "color", "effect", "power"]);
  assert.deepEqual(heard(), ["device.added hue:light:1"]);
});

test("a device is listed with a picture until it is published without one", async (t) => {
  const bridge = createBridge("home", "demo");
  const { devices } = await openDevices(t, [bridge]);

  await devices.publish("home", [lamp("a", { image: true }), lamp("b", { image: false })]);
  assert.deepEqual(
    [devices.get("demo:light:1").image, "image" in devices.get("demo:light:2")],
    [true, false],
  );

  await devices.publish("home", [lamp("a"), lamp("b")]);
  assert.equal("image" in devices.get("demo:light:1"), false);
});

test("the id is on the disk before the device is announced", async (t) => {
  const { devices, bus, dataFolder } = await openDevices(t, [createBridge("b", "demo")]);
  const onDisk: Promise<string>[] = [];
  bus.on(() => onDisk.push(readFile(join(dataFolder, "devices.json"), "utf8")));

  await devices.publish("b", [lamp("a")]);

  assert.deepEqual(JSON.parse((await onDisk[0]) ?? "").ids, {
    "demo:light:1": { bridge: "b", nativeId: "a" },
  });
});

test("a full publish that changes nothing announces nothing and keeps the revision", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a"), lamp("c")]);
  heard();
  const { revision } = devices;

  await devices.publish("b", [lamp("a"), lamp("c")]);

  assert.deepEqual(heard(), []);
  assert.equal(devices.revision, revision);
});

test("a device that is absent from a publish is removed and returns under its id", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a"), lamp("c")]);
  heard();

  await devices.publish("b", [lamp("c"), lamp("new")]);
  const withoutIt = heard();
  await devices.publish("b", [lamp("c"), lamp("new"), lamp("a", { name: "renamed" })]);

  assert.deepEqual(withoutIt, ["device.added demo:light:3", "device.removed demo:light:1"]);
  assert.deepEqual(heard(), ["device.added demo:light:1"]);
  assert.equal(devices.get("demo:light:1").name, "renamed");
});

test("a device that becomes another kind of device gets another id", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a")]);
  heard();

  await devices.publish("b", [lamp("a", RELAY)]);

  assert.deepEqual(heard(), ["device.added demo:switch:1", "device.removed demo:light:1"]);
  assert.equal(devices.idOf("b", "a"), "demo:switch:1");
});

test("an update that changes a value is announced once and its instant is noted", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a")]);
  const before = devices.get("demo:light:1");
  heard();

  await devices.update("b", [{ nativeId: "a", state: { on: true } }]);
  await devices.update("b", [{ nativeId: "a", state: { on: true } }]);

  const after = devices.get("demo:light:1");
  assert.deepEqual(heard(), ["device.state demo:light:1"]);
  assert.deepEqual(after.state, { on: true, brightness: 40 });
  assert.ok(after.revision > before.revision);
  assert.ok((after.stateChangedAt ?? "") >= (before.stateChangedAt ?? ""));
});

test("a device heard again after a minute updates its last-seen time without an event", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-20T12:00:00Z") });
  await devices.publish("b", [lamp("a")]);
  heard();
  const { revision } = devices;

  t.mock.timers.tick(59_999);
  await devices.update("b", [{ nativeId: "a", state: { on: false } }]);
  assert.equal(devices.revision, revision);
  t.mock.timers.tick(1_001);
  await devices.update("b", [{ nativeId: "a", state: { on: false } }]);

  assert.deepEqual(heard(), []);
  assert.equal(devices.get("demo:light:1").lastSeenAt, "2026-11-20T12:01:01.000Z");
  assert.equal(devices.get("demo:light:1").stateChangedAt, "2026-11-20T12:00:00.000Z");
  assert.ok(devices.revision > revision);
});

test("an invalid update is refused with every fault, and the others are applied", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a"), lamp("c")]);

  const updated = devices.update("b", [
    { nativeId: "a", state: { brightness: 150 } },
    { nativeId: "nobody", state: {} },
    { nativeId: "c", state: { brightness: 5, constructor: true } },
    { nativeId: "c", room: "Hall" },
    { nativeId: 7 },
    null,
    { nativeId: "c", state: { brightness: 7, power: null } },
  ]);
  const nonsense = devices.update("b", "nonsense");

  assert.deepEqual(devices.get("demo:light:1").state, { on: false, brightness: 40 });
  assert.deepEqual(devices.get("demo:light:2").state, { on: false, brightness: 7, power: null });
  await assert.rejects(nonsense, { code: "invalid" });
  const refusal: MantelError = await updated.then(
    () => assert.fail(),
    (error) => error,
  );
  assert.match(refusal.message, /^an update of b is invalid: \/room of c is not a known key/);
  assert.deepEqual(
    refusal.extras.errors?.map(
      ({ pointer, detail }) => `${pointer} ${detail}`.split(/;| which/)[0],
    ),
    [
      "/room of c is not a known key",
      "/nativeId is 7",
      " is null",
      "/state/brightness of a is 150",
      "/nativeId is nobody,",
      "/state/constructor of c has no capability",
    ],
  );
});

test("updates that come while a publish waits for the disk are applied after it, in order", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);

  const published = devices.publish("b", [lamp("a")]);
  const first = devices.update("b", [{ nativeId: "a", state: { brightness: 1 } }]);
  const second = devices.update("b", [{ nativeId: "a", state: { brightness: 2 } }]);
  await Promise.all([published, first, second]);

  assert.equal(devices.get("demo:light:1").state["brightness"], 2);
  assert.deepEqual(heard(), [
    "device.added demo:light:1",
    "device.state demo:light:1",
    "device.state demo:light:1",
  ]);
});

test("a bridge removed during a publish leaves no devices", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);

  const published = devices.publish("b", [lamp("a")]);
  devices.removeBridge("b");
  await published;

  assert.deepEqual(devices.list(), []);
  assert.deepEqual(heard(), ["device.added demo:light:1", "device.removed demo:light:1"]);
  assert.throws(() => devices.get("demo:light:1"), { code: "device_unknown" });
});

test("a list of 2,000 devices is taken in turns, whole and in order, and so is its JSON", async (t) => {
  const bridge = createBridge("b", "demo");
  const { devices, heard } = await openDevices(t, [bridge]);
  const list = (from: number, room: string) =>
    Array.from({ length: 2_000 }, (_, index) => lamp(`${from + index}`, { room }));
  await devices.publish("b", list(0, "old"));
  heard();

  const work = [
    devices.publish("b", list(10, "new")),
    devices.update("b", [{ nativeId: "20", state: { brightness: 7 } }]),
    devices.publish("b", list(10, "last")),
  ];
  const seen = new Set<string>();
  const progress = { isDone: false };
  let pending = 0;
  void Promise.all(work).then(() => (progress.isDone = true));
  for (let turns = 0; !progress.isDone; turns++) {
    if (turns > 0) assert.equal(devices.get("demo:light:31").pending["brightness"], turns - 1);
    devices.setPending("demo:light:31", new Map([[OWN, { brightness: (pending = turns) }]]));
    const shown = devices.list();
    const rooms = new Set(shown.map(({ room }) => room));
    const brightness = Number(devices.find("demo:light:21")?.state["brightness"]);
    seen.add([...rooms, brightness].join(" "));
    assert.equal(shown.length, 2_000);
    await turn();
  }

  const states = ["old 40", "new 40", "new 7", "last 40"];
  assert.ok(
    [...seen].every((each) => states.includes(each)),
    [...seen].join(),
  );
  assert.ok(devices.list().every(({ room }) => room === "last"));
  assert.deepEqual(devices.get("demo:light:31").pending, { brightness: pending });
  const announced = heard();
  for (const [topic, count] of Object.entries({ added: 10, removed: 10 })) {
    assert.equal(announced.filter((each) => each.startsWith(`device.${topic}`)).length, count);
  }
  assert.equal(new Set(announced).size, 2_020);
  const { body, revision } = await devices.snapshot();
  const { devices: listed } = JSON.parse(body.toString()) as { devices: { revision: number }[] };
  assert.deepEqual(listed, devices.list());
  assert.equal(Math.max(...listed.map((each) => each.revision)), revision);
});

test("5,000 devices, and 80 wrong capabilities of each, hold the host for no longer than 50 ms", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  const list = (room: string) =>
    Array.from({ length: 5_000 }, (_, index) => lamp(`${index}`, { room }));
  const names = Array.from({ length: 80 }, (_, index) => `c${index}`);
  const capabilities = Object.fromEntries(names.map((name) => [name, { type: "none", odd: 1 }]));
  const wrong = list("any").map((each) => ({ ...each, capabilities }));
  let room = 0;
  const work: Readonly<Record<string, () => Promise<unknown>>> = {
    "a list": () => devices.publish("b", list(`${++room}`)),
    "its JSON": () => devices.snapshot({ bridge: "b" }),
    "a wrong list": () => assert.rejects(devices.publish("b", wrong), { code: "invalid" }),
  };

  for (const [what, take] of Object.entries(work)) {
    // A turn may be long for what else the machine does; work that is too much at once is so each time.
    const turns = [];
    do {
      await devices.publish("b", list(`${++room}`));
      turns.push(await longestTurnMs(take));
    } while (Math.min(...turns) > 50 && turns.length < 6);
    t.diagnostic(`${what}: ${turns.map(Math.round).join(", ")} ms`);
    assert.ok(Math.min(...turns) <= 50, `${what} took ${turns.join(", ")} ms at once`);
  }
});

/** The longest that the process was busy at once with `work`, in ms of CPU time. */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  const progress = { isDone: false };
  await turn();
  let before = process.cpuUsage();
  const done = work().finally(() => (progress.isDone = true));
  while (!progress.isDone) {
    await turn();
    longest = Math.max(longest, process.cpuUsage(before).user);
    before = process.cpuUsage();
  }
  await done;
  return longest / 1_000;
}

test("a publish with faults lists them all and changes nothing", async (t) => {
  const { devices, heard } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a")]);
  heard();
  const bad = [
    lamp("x", { state: { on: "yes", volume: 3 } }),
    lamp("x"),
    lamp("y", { capabilities: { "Bad Name": { type: "boolean" } }, state: {} }),
    lamp("z", { capabilities: { level: { type: "number", min: 5, max: 1 } }, state: {} }),
  ];

  const publish = devices.publish("b", bad);

  await assert.rejects(publish, (error: MantelError) => {
    assert.equal(error.code, "invalid");
    assert.deepEqual(
      error.extras.errors?.map(({ pointer }) => pointer),
      [
        "/0/state/on",
        "/0/state/volume",
        "/1/nativeId",
        "/2/capabilities/Bad Name",
        "/3/capabilities/level/min",
      ],
    );
    return true;
  });
  assert.deepEqual(heard(), []);
  assert.deepEqual(
    devices.list().map(({ id }) => id),
    ["demo:light:1"],
  );
});

test("too many devices are refused before validation", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);

  const publish = devices.publish(
    "b",
    Array.from({ length: 5_001 }, (_, n) => ({ n })),
  );

  await assert.rejects(publish, { code: "invalid", message: /5001 devices/ });
});

test("a device with too many capabilities is refused", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  const names = Array.from({ length: 101 }, (_, n) => `value${n}`);
  const capabilities = Object.fromEntries(
    names.map((name) => [name, { type: "boolean" as const }]),
  );

  const publish = devices.publish("b", [lamp("a", { capabilities, state: {} })]);

  await assert.rejects(publish, { code: "invalid", message: /0\/capabilities has 101/ });
});

test("a module that is not a bridge cannot publish devices", async (t) => {
  const { devices } = await openDevices(t, []);

  await assert.rejects(devices.publish("clock", [lamp("a")]), { code: "invalid" });
});

test("devices are available only while their bridge is, and only the changed are announced", async (t) => {
  const bridge = createBridge("b", "demo");
  const { devices, heard } = await openDevices(t, [bridge]);
  await devices.publish("b", [lamp("a"), lamp("c", { available: false })]);
  heard();

  bridge.status = "down";
  devices.bridgeChanged("b");
  const down = devices.list().map(({ available }) => available);
  bridge.status = "degraded";
  devices.bridgeChanged("b");

  assert.deepEqual(down, [false, false]);
  assert.deepEqual(
    devices.list().map(({ available }) => available),
    [true, false],
  );
  assert.deepEqual(heard(), ["device.state demo:light:1", "device.state demo:light:1"]);
});

test("the list is built once per revision and contains the status of every bridge", async (t) => {
  const bridge = createBridge("b", "demo");
  const { devices } = await openDevices(t, [bridge, createBridge("dead", "hue")]);
  await devices.publish("b", [lamp("a", { room: "Attic" }), lamp("c")]);

  const first = await devices.snapshot();
  const second = await devices.snapshot({});
  await devices.update("b", [{ nativeId: "a", state: { on: true } }]);
  const third = await devices.snapshot();
  const filtered = await devices.snapshot({ bridge: "b" });

  assert.equal(second, first);
  assert.equal(await devices.snapshot({}), third);
  const list = JSON.parse(third.body.toString());
  assert.deepEqual(list.devices, devices.list());
  assert.deepEqual(
    list.bridges.map(({ id }: { id: string }) => id),
    ["b", "dead"],
  );
  assert.equal(list.revision, third.revision);
  assert.notEqual(filtered, third);
  assert.ok(third.revision > first.revision);
});

test("a list is filtered by bridge, kind and room", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo"), createBridge("h", "hue")]);
  await devices.publish("b", [lamp("a", { room: "Attic" }), lamp("c", RELAY)]);
  await devices.publish("h", [lamp("a", { room: "Attic" })]);

  const ids = async (filter: object) =>
    JSON.parse((await devices.snapshot(filter)).body.toString()).devices.map(
      (d: { id: string }) => d.id,
    );

  assert.deepEqual(await ids({ bridge: "b" }), ["demo:light:1", "demo:switch:1"]);
  assert.deepEqual(await ids({ room: "Attic" }), ["demo:light:1", "hue:light:1"]);
  assert.deepEqual(await ids({ kind: "light", bridge: "h" }), ["hue:light:1"]);
  assert.deepEqual(await ids({ kind: "cover" }), []);
});

test("a revision from before a restart is not reused", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-20T12:00:00Z") });
  const bridge = createBridge("b", "demo");
  const before = await openDevices(t, [bridge]);
  await before.devices.publish("b", [lamp("a")]);

  t.mock.timers.tick(1_000);
  const after = await openDevices(t, [bridge], before.dataFolder);

  assert.ok(after.devices.revision > before.devices.revision);
});

test("a changed state changes the time of the state, and a changed name does not", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-20T12:00:00Z") });
  await devices.publish("b", [lamp("a")]);

  t.mock.timers.tick(1_000);
  await devices.publish("b", [lamp("a", { name: "Lamp" })]);
  const renamed = devices.get("demo:light:1").stateChangedAt;
  await devices.update("b", [{ nativeId: "a", state: { on: true } }]);

  assert.equal(renamed, "2026-11-20T12:00:00.000Z");
  assert.equal(devices.get("demo:light:1").stateChangedAt, "2026-11-20T12:00:01.000Z");
});

test("a device counts as seen when its bridge reaches it, not when the bridge publishes a remembered state", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);
  await devices.publish("b", [lamp("a", { available: false })]);
  const before = devices.get("demo:light:1").lastSeenAt;

  await devices.update("b", [{ nativeId: "a", state: { on: true } }]);
  const remembered = devices.get("demo:light:1").lastSeenAt;
  await devices.update("b", [{ nativeId: "a", available: true }]);

  assert.deepEqual([before, remembered], [null, null]);
  assert.ok(devices.get("demo:light:1").lastSeenAt);
});

test("the fifth large list that waits is refused, and small ones are not", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo"), createBridge("c", "hue")]);
  const list = (length: number) => Array.from({ length }, (_, at) => lamp(`${at}`));
  const large = Array.from({ length: 4 }, () => devices.publish("b", list(501)));

  const refused = devices.publish("b", list(501));
  const small = [devices.publish("b", list(500)), devices.publish("b", list(1))];
  const ofOther = devices.publish("c", list(501));

  await assert.rejects(refused, {
    code: "bridge_rate_limited",
    message: "b publishes its devices faster than they can be processed; wait for each publish",
    extras: { retryAfterMs: 1_000 },
  });
  await Promise.all([...large, ...small, ofOther]);
  await devices.publish("b", list(501));
  assert.equal(devices.list({ bridge: "b" }).length, 501);
});

test("every change of a bridge raises the revision, so that lists are not served from before", async (t) => {
  const bridge = createBridge("b", "demo");
  const { devices } = await openDevices(t, [bridge]);
  await devices.publish("b", [lamp("a")]);
  const seen = [devices.revision];

  devices.bridgeChanged("b");
  seen.push(devices.revision);
  devices.removeBridge("b");
  seen.push(devices.revision);
  devices.removeBridge("b");
  seen.push(devices.revision);

  assert.deepEqual(
    seen.slice(1).map((revision, at) => revision > (seen[at] ?? 0)),
    [true, true, true],
  );
});

test("devices and bridges that do not exist are not found", async (t) => {
  const { devices } = await openDevices(t, [createBridge("b", "demo")]);

  devices.setPending("demo:light:9", new Map([[OWN, { on: true }]]));

  assert.equal(devices.find("demo:light:9"), undefined);
  assert.deepEqual([devices.idOf("b", "a"), devices.idOf("nobody", "a")], [undefined, undefined]);
  assert.throws(() => devices.nativeOf("demo:light:9"), { code: "device_unknown" });
});
