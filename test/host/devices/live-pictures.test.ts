import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { SentFrame } from "@mantel/plugin-sdk/device-image";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { LivePictures } from "../../../host/devices/live-pictures.ts";
import { until } from "../../helpers/until.ts";
import { createBridge, lamp, openDevices, type TestBridge } from "./open-devices.ts";

const FRONT = "demo:camera:1";

function frame(number: number): SentFrame {
  const base64 = Buffer.of(0xff, 0xd8, 0xff, number).toString("base64");
  return { type: "image/jpeg", base64, number };
}

interface Cameras {
  readonly bridge: TestBridge;
  readonly live: LivePictures;
  readonly clock: { now: number };
  readonly watch: (owner?: string) => Promise<Watched>;
}

interface Watched {
  readonly leave: () => void;
  /** The last byte of the next picture; `undefined` at the end. */
  readonly next: () => Promise<number | undefined>;
  isPermitted: boolean;
}

/** A bridge whose cameras send the frames 1, 2, 3 and so on. */
async function openCameras(t: TestContext): Promise<Cameras> {
  const bridge = createBridge("home", "demo");
  bridge.frame = async (_, after) => frame(after + 1);
  const { devices, bridges } = await openDevices(t, [bridge]);
  const camera = { kind: "camera", capabilities: {}, state: {}, image: true } as const;
  await devices.publish("home", [
    lamp("front", { ...camera, live: ["frames", "video"] }),
    lamp("still", camera),
  ]);
  const clock = { now: 0 };
  const live = new LivePictures({ devices, bridges, now: () => clock.now });
  t.after(() => live.close());
  const watch = async (owner = "tablet"): Promise<Watched> => {
    const gone = new AbortController();
    const watched = { isPermitted: true };
    const frames = await live.watch(FRONT, {
      owner,
      gone: gone.signal,
      permitted: () => watched.isPermitted,
    });
    return Object.assign(watched, {
      leave: () => gone.abort(),
      next: async () => ((await frames.next()).value as { bytes: Buffer } | undefined)?.bytes[3],
    });
  };
  return { bridge, live, clock, watch };
}

test("a viewer gets each picture once, the newest one first", async (t) => {
  const { watch, clock } = await openCameras(t);

  const viewer = await watch();
  const seen: unknown[] = [await viewer.next()];
  clock.now = 1_000;
  seen.push(await viewer.next());
  clock.now = 2_000;
  seen.push(await viewer.next());

  assert.deepEqual(seen, [1, 2, 3]);
});

test("viewers share what is read from the bridge, and a late one skips pictures", async (t) => {
  const { bridge, watch, clock } = await openCameras(t);
  const asked: number[] = [];
  bridge.frame = async (_, after) => {
    asked.push(after);
    return frame(after + 1);
  };

  const [fast, slow] = await Promise.all([watch(), watch("phone")]);
  assert.deepEqual([await fast.next(), await slow.next()], [1, 1]);
  for (const now of [1_000, 2_000]) {
    clock.now = now;
    await fast.next();
  }
  assert.equal(await slow.next(), 3);

  assert.deepEqual(asked, [0, 1, 2]);
});

test("nothing is read while nobody waits for a picture", async (t) => {
  const { bridge, watch, clock } = await openCameras(t);
  let asked = 0;
  bridge.frame = async (_, after) => {
    asked++;
    return frame(after + 1);
  };

  const viewer = await watch();
  await viewer.next();
  viewer.leave();
  clock.now = 10_000;
  await new Promise((resolve) => setTimeout(resolve, 150)); // two intervals, in which a further read would begin

  assert.equal(asked, 1);
});

test("a viewer who comes later gets no picture of an earlier time, and waits for a camera to begin", async (t) => {
  const { bridge, watch, clock } = await openCameras(t);
  const first = await watch();
  await first.next();
  first.leave();

  clock.now = 3_600_000;
  let calls = 0;
  bridge.frame = async (_, after) => (++calls < 3 ? null : { ...frame(9), number: after + 9 });
  assert.equal(await (await watch()).next(), 9);
});

test("a viewer that has already gone takes no place", async (t) => {
  const { live } = await openCameras(t);
  const viewing = { owner: "tablet", gone: AbortSignal.abort(), permitted: () => true };

  for (let count = 0; count < 13; count++) {
    await assert.rejects(live.watch(FRONT, viewing), { name: "AbortError" });
  }
});

test("a reload of the bridge is waited for, and a long silence ends the picture", async (t) => {
  const { bridge, watch, clock } = await openCameras(t);
  const viewer = await watch();
  await viewer.next();

  let calls = 0;
  bridge.frame = async (_, after) => (++calls < 3 ? null : frame(after + 1));
  clock.now = 1_000;
  assert.equal(await viewer.next(), 2);

  bridge.frame = async () => {
    clock.now += 15_000;
    return null;
  };
  assert.equal(await viewer.next(), undefined);
});

test("the pictures end with the permission, the bridge and the host", async (t) => {
  const { bridge, live, watch, clock } = await openCameras(t);

  const revoked = await watch();
  await revoked.next();
  revoked.isPermitted = false;
  assert.equal(await revoked.next(), undefined);

  const broken = await watch();
  await broken.next();
  clock.now += 1_000;
  bridge.frame = () => Promise.reject(new MantelError("bridge_down", "the camera is away"));
  assert.equal(await broken.next(), undefined);
  await assert.rejects(watch(), { code: "bridge_down" });

  bridge.frame = async (_, after) => frame(after + 1);
  const closed = await watch();
  await closed.next();
  bridge.frame = () => new Promise(() => undefined);
  clock.now += 1_000;
  const waiting = closed.next();
  live.close();
  assert.equal(await waiting, undefined);
});

test("a picture that is not one, or an old one, ends the live picture", async (t) => {
  const { bridge, watch } = await openCameras(t);

  for (const wrong of [
    { ...frame(1), base64: "aGVsbG8=" },
    frame(0),
    { ...frame(1), number: Number.NaN },
  ]) {
    bridge.frame = async () => wrong;
    await assert.rejects(watch(), { code: "not_found" });
  }
});

test("one token has twelve places, which are free again when viewers leave", async (t) => {
  const { watch } = await openCameras(t);
  const viewers = await Promise.all(Array.from({ length: 12 }, () => watch()));

  await assert.rejects(watch(), { code: "rate_limited" });
  assert.equal(await (await watch("phone")).next(), 1);

  viewers[0]?.leave();
  assert.equal(await (await watch()).next(), 1);
});

test("of all viewers, the oldest of the token with the most gives way", async (t) => {
  const { watch, bridge } = await openCameras(t);
  const owners = ["a", "b", "c", "d", "e"];
  const all = await Promise.all(
    owners.flatMap((owner) => Array.from({ length: 12 }, () => watch(owner))),
  );
  await Promise.all(Array.from({ length: 4 }, () => watch("f")));
  await Promise.all(all.map((viewer) => viewer.next()));
  bridge.frame = () => new Promise(() => undefined);
  const waiting = all.map((viewer) => viewer.next());
  let ended = 0;
  for (const each of waiting) void each.then(() => ended++);

  await watch("g");
  await until(() => ended > 0);
  assert.equal(ended, 1);
});

test("a device without live pictures or video has none", async (t) => {
  const { live } = await openCameras(t);
  const viewing = { owner: "tablet", gone: new AbortController().signal, permitted: () => true };

  await assert.rejects(live.watch("demo:camera:2", viewing), { code: "not_found" });
  await assert.rejects(live.watch("demo:camera:9", viewing), { code: "device_unknown" });
  await assert.rejects(live.answer("demo:camera:2", "v=0"), { code: "not_found" });
});

test("the offer of a video is answered by the bridge", async (t) => {
  const { bridge, live } = await openCameras(t);
  bridge.connect = async (nativeId, offer) => `${nativeId} answers ${offer}`;

  assert.equal(await live.answer(FRONT, "v=0"), "front answers v=0");

  bridge.status = "down";
  await assert.rejects(live.answer(FRONT, "v=0"), { code: "bridge_down" });
});
