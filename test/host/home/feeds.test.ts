import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Device } from "@mantel/plugin-sdk/device";
import type { DeviceSelector } from "@mantel/plugin-sdk/home";
import type { FollowRequest, HomeBatch, UnseenChange } from "@mantel/plugin-sdk/home-protocol";
import { HomeFeeds } from "../../../host/home/feeds.ts";
import { createBridge, lamp, openDevices } from "../devices/open-devices.ts";

const LAMP: Cause = { kind: "device", id: "demo:light:1", name: "a" };

/** A home with lamps, a monotonic clock that the test moves, and processes that follow it. */
async function openHome(t: TestContext, names: readonly string[] = ["a", "c"]) {
  let now = 5_000;
  t.mock.method(performance, "now", () => now);
  const home = await openDevices(t, [createBridge("b", "demo")]);
  const feeds = new HomeFeeds(home.bus);
  t.after(() => feeds.close());
  await home.devices.publish(
    "b",
    names.map((nativeId) => lamp(nativeId)),
  );
  let last = 0;
  /** A process of the module `auto`. It takes batches only while `isTaking` is true. */
  const open = (mayRead: (id: string) => boolean = () => true) => {
    const batches: HomeBatch[] = [];
    const waiting: (() => void)[] = [];
    const process = { isTaking: true, batches };
    const warnings: string[] = [];
    const feed = feeds.open("auto", {
      mayRead,
      send: async (batch) => {
        batches.push(batch);
        if (!process.isTaking) await new Promise<void>((resolve) => waiting.push(resolve));
      },
      warn: (sentence) => warnings.push(sentence),
      sent: () => undefined,
    });
    const follow = (
      what: FollowRequest["what"],
      selector: DeviceSelector = "*",
      isStart = false,
      each = false,
    ): number => {
      feed.follow({ follower: ++last, what, selector, isStart, each });
      return last;
    };
    /** The batches since the last call, in short. */
    const taken = async () => {
      await settle();
      return batches
        .splice(0)
        .flatMap(({ changes = [], events = [] }) => [
          ...changes.map(
            ({ id, device, before, cause, isInitial }) =>
              `${id} ${levelOf(before)}→${levelOf(device)} ${isInitial ? "initial" : (cause?.kind ?? "")}`,
          ),
          ...events.map(inShort),
        ]);
    };
    const release = () => waiting.splice(0).forEach((resolve) => resolve());
    return { process, feed, follow, taken, release, warnings, batches };
  };
  const dim = (brightness: number, nativeId = "a") =>
    home.devices.update("b", [{ nativeId, state: { brightness } }]);
  const press = (nativeId = "a") => home.devices.announceEvent("b", { nativeId, event: "press" });
  return { ...home, feeds, open, dim, press, pass: (ms: number) => (now += ms) };
}

/** An event, a failure or a scene as its subject and what happened. */
function inShort(occurrence: NonNullable<HomeBatch["events"]>[number]): string {
  if ("event" in occurrence) return `${occurrence.deviceId} ${occurrence.event}`;
  const { error, cause } = occurrence;
  const subject = "sceneId" in occurrence ? occurrence.sceneId : occurrence.deviceId;
  const result = "status" in occurrence ? occurrence.status : "command";
  return [subject, result, error?.code, cause?.name].filter((word) => word !== undefined).join(" ");
}

const levelOf = (device: Partial<Device> | undefined) => Number(device?.state?.["brightness"]);
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a follower gets the devices as they are, and then each change with old state and cause", async (t) => {
  const { open, dim } = await openHome(t);
  const { follow, taken } = open();

  follow("devices");
  assert.deepEqual(await taken(), ["demo:light:1 NaN→40 initial", "demo:light:2 NaN→40 initial"]);
  await dim(50);

  assert.deepEqual(await taken(), ["demo:light:1 40→50 device"]);
});

test("a listener of changes gets no first list, and also new and removed devices", async (t) => {
  const { open, devices } = await openHome(t);
  const { follow, taken } = open();
  follow("changes");

  await devices.publish("b", [lamp("c"), lamp("d")]);

  assert.deepEqual((await taken()).toSorted(), ["demo:light:1 40→NaN ", "demo:light:3 NaN→40 "]);
});

test("a change while the first list is under way is neither lost nor sent twice", async (t) => {
  const { open, dim } = await openHome(t);
  const { process, follow, taken, release } = open();
  process.isTaking = false;
  follow("changes", "demo:light:2"); // its first change blocks the process
  await dim(10, "c");
  await settle();

  follow("devices");
  await dim(50);
  process.isTaking = true;
  release();

  assert.deepEqual(await taken(), [
    "demo:light:2 40→10 device",
    "demo:light:1 NaN→50 initial",
    "demo:light:2 NaN→10 initial",
  ]);
});

test("a process that does not read gets only the newest state of each device", async (t) => {
  const { open, dim } = await openHome(t);
  const { process, follow, taken, release } = open();
  follow("changes");
  process.isTaking = false;
  await dim(41);
  await settle();

  for (let value = 42; value < 92; value++) await dim(value);
  process.isTaking = true;
  release();

  assert.deepEqual(await taken(), ["demo:light:1 40→41 device", "demo:light:1 41→91 device"]);
});

test("a device that returns to its old state meanwhile is not sent", async (t) => {
  const { open, devices } = await openHome(t);
  const { process, follow, taken, release } = open();
  follow("changes");
  process.isTaking = false;
  await devices.publish("b", [lamp("a"), lamp("c"), lamp("d")]);
  await settle();

  await devices.publish("b", [lamp("a"), lamp("c"), lamp("d"), lamp("e")]);
  await devices.publish("b", [lamp("a"), lamp("c"), lamp("d")]);
  process.isTaking = true;
  release();

  assert.deepEqual(await taken(), ["demo:light:3 NaN→40 "]);
});

test("only devices that the manifest lists and the selector means are sent", async (t) => {
  const { open, dim, press } = await openHome(t);
  const { follow, taken } = open((id) => id === "demo:light:2");
  follow("changes");
  follow("events");
  follow("changes", { room: "Attic" });

  await dim(10);
  await press();
  await dim(20, "c");
  await press("c");

  assert.deepEqual((await taken()).toSorted(), ["demo:light:2 40→20 device", "demo:light:2 press"]);
});

test("10,000 devices are sent in slices, and each once", async (t) => {
  const names = Array.from({ length: 2_000 }, (_, at) => `n${at}`);
  const { open } = await openHome(t, names);
  const { follow, batches } = open();

  follow("devices");
  while (batches.flatMap(({ changes = [] }) => changes).length < names.length) await settle();

  const sizes = batches.map(({ changes = [] }) => changes.length);
  assert.ok(Math.max(...sizes) <= 100);
  const ids = batches.flatMap(({ changes = [] }) => changes.map(({ id }) => id));
  assert.equal(new Set(ids).size, names.length);
  assert.equal(ids.length, names.length);
});

test("the next generation gets the changes and events since the previous one ended", async (t) => {
  const { open, dim, press } = await openHome(t);
  const old = open();
  old.follow("changes");
  old.follow("events");

  old.feed.suspend();
  await dim(50);
  await dim(60);
  await press();
  const next = open();
  next.follow("changes", "*", true);
  next.follow("events", "*", true);

  assert.deepEqual(await old.taken(), []);
  assert.deepEqual(await next.taken(), ["demo:light:1 40→60 device", "demo:light:1 press"]);
});

test("a listener that is added after the start begins with the next change", async (t) => {
  const { open, dim } = await openHome(t);
  const old = open();
  old.follow("changes");
  old.feed.suspend();
  await dim(50);

  const next = open();
  next.follow("changes", "*", false);

  assert.deepEqual(await next.taken(), []);
});

test("changes that a listener had not read when it ended are passed on with the state it knew", async (t) => {
  const { open, dim, devices } = await openHome(t);
  const old = open();
  old.follow("changes");
  await dim(50);
  const { state } = devices.get("demo:light:1");
  const unseen: UnseenChange[] = [
    { id: "demo:light:1", before: { state: { ...state, brightness: 40 } }, cause: LAMP },
  ];

  old.feed.suspend(unseen);
  await dim(60);
  const next = open();
  next.follow("changes", "*", true);

  assert.deepEqual(await next.taken(), ["demo:light:1 40→60 device"]);
});

test("changes that a crashed process did not take are passed on", async (t) => {
  const { open, dim } = await openHome(t);
  const old = open();
  old.follow("changes");
  old.process.isTaking = false;
  await dim(41);
  await settle();
  await dim(50);

  old.feed.suspend();
  const next = open();
  next.follow("changes", "*", true);

  assert.deepEqual(await next.taken(), ["demo:light:1 41→50 device"]);
});

test("a follower of each change gets those of a device that changes and returns while it is busy, in order", async (t) => {
  const { open, dim } = await openHome(t);
  const { process, follow, taken, release } = open();
  follow("changes", "*", false, true);
  process.isTaking = false;
  await dim(41);
  await settle();

  for (const level of [50, 40, 50]) await dim(level);
  await dim(10, "c");
  process.isTaking = true;
  release();

  assert.deepEqual(await taken(), [
    "demo:light:1 40→41 device",
    "demo:light:1 41→50 device",
    "demo:light:1 50→40 device",
    "demo:light:1 40→50 device",
    "demo:light:2 40→10 device",
  ]);
});

test("of more than 4,096 changes that wait, those of one device are merged, and the log counts them", async (t) => {
  const { open, dim } = await openHome(t);
  const { process, follow, taken, release, warnings } = open();
  follow("changes", "*", false, true);
  process.isTaking = false;
  await dim(41);
  await settle();

  for (let at = 0; at < 4_096 + 10; at++) await dim(at % 2);
  process.isTaking = true;
  release();

  const changes = await taken();
  assert.equal(changes.length, 1 + 4_096);
  assert.equal(changes.at(-1), "demo:light:1 0→1 device");
  assert.equal(warnings.length, 2); // the first and the tenth
});

test("each change between two generations is passed on once, also after a start that failed", async (t) => {
  const { open, dim, feeds } = await openHome(t);
  const old = open();
  old.follow("changes", "*", true, true);
  old.process.isTaking = false;
  await dim(41);
  await settle();
  await dim(50); // waits in the feed
  old.feed.suspend();
  await dim(40);

  const failed = open();
  failed.process.isTaking = false;
  failed.follow("changes", "*", true, true);
  await settle();
  await dim(50); // waits behind the first batch
  await settle();
  failed.feed.suspend();
  const next = open();
  next.follow("changes", "*", true, true);
  const expected = ["41→50", "50→40", "40→50"].map((change) => `demo:light:1 ${change} device`);
  assert.deepEqual(await next.taken(), expected);

  feeds.settle("auto");
  next.feed.suspend();
  const last = open();
  last.follow("changes", "*", true, true);
  assert.deepEqual(await last.taken(), []);
});

test("each change that a listener had not read is passed on with the state of that time", async (t) => {
  const { open, dim, devices } = await openHome(t);
  const old = open();
  old.follow("changes", "*", true, true);
  const before = devices.get("demo:light:1");
  await dim(50);
  const device = devices.get("demo:light:1");
  await dim(60);
  await settle();

  const { state } = before;
  old.feed.suspend([{ id: device.id, device, before: { state }, cause: LAMP }]);
  const next = open();
  next.follow("changes", "*", true, true);

  assert.deepEqual(await next.taken(), ["demo:light:1 40→50 device"]);
});

test("a change is passed on to the next generation once, also over two reloads", async (t) => {
  const { open, dim, feeds } = await openHome(t);
  const first = open();
  first.follow("changes");
  first.feed.suspend();
  await dim(50);
  const second = open();
  second.follow("changes", "*", true);
  assert.deepEqual(await second.taken(), ["demo:light:1 40→50 device"]);
  feeds.settle("auto");

  second.feed.suspend();
  const third = open();
  third.follow("changes", "*", true);

  assert.deepEqual(await third.taken(), []);
});

test("waiting changes of a module that does not return are dropped", async (t) => {
  const { open, dim, pass } = await openHome(t);
  const old = open();
  old.follow("changes");
  old.feed.suspend();
  await dim(50);

  pass(120_000);
  await dim(60);
  const next = open();
  next.follow("changes", "*", true);

  assert.deepEqual(await next.taken(), []);
});

test("the newest thousand unread events are kept, and the log counts the dropped ones", async (t) => {
  const { open, press, pass } = await openHome(t);
  const { process, follow, taken, release, warnings } = open();
  follow("events");
  process.isTaking = false;
  await press();
  await settle();

  for (let at = 0; at < 1_010; at++) {
    if (at % 40 === 0) pass(1_000); // within the rate of a bridge
    await press();
  }
  process.isTaking = true;
  release();

  assert.equal((await taken()).length, 1_001);
  assert.equal(warnings.length, 2); // the first and the tenth
});

test("a process that follows more than 200 times is refused", async (t) => {
  const { open } = await openHome(t);
  const { follow, feed } = open();
  for (let at = 0; at < 200; at++) follow("changes");

  assert.throws(() => follow("changes"), { code: "rate_limited" });
  feed.unfollow(1);
  follow("changes");
});

const ANNA: Cause = { kind: "person", id: "1", name: "Anna" };
const AT = "2026-11-20T17:31:02Z";
const failureOf = (deviceId: string) => ({
  deviceId,
  at: AT,
  command: { on: true },
  error: { code: "deadline_passed", detail: "no answer" },
  cause: ANNA,
});
const sceneOf = (sceneId: string) => ({ sceneId, name: "Movie", activationId: "1", at: AT });

test("failed commands and scenes are sent to those who follow them, within the manifest and the selector", async (t) => {
  const { open, bus, press } = await openHome(t);
  const all = open();
  const some = open((id) => id === "demo:light:2");
  all.follow("failures", "demo:light:2");
  all.follow("scenes");
  some.follow("failures");
  some.follow("scenes");

  bus.emit("command.failed", failureOf("demo:light:1"));
  bus.emit("command.failed", failureOf("demo:light:2"));
  bus.emit("scene.activated", { ...sceneOf("host:scene:movie"), status: "partial", cause: ANNA });
  const error = { code: "bridge_down", detail: "the bridge is down" };
  bus.emit("scene.failed", { ...sceneOf("demo:scene:1"), error });
  await press();

  assert.deepEqual(await all.taken(), [
    "demo:light:2 command deadline_passed Anna",
    "host:scene:movie partial Anna",
    "demo:scene:1 failed bridge_down",
  ]);
  assert.deepEqual(await some.taken(), ["demo:light:2 command deadline_passed Anna"]);
});

test("the next generation gets the failures and scenes since the previous one ended", async (t) => {
  t.mock.method(Date, "now", () => Date.parse(AT));
  const { open, bus } = await openHome(t);
  const old = open();
  old.follow("failures");
  old.feed.suspend();
  bus.emit("command.failed", failureOf("demo:light:1"));
  bus.emit("scene.activated", { ...sceneOf("demo:scene:1"), status: "ok" });

  const next = open();
  next.follow("failures", "*", true);
  next.follow("scenes", "*", true);

  assert.deepEqual((await next.taken()).toSorted(), [
    "demo:light:1 command deadline_passed Anna",
    "demo:scene:1 ok",
  ]);
});
