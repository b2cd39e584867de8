import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  type DeviceChange,
  definePlugin,
  type Home,
  homeNotify,
  provide,
  type Stop,
} from "@mantel/plugin-sdk";
import { type FakeHomeOptions, startPlugin } from "@mantel/plugin-sdk/testing";

const LAMP = { id: "demo:light:1", name: "Lamp", room: "Hall", state: { on: false } };
const LOCK = { id: "demo:lock:1", name: "Door", room: "Hall", state: { locked: true } };
const ANNA = { kind: "person", id: "1", name: "Anna" } as const;

/** A plugin that does only `start` with the home of the test. */
async function withHome(
  start: (home: Home) => void | Promise<void>,
  home: FakeHomeOptions = { devices: [LAMP, LOCK] },
) {
  let context: Home | undefined;
  const plugin = await startPlugin(
    definePlugin({
      async start(ctx) {
        context = ctx.home;
        await start(ctx.home);
      },
    }),
    { home },
  );
  if (!context) throw new Error("it did not start");
  const { home: fake, logs } = plugin;
  return { home: fake, logs, stop: () => plugin.stop(), ctx: context };
}

test("a listener gets the new and the old device, and the cause", async () => {
  const seen: unknown[] = [];
  const { home, stop } = await withHome(async ({ devices }) => {
    await devices.on("light:*", (device, old, cause) => {
      seen.push([old?.state["on"], device?.state["on"], cause?.name]);
    });
  });

  await home.change(LAMP.id, { on: true }, ANNA);
  await home.change(LAMP.id, { on: false });
  await home.change(LOCK.id, { locked: false });
  await home.add({ id: "demo:light:2", state: { on: true } });
  await home.remove("demo:light:2");

  assert.deepEqual(seen, [
    [false, true, "Anna"],
    [true, false, "Lamp"],
    [undefined, true, undefined],
    [true, undefined, undefined],
  ]);
  await stop();
});

test("a listener that is busy gets only the newest state of each device, and one call at a time", async () => {
  const seen: unknown[] = [];
  let finish = (): void => undefined;
  const { home, stop } = await withHome(async ({ devices }) => {
    await devices.on("*", async (device, old) => {
      seen.push([device?.id, old?.state, device?.state]);
      await new Promise<void>((resolve) => (finish = resolve));
    });
  });

  await home.change(LAMP.id, { on: true });
  for (let level = 0; level < 1_000; level++) await home.change(LAMP.id, { level });
  await home.change(LOCK.id, { locked: false });
  assert.equal(seen.length, 1);
  finish();
  await setImmediate();
  finish();
  await setImmediate();

  assert.deepEqual(seen, [
    [LAMP.id, { on: false }, { on: true }],
    [LAMP.id, { on: true }, { on: true, level: 999 }],
    [LOCK.id, { locked: true }, { locked: false }],
  ]);
  finish();
  await stop();
});

test("a busy listener of each change gets them all, in order; beyond 4,096 they are merged and counted", async () => {
  const seen: unknown[] = [];
  let finish = (): void => undefined;
  const { home, logs, stop } = await withHome(async ({ devices }) => {
    await devices.on(
      "*",
      async (device, old) => {
        seen.push([old?.state["on"], device?.state["on"]]);
        if (seen.length === 1) await new Promise<void>((resolve) => (finish = resolve));
      },
      { each: true },
    );
  });

  for (let at = 0; at < 4_100; at++) await home.change(LAMP.id, { on: at % 2 === 0 });
  finish();
  await setImmediate();

  assert.equal(seen.length, 4_097);
  assert.deepEqual(seen.slice(0, 3), [
    [false, true],
    [true, false],
    [false, true],
  ]);
  const [warning, ...more] = logs.filter(({ level }) => level === "warn");
  assert.equal(warning?.sentence, "merged changes of devices: a listener is too slow");
  assert.deepEqual(more, []);
  await stop();
});

test("a listener that throws is named in the log, and is called again", async () => {
  let calls = 0;
  const { home, logs, stop } = await withHome(async ({ devices }) => {
    await devices.on("*", () => {
      calls++;
      throw new Error("oh");
    });
  });

  await home.change(LAMP.id, { on: true });
  await home.change(LAMP.id, { on: false });

  assert.equal(calls, 2);
  assert.equal(logs[0]?.sentence, "a listener of ctx.home failed");
  await stop();
});

test("a stopped listener is not called", async () => {
  let calls = 0;
  let end: Stop = () => undefined;
  const { home, stop } = await withHome(async ({ devices, events }) => {
    end = await devices.on("*", () => void calls++);
    await events.on("light:*", () => void calls++);
  });

  end();
  await home.change(LAMP.id, { on: true });
  await home.press(LOCK.id, "ring");
  await home.press(LAMP.id, "press");

  assert.equal(calls, 1);
  await stop();
});

test("a loop over followed devices begins with all of them, continues with changes, and ends with the plugin", async () => {
  const seen: Pick<DeviceChange, "id" | "isInitial">[] = [];
  const ended: string[] = [];
  const { home, stop } = await withHome(({ devices }) => {
    void (async () => {
      for await (const { id, isInitial } of devices.follow({ room: "Hall" })) {
        seen.push({ id, isInitial });
      }
      ended.push("loop");
    })();
  });
  await setImmediate();

  await home.change(LAMP.id, { on: true }, ANNA);
  await stop();
  await setImmediate();

  assert.deepEqual(seen, [
    { id: LAMP.id, isInitial: true },
    { id: LOCK.id, isInitial: true },
    { id: LAMP.id, isInitial: false },
  ]);
  assert.deepEqual(ended, ["loop"]);
});

test("a loop that nobody reads holds one change for each device", async () => {
  const { ctx, home, stop } = await withHome(() => undefined);
  const loop = ctx.devices.follow("light:*")[Symbol.asyncIterator]();
  const first = await loop.next();

  for (let level = 0; level < 1_000; level++) await home.change(LAMP.id, { level });
  const second = (await loop.next()) as IteratorYieldResult<DeviceChange>;

  assert.equal(first.done, false);
  assert.deepEqual(second.value.device?.state, { on: false, level: 999 });
  assert.deepEqual(second.value.old?.state, { on: false });
  const none = loop.next();
  await loop.return?.();
  assert.deepEqual(await none, { done: true, value: undefined });
  await stop();
});

test("a plugin commands devices, activates scenes and reads rooms, presence, sun and place", async () => {
  const sun = { elevation: 10, azimuth: 90, isUp: true, nextRise: null, nextSet: null };
  const coordinates = { latitude: 52.5, longitude: 13.4 };
  const { ctx, home, stop } = await withHome(() => undefined, {
    devices: [
      LAMP,
      { id: "demo:tracker:1", name: "Anna", state: { home: true, zone: "Home" } },
      { id: "demo:tracker:2", name: "Bike" },
    ],
    scenes: [{ id: "host:scene:evening", name: "Evening" }],
    sun,
    coordinates,
  });

  const { status } = await ctx.command(LAMP.id, { on: true });
  await ctx.activateScene("host:scene:evening");

  assert.equal(status, "applied");
  assert.deepEqual(home.commands, [{ id: LAMP.id, command: { on: true } }]);
  assert.deepEqual(home.activated, ["host:scene:evening"]);
  assert.deepEqual((await ctx.devices.get(LAMP.id)).state, { on: true });
  assert.deepEqual(await ctx.rooms(), [{ name: "Hall", deviceIds: [LAMP.id] }]);
  assert.deepEqual(await ctx.presence(), [
    { deviceId: "demo:tracker:1", name: "Anna", isHome: true, zone: "Home" },
    { deviceId: "demo:tracker:2", name: "Bike", isHome: undefined, zone: undefined },
  ]);
  assert.deepEqual([await ctx.sun(), await ctx.coordinates()], [sun, coordinates]);
  const scenes = await ctx.scenes.list();
  assert.deepEqual(
    scenes.map(({ name }) => name),
    ["Evening"],
  );
  const now = new Date();
  assert.deepEqual((await ctx.calendar.between(now, now)).events, []);
  await assert.rejects(ctx.devices.get("demo:light:9"), { code: "device_unknown" });
  await assert.rejects(ctx.activateScene("host:scene:none"), { code: "scene_unknown" });
  await stop();
});

test("a listener hears of failed commands and of scenes, its own among them", async () => {
  const heard: unknown[] = [];
  const options = {
    devices: [LAMP, LOCK],
    scenes: [{ id: "host:scene:evening", name: "Evening" }],
  };
  const { ctx, home, stop } = await withHome(async ({ failures, scenes }) => {
    await failures.on("light:*", ({ deviceId, command, error, cause }) => {
      heard.push([deviceId, command, error.code, cause?.name]);
    });
    await scenes.on(({ name, status, error, cause }) => {
      heard.push([name, status, error?.code, cause?.name]);
    });
  }, options);

  await home.fail(LAMP.id, { on: true }, { cause: ANNA });
  await home.fail(LOCK.id, { locked: true });
  await ctx.activateScene("host:scene:evening");
  const error = { code: "bridge_down", detail: "the bridge is down" };
  await home.activate("host:scene:evening", { status: "failed", error, cause: ANNA });

  assert.deepEqual(heard, [
    [LAMP.id, { on: true }, "deadline_passed", "Anna"],
    ["Evening", "ok", undefined, "test"],
    ["Evening", "failed", "bridge_down", "Anna"],
  ]);
  await stop();
});

test("a message goes to the plugin that provides home.notify", async () => {
  const sent: unknown[] = [];
  const plugin = await startPlugin(
    definePlugin({
      async start({ home }) {
        await home.notify("The washing is done");
        await home.notify("Water!", { to: "Anna" });
      },
    }),
    { services: [provide(homeNotify, async (notification) => void sent.push(notification))] },
  );

  assert.deepEqual(sent, [{ message: "The washing is done" }, { message: "Water!", to: ["Anna"] }]);
  await plugin.stop();
});

test("a home without a place knows neither coordinates nor sun", async () => {
  const { ctx, stop } = await withHome(() => undefined, {});

  assert.deepEqual([await ctx.coordinates(), await ctx.sun(new Date())], [undefined, undefined]);
  await stop();
});
