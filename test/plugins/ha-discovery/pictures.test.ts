import assert from "node:assert/strict";
import { test } from "node:test";
import { Pictures } from "../../../plugins/ha-discovery/pictures.ts";
import { until } from "../../helpers/until.ts";
import { component } from "./component.ts";
import { real, startHome } from "./home.ts";

const JPEG = Buffer.of(0xff, 0xd8, 0xff, 0xe0);
const FRONT = { topic: "front", isBase64: false };

test("a camera and an image are cameras with a topic for pictures", () => {
  const camera = component("camera", { t: "cam", img_e: "b64" }).known.handler;
  const image = component("image", { img_t: "map" }).known.handler;

  assert.deepEqual([camera.leads, camera.picture], ["camera", { topic: "cam", isBase64: true }]);
  assert.deepEqual([image.leads, image.picture], ["camera", { topic: "map", isBase64: false }]);
});

test("the last picture of a topic is read, as bytes or as base64", () => {
  const pictures = new Pictures();
  assert.equal(pictures.read(FRONT), undefined);

  pictures.take("front", Buffer.of(0));
  pictures.take("front", JPEG);
  pictures.take("back", Buffer.from(JPEG.toString("base64")));

  assert.deepEqual(pictures.read(FRONT), { type: "image/jpeg", bytes: JPEG });
  assert.deepEqual(pictures.read({ topic: "back", isBase64: true })?.bytes, JPEG);
  pictures.take("front", Buffer.of());
  assert.equal(pictures.read(FRONT), undefined);
});

test("data that is not a picture is not shown", () => {
  const pictures = new Pictures();
  pictures.take("front", Buffer.from("<svg/>"));

  assert.throws(() => pictures.read(FRONT), { code: "not_found" });
});

test("pictures beyond 32 MiB in all are dropped, those that came first", () => {
  const pictures = new Pictures();
  const large = Buffer.alloc(4 * 2 ** 20);
  JPEG.copy(large);
  for (const topic of ["front", "b", "c", "d", "e", "f", "g", "h"]) pictures.take(topic, large);
  pictures.take("front", large); // now the newest
  pictures.take("i", large);

  assert.equal(pictures.read({ ...FRONT, topic: "b" }), undefined);
  assert.ok(pictures.read(FRONT) && pictures.read({ ...FRONT, topic: "c" }));

  pictures.keep(new Set(["front"]));
  assert.equal(pictures.read({ ...FRONT, topic: "c" }), undefined);
  assert.ok(pictures.read(FRONT));
});

test("the picture of a camera is that of its device, which keeps the readings", real, async (t) => {
  const { peer, bridge } = await startHome(t);
  const dev = { ids: ["robot"], name: "Robot" };
  await peer.announce("camera/robot/map", { t: "robot/map", uniq_id: "map", name: "Map", dev });
  await peer.announce("vacuum/robot/main", {
    stat_t: "robot",
    cmd_t: "c",
    uniq_id: "v",
    name: null,
    dev,
  });
  await peer.announce("sensor/robot/b", {
    stat_t: "robot/b",
    dev_cla: "battery",
    unit_of_meas: "%",
    uniq_id: "b",
    dev,
  });
  const large = Buffer.alloc(300 * 1024); // longer than any other message may be
  JPEG.copy(large);
  await peer.tell("robot/map", large, true);

  const vacuum = await bridge.device("vacuum:v");
  assert.deepEqual(
    [Object.hasOwn(vacuum.capabilities, "battery"), vacuum.image, vacuum.parts],
    [true, true, undefined],
  );
  assert.equal(bridge.devices.size, 1);
  await until(async () => (await bridge.image("vacuum:v"))?.bytes.length === large.length);

  await peer.announce("camera/robot/front", { t: "robot/front", uniq_id: "f", name: "Front", dev });
  await peer.tell("robot/front", JPEG, true);
  const front = await bridge.device("camera:f");
  assert.deepEqual(
    [front.kind, front.name, front.image, front.assumed],
    ["camera", "Robot Front", true, undefined],
  );
  await until(async () => (await bridge.image("camera:f"))?.bytes.length === JPEG.length);
});
