import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../helpers/until.ts";
import { startHome } from "./home.ts";

const JPEG = Buffer.of(0xff, 0xd8, 0xff, 0xe0, 7);

test("the picture of a camera comes from Home Assistant's camera proxy, with the token", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.pictures.set("camera.yard", { type: "image/jpeg", bytes: JPEG });

  assert.equal(bridge.devices.get("camera.yard")?.image, true);
  assert.deepEqual(await bridge.image("camera.yard"), { type: "image/jpeg", bytes: JPEG });
  assert.deepEqual(fake.read, ["/api/camera_proxy/camera.yard"]);
});

test("the picture of an image entity comes from the image proxy", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.pictures.set("image.map", { type: "image/jpg", bytes: JPEG }); // its type is that of its bytes

  assert.equal((await bridge.image("image.map"))?.type, "image/jpeg");
  assert.deepEqual(fake.read, ["/api/image_proxy/image.map"]);
});

test("the cover of what a player plays comes from the media player proxy", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.pictures.set("media_player.tv", { type: "image/jpeg", bytes: JPEG });

  assert.equal(bridge.devices.get("media_player.tv")?.image, true);
  assert.equal((await bridge.image("media_player.tv"))?.type, "image/jpeg");
  assert.deepEqual(fake.read, ["/api/media_player_proxy/media_player.tv"]);
});

test("a device that is not a camera has no picture, and Home Assistant is not asked", async (t) => {
  const { fake, bridge } = await startHome(t);

  assert.equal(await bridge.image("reg-sofa"), undefined);
  assert.equal(await bridge.image("nothing"), undefined);
  assert.deepEqual(fake.read, []);
});

test("an answer that is not a picture is not found, with its type", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.pictures.set("camera.yard", {
    type: "image/svg+xml; charset=utf-8",
    bytes: Buffer.from("<svg/>"),
  });

  await assert.rejects(bridge.image("camera.yard"), {
    code: "not_found",
    message: "the picture of camera.yard is image/svg+xml, which is not shown",
  });
});

test("a camera that Home Assistant cannot read, or that sends too much, is down", async (t) => {
  const { fake, bridge } = await startHome(t);
  const host = new URL(fake.url).host;
  await assert.rejects(bridge.image("camera.yard"), {
    code: "bridge_down",
    message: `could not read the picture of camera.yard: Home Assistant at ${host} cannot be reached: it answers 404`,
  });

  fake.pictures.set("camera.yard", { type: "image/jpeg", bytes: Buffer.alloc(4 * 2 ** 20 + 1) });
  await assert.rejects(bridge.image("camera.yard"), {
    code: "bridge_down",
    message: /more than 4194304 bytes/,
  });

  fake.set("camera.yard", "unavailable");
  await until(() => bridge.devices.get("camera.yard")?.available === false);
  await assert.rejects(bridge.image("camera.yard"), { code: "bridge_down" });
  assert.equal(bridge.devices.get("camera.yard")?.image, true);
});

test("the live picture of a camera is Home Assistant's motion JPEG", async (t) => {
  const { fake, bridge } = await startHome(t);
  fake.pictures.set("camera.yard", { type: "image/jpeg", bytes: JPEG });
  fake.pictures.set("image.map", { type: "image/jpeg", bytes: JPEG });

  assert.deepEqual(bridge.devices.get("camera.yard")?.live, ["frames"]);
  assert.equal(bridge.devices.get("image.map")?.live, undefined);
  const frame = await bridge.nextFrame("camera.yard");
  assert.deepEqual([frame?.type, frame?.bytes], ["image/jpeg", JPEG]);
  assert.deepEqual(fake.read, ["/api/camera_proxy_stream/camera.yard"]);

  await assert.rejects(bridge.nextFrame("image.map"), { code: "not_found" });
});

test("a live picture that Home Assistant cannot read says why", async (t) => {
  const { bridge } = await startHome(t);

  await assert.rejects(bridge.nextFrame("camera.yard"), {
    code: "bridge_down",
    message: /^could not read the live picture of camera.yard: .* it answers 404$/,
  });
});
