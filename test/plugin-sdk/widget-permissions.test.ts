import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import type { Needs } from "@mantel/plugin-sdk/needs";
import { WidgetPermissions } from "@mantel/plugin-sdk/widget-permissions";
import { deviceOf } from "../helpers/device.ts";

const lamp = deviceOf({ kind: "light", room: "Kitchen" });
const lock = deviceOf({ kind: "lock", room: "Hall" });
const all = [lamp, lock];
const find = (id: string) => all.find((each) => each.id === id);
const permissionsOf = (needs: Needs) => new WidgetPermissions(needs, "news");
const ids = (devices: readonly Device[]) => devices.map(({ id }) => id);

test("without needs a widget cannot see, command, activate or read anything", () => {
  const permitted = permissionsOf({});

  assert.deepEqual(permitted.seen(all), []);
  assert.deepEqual(permitted.channels, []);
  assert.throws(
    () => permitted.requireCommand(lamp.id, lamp),
    /"needs": \{"devices":\["read","command"\]\}/,
  );
  assert.throws(() => permitted.requireScenes(), /"needs": \{"scenes":true\}/);
  assert.throws(() => permitted.documentAt("/photos", find), /"needs": \{"reads":\["\/photos"\]\}/);
});

test("kinds and rooms limit the devices that are seen and commanded", () => {
  const lights = permissionsOf({ devices: ["read", "command"], kinds: ["light"] });
  const hall = permissionsOf({ devices: ["read", "command"], rooms: ["Hall"] });

  assert.deepEqual(ids(lights.seen(all)), [lamp.id]);
  assert.deepEqual(ids(hall.seen(all)), [lock.id]);
  lights.requireCommand(lamp.id, lamp);
  assert.throws(() => lights.requireCommand(lock.id, lock), /has only light/);
  assert.throws(() => hall.requireCommand(lamp.id, lamp), /has only Hall/);
  assert.throws(() => lights.requireCommand("a:light:9", undefined), { code: "forbidden" });
});

test("permission to see devices does not include commands, and vice versa", () => {
  assert.throws(() => permissionsOf({ devices: ["read"] }).requireCommand(lamp.id, lamp));
  assert.deepEqual(permissionsOf({ devices: ["command"] }).seen(all), []);
});

test("the picture of a device needs no more than its state, and no other device is shown", () => {
  const permitted = permissionsOf({ devices: ["read"], kinds: ["light"] });
  const image = (id: string) => `/smart-home/devices/${encodeURIComponent(id)}/image`;

  assert.equal(permitted.documentAt(image(lamp.id), find), image(lamp.id));
  assert.throws(() => permitted.documentAt(image(lock.id), find), /has only light/);
  assert.throws(() => permitted.documentAt(`${image(lamp.id)}/../../config`, find));
  assert.throws(
    () => permissionsOf({}).documentAt(image(lamp.id), find),
    /"needs": \{"devices":\["read"\]\}/,
  );
});

test("a widget commands a room only if it may command every such device in it", () => {
  const devices: Needs["devices"] = ["read", "command"];
  const lights = permissionsOf({ devices, kinds: ["light"] });
  const hall = permissionsOf({ devices, rooms: ["Hall"] });

  lights.requireRoom("", "light");
  hall.requireRoom("Hall", "light");
  assert.throws(() => lights.requireRoom("Hall", "plug"), { code: "forbidden" });
  assert.throws(() => hall.requireRoom("", "light"), { code: "forbidden" });
  assert.throws(() => hall.requireRoom("Kitchen", "light"), { code: "forbidden" });
  assert.throws(
    () => permissionsOf({ devices: ["read"] }).requireRoom("Hall", "light"),
    /"read","command"/,
  );
});

test("a widget reads only declared documents and the histories of visible devices", () => {
  const permitted = permissionsOf({
    devices: ["read"],
    kinds: ["light"],
    reads: ["calendar", "history", "/photos"],
  });
  const history = (id: string) => `/smart-home/devices/${encodeURIComponent(id)}/history?from=1`;

  for (const path of [
    "/calendar/events?start=1&end=2",
    "/photos",
    "/photos/a%20b.jpg",
    history(lamp.id),
  ]) {
    assert.equal(permitted.documentAt(path, find), path);
  }
  for (const path of [
    "/tokens",
    "/config",
    "/audit",
    "/photos/../tokens",
    "/photos/%2e%2e/tokens",
    "/photos/..%2ftokens",
    "/photos/%2Fapi",
    "/photos/a\\..\\..\\tokens",
    "//photos",
    "http://example.org/photos",
    "photos",
    history(lock.id),
    history("nothing"),
  ]) {
    assert.throws(() => permitted.documentAt(path, find), Error, path);
  }
});

test("a widget reads the routes of its own plugin without a declaration", () => {
  const permitted = permissionsOf({});

  for (const path of [
    "/plugins/news/front.png",
    "/plugins/news/pages/a%20b?size=2",
    "/plugins/news/1.2",
  ])
    assert.equal(permitted.documentAt(path, find), path);
  for (const path of [
    "/plugins/news",
    "/plugins/news/",
    ...["config", "hooks/secret/pushed", "icon", "pin", "readme", "update", "conf%69g"].map(
      (part) => `/plugins/news/${part}`,
    ),
    "/plugins/news/../sea/tides",
    "/plugins/news/..%2fsea/tides",
    "/plugins/newspaper/front.png",
    "/plugins/sea/tides",
    "/plugins",
    "/news",
    "//plugins/news/front.png",
    "/",
  ])
    assert.throws(() => permitted.documentAt(path, find), { code: "forbidden" }, path);
});

test("a widget reads the routes of other plugins that its manifest names", () => {
  const permitted = permissionsOf({ reads: ["/tides", "/plugins/sea"] });

  for (const path of ["/tides", "/tides/today/chart.png?days=2", "/plugins/sea/map.png"])
    assert.equal(permitted.documentAt(path, find), path);
  for (const path of ["/tides2", "/plugins/sea", "/plugins/sea/config", "/plugins/lake/map.png"])
    assert.throws(() => permitted.documentAt(path, find), { code: "forbidden" }, path);
  assert.throws(
    () => permitted.documentAt("/plugins/lake/map.png", find),
    /"needs": \{"reads":\["\/plugins\/lake"\]\}/,
  );
  assert.throws(() => permitted.documentAt("/lakes/1", find), /\{"reads":\["\/lakes"\]\}/);
});
