import assert from "node:assert/strict";
import { test } from "node:test";
import {
  placeOf,
  readAnnouncement,
  type Announcement,
} from "../../../plugins/ha-discovery/discovery.ts";

function read(topic: string, payload: unknown): Announcement {
  const place = placeOf(topic, "homeassistant");
  assert.ok(place, topic);
  return readAnnouncement(topic, place, JSON.stringify(payload));
}

const fieldsOf = ({ components: [component] }: Announcement) =>
  Object.fromEntries(component?.fields ?? []);

test("a topic announces with and without a node, and only in the characters that are allowed", () => {
  const places = [
    "homeassistant/light/lamp/config",
    "homeassistant/light/node/lamp/config",
    "homeassistant/device/box/config",
    "homeassistant/light/a/b/lamp/config",
    "homeassistant/light/lamp/state",
    "homeassistant/config",
    "homeassistant/light/la mp/config",
    "homeassistant/light//config",
    "other/light/lamp/config",
  ].map((topic) => placeOf(topic, "homeassistant")?.platform);

  assert.deepEqual(places, ["light", "light", "device", ...Array(6).fill(undefined)]);
});

test("a prefix may have several levels", () => {
  assert.equal(placeOf("home/ha/light/lamp/config", "home/ha")?.objectId, "lamp");
});

test("the three tables of abbreviations apply each to its own object", () => {
  const announcement = read("homeassistant/sensor/t/config", {
    stat_t: "a/b",
    val_tpl: "{{ value }}",
    uniq_id: "u",
    unit_of_meas: "°C",
    avty: [{ t: "a/status", pl_avail: "up", pl_not_avail: "down", val_tpl: "{{ value }}" }],
    dev: { ids: ["i"], mf: "M", mdl: "X", sw: "1", sa: "Hall", sn: "9", cns: [["mac", "00"]] },
    o: { name: "n", sw: "2", url: "u" },
  });

  const { availability, ...fields } = fieldsOf(announcement);
  assert.deepEqual(fields, {
    state_topic: "a/b",
    value_template: "{{ value }}",
    unique_id: "u",
    unit_of_measurement: "°C",
    device: { ids: ["i"], mf: "M", mdl: "X", sw: "1", sa: "Hall", sn: "9", cns: [["mac", "00"]] },
    origin: { name: "n", sw: "2", url: "u" },
  });
  assert.deepEqual(Object.fromEntries((availability as Map<string, unknown>[])[0] ?? []), {
    topic: "a/status",
    payload_available: "up",
    payload_not_available: "down",
    value_template: "{{ value }}",
  });
  assert.deepEqual(Object.fromEntries(announcement.components[0]?.device ?? []), {
    identifiers: ["i"],
    manufacturer: "M",
    model: "X",
    sw_version: "1",
    suggested_area: "Hall",
    serial_number: "9",
    connections: [["mac", "00"]],
  });
});

test("~ is replaced by the base topic only at the start and end of topics", () => {
  const fields = fieldsOf(
    read("homeassistant/light/lamp/config", {
      "~": "home/lamp",
      stat_t: "~/state",
      cmd_t: "set/~",
      bri_stat_t: "a/~/b",
      pl_on: "~",
      name: "~ lamp",
      avty: { t: "~/status" },
    }),
  );

  assert.equal(fields["state_topic"], "home/lamp/state");
  assert.equal(fields["command_topic"], "set/home/lamp");
  assert.equal(fields["brightness_state_topic"], "a/~/b");
  assert.equal(fields["payload_on"], "~");
  assert.equal(fields["name"], "~ lamp");
  assert.equal(
    (fields["availability"] as Map<string, unknown>[])[0]?.get("topic"),
    "home/lamp/status",
  );
});

const BOX = {
  dev: { ids: "box", name: "Box" },
  o: { name: "maker" },
  "~": "box",
  state_topic: "~/state",
  qos: 1,
  cmps: {
    t: { p: "sensor", dev_cla: "temperature", uniq_id: "box-t" },
    own: { p: "switch", stat_t: "~/own", cmd_t: "~/set", uniq_id: "box-s", qos: 2 },
    gone: { p: "sensor" },
  },
};

test("the components of a device inherit missing fields", () => {
  const { components } = read("homeassistant/device/box/config", BOX);

  assert.deepEqual(
    components.map(({ key, platform, fields }) => [
      key.slice(-4),
      platform,
      fields.get("state_topic"),
      fields.get("qos"),
    ]),
    [
      ["ig#t", "sensor", "box/state", 1],
      ["#own", "switch", "box/own", 2],
    ],
  );
  assert.ok(components.every(({ device }) => device?.get("name") === "Box"));
});

test("a component with only a platform is treated as removed", () => {
  const { components, refused } = read("homeassistant/device/box/config", BOX);

  assert.ok(!components.some(({ objectId }) => objectId === "gone"));
  assert.equal(refused.length, 0);
});

test("a broken component does not affect the device's other components", () => {
  const cmps = { ...BOX.cmps, broken: 5, alsoBroken: { dev_cla: "x" } };

  const { components, refused } = read("homeassistant/device/box/config", { ...BOX, cmps });

  assert.equal(components.length, 2);
  assert.equal(refused.length, 2);
});

test("the announcement of a device needs device, origin and components", () => {
  for (const key of ["dev", "o", "cmps"]) {
    assert.throws(() => read("homeassistant/device/box/config", { ...BOX, [key]: undefined }), {
      name: "DiscoveryError",
    });
  }
});

test("a value that is not a JSON object is refused with a clear message", () => {
  const place = { platform: "light", objectId: "x" };
  for (const text of ["{", "[]", "5", "null", '"x"', "\u0000", "NaN"]) {
    assert.throws(() => readAnnouncement("t", place, text), { name: "DiscoveryError" });
  }
});

test("a component can announce its migration", () => {
  assert.equal(read("homeassistant/light/lamp/config", { migr_discvry: true }).migrates, true);
});

test("the long form of a key wins over its abbreviation", () => {
  const fields = fieldsOf(read("homeassistant/light/l/config", { stat_t: "b", state_topic: "a" }));

  assert.equal(fields["state_topic"], "a");
});
