import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceStore } from "../../../plugins/ha-discovery/device-store.ts";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";
import { component } from "./component.ts";

/** A home of components, without a broker. Each is `[platform, config]`. */
function homeOf(...components: readonly (readonly [platform: string, config: object])[]) {
  const home = new DeviceStore();
  const known = components.map(([platform, config]) => component(platform, config).known);
  home.regroup(known);
  home.describe(false);
  return {
    home,
    /** The availabilities that a message changes, by native id. */
    tell: (topic: string, payload: string) => {
      const { updates } = home.receive(topic, new Payload(payload, false), 0);
      const entries = updates.flatMap(({ nativeId, available }) =>
        available === undefined ? [] : [[nativeId, available] as const],
      );
      return Object.fromEntries(entries);
    },
    unavailable: () =>
      home.describe(false).flatMap(({ nativeId, available }) => (available ? [] : [nativeId])),
  };
}

const behind = (id: string, via: string) =>
  ["switch", { cmd_t: "x", uniq_id: id, dev: { ids: [id], via_device: via } }] as const;
const GATEWAY = [
  "sensor",
  { stat_t: "gw/rssi", avty_t: "gw/status", uniq_id: "rssi", dev: { ids: ["gw", "other"] } },
] as const;

test("devices behind a gateway are unavailable while its status topic says so", () => {
  const { tell, unavailable } = homeOf(GATEWAY, behind("a", "gw"), behind("b", "other"));
  assert.deepEqual(unavailable(), ["device:gw"]);

  assert.deepEqual(tell("gw/status", "online"), { "device:gw": true });
  assert.deepEqual(tell("gw/status", "offline"), {
    "device:gw": false,
    "switch:a": false,
    "switch:b": false,
  });
  assert.deepEqual(unavailable(), ["device:gw", "switch:a", "switch:b"]);
  assert.deepEqual(tell("gw/status", "online"), {
    "device:gw": true,
    "switch:a": true,
    "switch:b": true,
  });
});

test("devices behind a gateway behind a dead gateway are unavailable, and a circle ends", () => {
  const device = { ids: ["inner"], via_device: "gw" };
  const inner = ["sensor", { stat_t: "inner/x", uniq_id: "inner", dev: device }] as const;
  const { tell } = homeOf(GATEWAY, inner, behind("a", "inner"));
  const circle = homeOf(behind("a", "b"), behind("b", "a"), behind("c", "c"));

  assert.deepEqual(tell("gw/status", "offline"), { "device:inner": false, "switch:a": false });
  assert.deepEqual(circle.unavailable(), []);
});

test("a gateway is dead when all of its components that report it say so", () => {
  const second = ["sensor", { ...GATEWAY[1], avty_t: "gw/second", uniq_id: "second" }] as const;
  const silent = ["button", { cmd_t: "gw/restart", uniq_id: "r", dev: { ids: "gw" } }] as const;
  const { tell, unavailable } = homeOf(GATEWAY, second, silent, behind("a", "gw"));

  tell("gw/second", "online");
  tell("gw/status", "offline");
  assert.deepEqual(unavailable(), []);
  tell("gw/second", "offline");
  assert.deepEqual(unavailable(), ["switch:a"]);
});

test("a gateway's connectivity sensor without an availability of its own is its status", () => {
  const status = { stat_t: "gw/lwt", dev_cla: "connectivity", uniq_id: "s", dev: { ids: ["gw"] } };
  const own = homeOf(["binary_sensor", status], behind("a", "gw"));
  const other = homeOf(["binary_sensor", { ...status, avty_t: "gw/status" }], behind("a", "gw"));
  other.tell("gw/status", "online");

  assert.deepEqual(own.tell("gw/lwt", "OFF"), { "switch:a": false });
  assert.deepEqual(own.tell("gw/lwt", "ON"), { "switch:a": true });
  assert.deepEqual(other.tell("gw/lwt", "OFF"), {});
});

test("devices behind an unknown or silent gateway are available", () => {
  const { unavailable } = homeOf(GATEWAY, behind("a", "gw"), behind("b", "nothing"));

  assert.deepEqual(unavailable(), ["device:gw"]);
});

test("every component of a device in one announcement follows the device's status topic", () => {
  const { tell } = homeOf(
    [
      "switch",
      { cmd_t: "x", uniq_id: "a", avty: [{ t: "gw/status" }, { t: "a/status" }], avty_mode: "all" },
    ],
    ["switch", { cmd_t: "x", uniq_id: "b", avty: [{ t: "gw/status" }] }],
  );

  assert.deepEqual(tell("gw/status", "online"), { "switch:b": true });
  assert.deepEqual(tell("a/status", "online"), { "switch:a": true });
  assert.deepEqual(tell("gw/status", "offline"), { "switch:a": false, "switch:b": false });
});
