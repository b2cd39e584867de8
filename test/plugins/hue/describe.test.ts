import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import type { HueBridge } from "../../../plugins/hue/bridge.ts";
import { describe } from "../../../plugins/hue/convert.ts";
import { merge } from "../../../plugins/hue/merge.ts";
import { Resources } from "../../../plugins/hue/resources.ts";
import { device, home, onOffLight, idOf } from "../../fakes/hue-home.ts";

const BRIDGE = "001788fffe123456";
const MAC = "00:17:88:01:02:03:04:09";

function describeAll(...all: readonly object[]) {
  const resources = new Resources();
  resources.replace(all);
  return describe(BRIDGE, resources);
}

const namesOf = ({ devices }: { devices: readonly DeviceDescription[] }) =>
  devices.map(({ name }) => name);
const group = (id: string, type: string, fields: object, services = [`${id}-lights`]) => [
  { id, type, services: services.map((rid) => ({ rid, rtype: "grouped_light" })), ...fields },
  { id: `${id}-lights`, type: "grouped_light", on: { on: true }, dimming: { brightness: 40 } },
];
const refs = (rtype: string, ...ids: string[]) => ids.map((rid) => ({ rid, rtype }));

test("a home becomes lights, a plug, buttons, sensors and groups, by radio address", () => {
  const { devices, targets, buttons } = describeAll(...home());

  assert.deepEqual(
    devices.map(({ nativeId, kind, name, room, groups }) => [nativeId, kind, name, room, groups]),
    [
      ["00:17:88:01:02:03:04:01/light", "light", "Desk", "Study", ["Reading"]],
      ["00:17:88:01:02:03:04:02/light", "light", "Shelf", "Study", []],
      ["00:17:88:01:02:03:04:03/light", "plug", "Kettle", undefined, []],
      ["00:17:88:01:02:03:04:04/button", "button", "Dial", undefined, []],
      ["00:17:88:01:02:03:04:05/sensor", "sensor", "Hall", undefined, []],
      ["00:17:88:01:02:03:04:06/sensor", "binary-sensor", "Front door", undefined, []],
      [`${BRIDGE}/${idOf("room-1")}`, "group", "Study", "Study", undefined],
      [`${BRIDGE}/${idOf("zone-1")}`, "group", "Reading", undefined, undefined],
    ],
  );
  assert.deepEqual(
    [...targets].map(([nativeId, { id }]) => [nativeId, id]),
    [
      [`${BRIDGE}/${idOf("scene-1")}`, idOf("scene-1")],
      [`${BRIDGE}/${idOf("scene-2")}`, idOf("scene-2")],
      ["00:17:88:01:02:03:04:01/light", idOf("lamp-1-light-0")],
      ["00:17:88:01:02:03:04:02/light", idOf("lamp-2-light-0")],
      ["00:17:88:01:02:03:04:03/light", idOf("plug-1-light-0")],
      [`${BRIDGE}/${idOf("room-1")}`, idOf("room-1-lights")],
      [`${BRIDGE}/${idOf("zone-1")}`, idOf("zone-1-lights")],
    ],
  );
  const dial = "00:17:88:01:02:03:04:04/button";
  assert.deepEqual([...buttons.values()], [dial, dial, dial]);
});

test("scenes have their room and what they set of each light", () => {
  const { scenes } = describeAll(...home());

  assert.deepEqual(scenes, [
    {
      nativeId: `${BRIDGE}/${idOf("scene-1")}`,
      name: "Bright",
      room: "Study",
      targets: {
        "00:17:88:01:02:03:04:01/light": { on: true, brightness: 100, colorTemperature: 4_292 },
        "00:17:88:01:02:03:04:02/light": { on: true, brightness: 50 },
      },
    },
    { nativeId: `${BRIDGE}/${idOf("scene-2")}`, name: "Natural light", room: "Study", targets: {} },
  ]);
});

test("a scene without a name, a room or known lights has no targets", () => {
  const { scenes } = describeAll({
    id: "s",
    type: "scene",
    actions: [{ target: { rid: "gone" } }, null],
  });
  assert.deepEqual(scenes, [{ nativeId: `${BRIDGE}/s`, name: "Scene", targets: {} }]);
});

test("only the first 500 scenes are shown", () => {
  const many = Array.from({ length: 501 }, (_, at) => ({ id: `s${at}`, type: "smart_scene" }));
  assert.equal(describeAll(...many).scenes.length, 500);
});

test("a device has its manufacturer, its product and its firmware", () => {
  const infoOf = (product_data: object) => {
    const [owner = {}, ...rest] = device({
      id: "d",
      name: "D",
      mac: MAC,
      services: [onOffLight("bulb")],
    });
    return describeAll({ ...owner, product_data }, ...rest).devices[0]?.info;
  };

  assert.deepEqual(
    infoOf({
      manufacturer_name: "Maker",
      product_name: "Lamp",
      model_id: "L1",
      software_version: "1.2",
    }),
    { manufacturer: "Maker", model: "Lamp", firmware: "1.2" },
  );
  assert.deepEqual(infoOf({ model_id: "L1" }), { model: "L1" });
  assert.deepEqual(infoOf({}), {});
});

test("a device without a name is a Hue device", () => {
  const [owner = {}, ...rest] = device({
    id: "d",
    name: "D",
    mac: MAC,
    services: [onOffLight("bulb")],
  });
  assert.deepEqual(namesOf(describeAll({ ...owner, metadata: {} }, ...rest)), ["Hue device"]);
});

test("a doorbell is a device of its own, beside the motion that its camera sees", () => {
  const bell = { type: "bell_button", bell: { bell_report: { event: "ring" } } };
  const { devices, buttons } = describeAll(
    ...device({ id: "d", name: "Bell", mac: MAC, services: [bell, { type: "camera_motion" }] }),
  );

  assert.deepEqual(
    devices.map(({ nativeId, kind, state }) => [nativeId, kind, state]),
    [
      [`${MAC}/doorbell`, "doorbell", { lastAction: "ring" }],
      [`${MAC}/sensor`, "binary-sensor", { motion: null }],
    ],
  );
  assert.deepEqual([...buttons.values()], [`${MAC}/doorbell`]);
});

test("the level of a dimmer that is called a plug is an extra", () => {
  const dimmer = { ...onOffLight("plug"), dimming: { brightness: 40 } };
  const [plug] = describeAll(
    ...device({ id: "d", name: "Dimmer", mac: MAC, services: [dimmer] }),
  ).devices;

  assert.deepEqual([plug?.kind, plug?.state], ["plug", { on: false }]);
  assert.deepEqual(Object.keys(plug?.capabilities ?? {}), ["on"]);
  assert.deepEqual(plug?.extra, {
    capabilities: {
      brightness: { type: "number", min: 0, max: 100, step: 1, unit: "%", group: "main" },
    },
    state: { brightness: 40 },
  });
});

test("the sensors of a room, of the home and of an area are sensors of their own", () => {
  const owner = (rid: string) => ({ owner: { rid, rtype: "room" } });
  const changed = (at: string, motion: boolean) => ({ motion_report: { changed: at, motion } });
  const { devices } = describeAll(
    { id: "r", type: "room", metadata: { name: "Study" } },
    { id: "h", type: "bridge_home" },
    { id: "g1", type: "grouped_motion", ...owner("r"), motion: changed("2026-11-20", true) },
    { id: "g2", type: "grouped_light_level", ...owner("r"), light: { light_level: 10_001 } },
    { id: "g3", type: "grouped_motion", ...owner("h"), motion: {} },
    {
      id: "a",
      type: "motion_area_configuration",
      name: "Desk area",
      enabled: true,
      group: { rid: "r", rtype: "room" },
    },
    {
      id: "a1",
      type: "convenience_area_motion",
      ...owner("a"),
      enabled: true,
      motion: changed("2026-11-20", true),
    },
    {
      id: "a2",
      type: "security_area_motion",
      ...owner("a"),
      enabled: true,
      motion: changed("2026-11-21", false),
    },
  );

  assert.deepEqual(
    devices.map(({ nativeId, kind, name, room, state }) => [nativeId, kind, name, room, state]),
    [
      [`${BRIDGE}/g1`, "binary-sensor", "Study", "Study", { motion: true }],
      [`${BRIDGE}/g2`, "sensor", "Study", "Study", { illuminance: 10 }],
      [`${BRIDGE}/g3`, "binary-sensor", "All sensors", undefined, { motion: null }],
      [`${BRIDGE}/a`, "binary-sensor", "Desk area", "Study", { motion: false }],
    ],
  );
});

for (const [what, area, service, motion] of [
  ["works", { enabled: true, health: "healthy" }, { enabled: true }, true],
  ["is switched off", { enabled: false }, { enabled: true }, null],
  ["does not run", { health: "not_running" }, { enabled: true }, null],
  ["has a disabled service", {}, { enabled: false }, null],
] as const) {
  test(`a motion area that ${what} reports ${motion}`, () => {
    const [sensor] = describeAll(
      { id: "a", type: "motion_area_configuration", ...area },
      {
        id: "s",
        type: "security_area_motion",
        owner: { rid: "a" },
        ...service,
        motion: { motion: true },
      },
    ).devices;
    assert.deepEqual(sensor?.state, { motion });
  });
}

for (const [status, available] of [
  ["connected", true],
  ["connectivity_issue", false],
  ["disconnected", false],
  ["unidirectional_incoming", true],
] as const) {
  test(`a device whose radio is ${status} is ${available ? "" : "not "}available`, () => {
    const all = device({ id: "d", name: "D", mac: MAC, services: [onOffLight("bulb")] });
    const { devices } = describeAll(
      ...all.map((each) => (each["status"] ? { ...each, status } : each)),
    );

    assert.equal(devices[0]?.available, available);
  });
}

for (const [mac, nativeId] of [
  ["00:17:88:01:02:03", "00:17:88:01:02:03/light"],
  [MAC, `${MAC}/light`],
  ["00:17:88:01:02", `${BRIDGE}/${idOf("d")}/light`],
  [`${MAC}:01`, `${BRIDGE}/${idOf("d")}/light`],
  ["00:17:88:01:02:0X", `${BRIDGE}/${idOf("d")}/light`],
  ["x00:17:88:01:02:03", `${BRIDGE}/${idOf("d")}/light`],
] as const) {
  test(`a light with the radio address ${mac} is known as ${nativeId}`, () => {
    const { devices } = describeAll(
      ...device({ id: "d", name: "D", mac, services: [onOffLight("bulb")] }),
    );
    assert.equal(devices[0]?.nativeId, nativeId);
  });
}

test("the lights of a device with several are numbered, and from the second on have their own names", () => {
  const services = [
    onOffLight("bulb"),
    onOffLight("bulb"),
    { ...onOffLight("bulb"), metadata: {} },
  ];
  const { devices } = describeAll(...device({ id: "d", name: "Chandelier", mac: MAC, services }));

  assert.deepEqual(
    devices.map(({ nativeId, name }) => [nativeId, name]),
    [
      [`${MAC}/light`, "Chandelier"],
      [`${MAC}/light-2`, "Switched"],
      [`${MAC}/light-3`, "Chandelier"],
    ],
  );
});

test("the battery level is on the button and sensor devices; a battery alone makes no device", () => {
  const battery = { type: "device_power", power_state: { battery_level: 80 } };
  const button = { type: "button", metadata: { control_id: 1 }, button: {} };
  const motion = { type: "motion", motion: { motion: true } };
  const described = (...services: { type: string }[]) =>
    describeAll(...device({ id: "d", name: "D", mac: MAC, services })).devices.map(
      ({ kind, state }) => [kind, state],
    );

  assert.deepEqual(described(button, motion, battery), [
    ["button", { lastAction: null, battery: 80 }],
    ["binary-sensor", { motion: true, battery: 80 }],
  ]);
  assert.deepEqual(described(battery), []);
});

test("zones of a light and of its device are its groups, each once and at most 100", () => {
  const lamp = device({ id: "d", name: "D", mac: MAC, services: [onOffLight("bulb")] });
  const zone = (at: number, children: object[]) => ({
    id: `z${at}`,
    type: "zone",
    metadata: { name: `Zone ${at}` },
    children,
  });
  const both = [...refs("light", idOf("d-light-0")), ...refs("device", idOf("d"))];
  const groupsOf = (...zones: object[]) => describeAll(...lamp, ...zones).devices[0]?.groups;

  assert.deepEqual(
    groupsOf(zone(1, refs("light", idOf("d-light-0"))), zone(2, refs("device", idOf("d")))),
    ["Zone 2", "Zone 1"],
  );
  assert.deepEqual(groupsOf(zone(1, both)), ["Zone 1"]);
  const many = Array.from({ length: 101 }, (_, at) => zone(at, refs("light", idOf("d-light-0"))));
  assert.equal(groupsOf(...many)?.length, 100);
  assert.deepEqual(groupsOf({ ...zone(1, both), metadata: {} }), []);
});

test("a room without a grouped light is not a device; the group without a name is called All lights", () => {
  assert.deepEqual(namesOf(describeAll(...group("r", "room", {}, []))), []);
  const [all] = describeAll(...group("h", "bridge_home", {})).devices;
  assert.deepEqual([all?.name, all?.kind, all?.room], ["All lights", "group", undefined]);
});

test("a group has what its lights have, and shows the colour of one that is on", () => {
  const colored = (on: boolean, x: number) => ({
    type: "light",
    on: { on },
    dimming: { brightness: 90 },
    color: { xy: { x, y: 0.33 } },
    effects: { effect_values: ["candle"] },
  });
  const lamps = [colored(false, 0.3), colored(true, 0.64)].flatMap((service, at) =>
    device({
      id: `d${at}`,
      name: `D${at}`,
      mac: `00:17:88:01:02:03:04:1${at}`,
      services: [service],
    }),
  );
  const room = { metadata: { name: "Study" }, children: refs("device", idOf("d0"), idOf("d1")) };
  const { devices } = describeAll(...lamps, ...group("r", "room", room));
  const shown = devices.find(({ kind }) => kind === "group");

  assert.deepEqual(Object.keys(shown?.capabilities ?? {}), ["brightness", "color", "on"]);
  assert.deepEqual(shown?.state, { on: true, brightness: 40, color: { hue: 0, saturation: 100 } });
});

test("the whole home has the lights of its rooms", () => {
  const [lamp] = [
    device({
      id: "d",
      name: "D",
      mac: MAC,
      services: [{ type: "light", on: { on: true }, color: { xy: { x: 0.64, y: 0.33 } } }],
    }),
  ];
  const room = {
    id: "r",
    type: "room",
    metadata: { name: "Study" },
    children: refs("device", idOf("d")),
  };
  const zone = { id: "z", type: "zone", children: refs("room", "r") };
  const all = (children: object[], ...more: object[]) =>
    describeAll(...lamp, room, ...more, ...group("h", "bridge_home", { children })).devices.at(-1)
      ?.capabilities["color"];

  assert.deepEqual(all(refs("room", "r")), { type: "color" });
  assert.deepEqual(all(refs("device", idOf("d"))), { type: "color" });
  assert.deepEqual(all(refs("light", idOf("d-light-0"))), { type: "color" });
  assert.equal(all(refs("room", "z"), zone), undefined);
});

for (const type of ["room", "bridge_home"]) {
  test(`a ${type} that contains itself is shown all the same`, () => {
    const { devices } = describeAll(...group("r", type, { children: refs("room", "r") }));
    assert.equal(devices.length, 1);
  });
}

function bridgeOf(
  id: string,
  problem: string | undefined,
  ...described: readonly object[]
): HueBridge {
  return { id, problem, described: describeAll(...described) } as unknown as HueBridge;
}

const LAMP = device({ id: "d", name: "D", mac: MAC, services: [onOffLight("bulb")] });
const GONE = LAMP.map((each) => (each["status"] ? { ...each, status: "disconnected" } : each));

test("devices and scenes name their bridge, and a bridge with a problem has none available", () => {
  const { devices, scenes, places, left } = merge([
    bridgeOf("a", undefined, ...LAMP, { id: "s", type: "scene" }),
  ]);

  assert.deepEqual(
    devices.map(({ gateway, available }) => [gateway, available]),
    [["a", true]],
  );
  assert.deepEqual(
    scenes.map(({ gateway }) => gateway),
    ["a"],
  );
  assert.deepEqual([...places.keys()], [`${MAC}/light`, `${BRIDGE}/s`]);
  assert.equal(left, 0);
  assert.equal(merge([bridgeOf("a", "away", ...LAMP)]).devices[0]?.available, false);
});

for (const [first, second, gateway] of [
  [LAMP, LAMP, "b"],
  [GONE, LAMP, "b"],
  [LAMP, GONE, "a"],
  [GONE, GONE, "a"],
] as const) {
  test(`of two bridges that list a light ${gateway === "a" ? "the first" : "the second"} has it if it reaches it so: ${first === LAMP}, ${second === LAMP}`, () => {
    const { devices, places } = merge([
      bridgeOf("a", undefined, ...first),
      bridgeOf("b", undefined, ...second),
    ]);

    assert.deepEqual(
      devices.map((each) => each.gateway),
      [gateway],
    );
    assert.equal(places.get(`${MAC}/light`)?.bridge.id, gateway);
  });
}

test("more than 5,000 devices and 1,000 scenes are left out and counted", () => {
  const [one] = describeAll(...LAMP).devices;
  const devices = Array.from({ length: 5_002 }, (_, at) => ({ ...one, nativeId: `${at}` }));
  const scenes = Array.from({ length: 1_003 }, (_, at) => ({ nativeId: `${at}`, name: "S" }));
  const described = { devices, scenes, targets: new Map(), buttons: new Map() };

  const merged = merge([{ id: "a", described } as unknown as HueBridge]);

  assert.deepEqual([merged.devices.length, merged.scenes.length, merged.left], [5_000, 1_000, 5]);
  assert.equal(merged.places.size, 0);
});
