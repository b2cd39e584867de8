import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { SentImage } from "@mantel/plugin-sdk/device-image";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { DeviceImages } from "../../../host/devices/images.ts";
import { until } from "../../helpers/until.ts";
import { createBridge, lamp, openDevices, type TestBridge } from "./open-devices.ts";

const JPEG: SentImage = {
  type: "image/jpeg",
  base64: Buffer.of(0xff, 0xd8, 0xff, 1).toString("base64"),
};
const FRONT = "demo:camera:1";

interface Cameras {
  readonly bridge: TestBridge;
  readonly images: DeviceImages;
  readonly clock: { now: number };
}

/** A bridge with cameras and a lamp. */
async function openCameras(t: TestContext, count = 1, confirmMs = 5_000): Promise<Cameras> {
  const bridge = createBridge("home", "demo", { confirmMs });
  bridge.picture = async () => JPEG;
  const { devices, bridges } = await openDevices(t, [bridge]);
  const cameras = Array.from({ length: count }, (_, index) =>
    lamp(`camera-${index + 1}`, { kind: "camera", capabilities: {}, state: {}, image: true }),
  );
  await devices.publish("home", [...cameras, lamp("lamp")]);
  const clock = { now: 0 };
  const images = new DeviceImages({ devices, bridges, now: () => clock.now });
  t.after(() => images.close());
  return { bridge, images, clock };
}

test("a picture has a tag that changes with its bytes", async (t) => {
  const { bridge, images, clock } = await openCameras(t);

  const first = await images.read(FRONT);
  clock.now = 1_000;
  const same = await images.read(FRONT);
  clock.now = 2_000;
  bridge.picture = async () => ({
    ...JPEG,
    base64: Buffer.of(0xff, 0xd8, 0xff, 2).toString("base64"),
  });
  const other = await images.read(FRONT);

  assert.deepEqual([...first.bytes], [0xff, 0xd8, 0xff, 1]);
  assert.equal(first.type, "image/jpeg");
  assert.equal(same.etag, first.etag);
  assert.notEqual(other.etag, first.etag);
  assert.match(other.etag, /^"[\w-]+"$/);
});

test("viewers within one second share one call", async (t) => {
  const { bridge, images, clock } = await openCameras(t);

  await Promise.all([images.read(FRONT), images.read(FRONT), images.read(FRONT)]);
  clock.now = 999;
  await images.read(FRONT);
  assert.deepEqual(bridge.pictured, ["camera-1"]);

  clock.now = 1_000;
  await images.read(FRONT);
  assert.equal(bridge.pictured.length, 2);
});

test("viewers share a failure, and the next second asks again", async (t) => {
  const { bridge, images, clock } = await openCameras(t);
  bridge.picture = () => Promise.reject(new MantelError("bridge_down", "the camera sleeps"));

  await assert.rejects(images.read(FRONT), { code: "bridge_down" });
  await assert.rejects(images.read(FRONT), { code: "bridge_down" });
  assert.equal(bridge.pictured.length, 1);

  clock.now = 1_000;
  bridge.picture = async () => JPEG;
  assert.equal((await images.read(FRONT)).type, "image/jpeg");
});

test("a device without a picture is not asked for one", async (t) => {
  const { bridge, images } = await openCameras(t);

  await assert.rejects(async () => images.read("demo:light:1"), { code: "not_found" });
  await assert.rejects(async () => images.read("demo:light:9"), { code: "device_unknown" });

  assert.deepEqual(bridge.pictured, []);
});

test("a camera that has no picture yet is not found", async (t) => {
  const { bridge, images } = await openCameras(t);
  delete bridge.picture;

  await assert.rejects(images.read(FRONT), {
    code: "not_found",
    message: `${FRONT} has no picture yet`,
  });
});

test("bytes that are not the picture they claim to be are not served", async (t) => {
  const { bridge, images } = await openCameras(t);
  bridge.picture = async () => ({ ...JPEG, type: "image/png" });

  await assert.rejects(images.read(FRONT), {
    code: "not_found",
    message: /its bytes are image\/jpeg/,
  });
});

test("a bridge that is down, or too slow, answers as for a command", async (t) => {
  const { bridge, images, clock } = await openCameras(t, 1, 5);
  bridge.status = "down";
  await assert.rejects(images.read(FRONT), { code: "bridge_down" });

  clock.now = 1_000;
  bridge.status = "ok";
  bridge.picture = () => new Promise(() => undefined);
  await assert.rejects(images.read(FRONT), { code: "deadline_passed" });
});

test("few pictures of a bridge are read at once, and further requests wait", async (t) => {
  const { bridge, images } = await openCameras(t, 6);
  const answers: (() => void)[] = [];
  bridge.picture = () => new Promise((resolve) => answers.push(() => resolve(JPEG)));
  const ids = [1, 2, 3, 4, 5, 6].map((number) => `demo:camera:${number}`);

  const reads = ids.map((id) => images.read(id));
  await until(() => bridge.pictured.length === 4);
  answers[0]?.();
  answers[1]?.();
  await until(() => bridge.pictured.length === 6);
  for (const answer of answers) answer();

  assert.equal((await Promise.all(reads)).length, 6);
});

test("requests for very many cameras at once are refused", async (t) => {
  const { bridge, images, clock } = await openCameras(t, 65);
  const reads = Array.from({ length: 64 }, (_, index) => images.read(`demo:camera:${index + 1}`));

  await assert.rejects(async () => images.read("demo:camera:65"), { code: "bridge_rate_limited" });

  await Promise.all(reads);
  clock.now = 1_000;
  assert.equal((await images.read("demo:camera:65")).type, "image/jpeg");
  assert.equal(bridge.pictured.length, 65);
});
