import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfVocabulary } from "@mantel/plugin-sdk/vocabulary";
import { DeviceStore } from "../../../plugins/ha-discovery/device-store.ts";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";
import { component } from "./component.ts";

const DEVICE = { ids: ["d"], name: "Thing" };

type Announced = readonly [platform: string, config: object];

/** The one device that components make. */
function deviceOf(...components: readonly Announced[]) {
  const home = new DeviceStore();
  home.regroup(
    components.map(([platform, config], index) => {
      return component(platform, { uniq_id: `c${index}`, dev: DEVICE, ...config }).known;
    }),
  );
  const [device] = home.describe(false);
  assert.ok(device);
  assert.deepEqual(faultsOfVocabulary(device.kind, device.capabilities), []);
  return { device, home };
}

/** The names of a device's own capabilities, and those beyond the vocabulary with their groups. */
function namesOf(...components: readonly Announced[]) {
  const { kind, capabilities, extra } = deviceOf(...components).device;
  const groups = Object.entries(extra?.capabilities ?? {}).map(([name, { group }]) => [
    name,
    group,
  ]);
  return [kind, Object.keys(capabilities), Object.fromEntries(groups) as object];
}

const LAMP = ["light", { cmd_t: "x", stat_t: "s" }] as const;
const sensor = (config: object) => ["sensor", { stat_t: "t", ...config }] as const;

test("readings have the names of the vocabulary, and the rest is extra in its group", () => {
  assert.deepEqual(
    namesOf(
      LAMP,
      sensor({ dev_cla: "signal_strength", unit_of_meas: "dBm", ent_cat: "diagnostic" }),
      sensor({ name: "Uptime", unit_of_meas: "s", ent_cat: "diagnostic" }),
      ["number", { cmd_t: "n", name: "Power limit", ent_cat: "config" }],
      ["select", { cmd_t: "n", ops: ["a"], name: "Scenery" }],
      ["button", { cmd_t: "b", dev_cla: "restart", ent_cat: "config" }],
    ),
    [
      "light",
      ["on", "signal"],
      {
        uptime: "diagnostic",
        powerLimit: "configuration",
        scenery: "main",
        restart: "configuration",
      },
    ],
  );
});

test("a reading in another unit, and a setting with a reading's name, are extra", () => {
  assert.deepEqual(
    namesOf(
      LAMP,
      sensor({ dev_cla: "carbon_monoxide", unit_of_meas: "mg/m³" }),
      sensor({ dev_cla: "temperature", unit_of_meas: "W" }),
      ["number", { cmd_t: "n", name: "Humidity", unit_of_meas: "%" }],
      ["number", { cmd_t: "n", name: "Brightness", unit_of_meas: "%", min: 0 }],
      ["binary_sensor", { stat_t: "b", dev_cla: "lock" }],
    ),
    [
      "light",
      ["on"],
      {
        co: "main",
        temperature: "main",
        humidity: "main",
        brightnessSetting: "main",
        locked: "main",
      },
    ],
  );
});

test("a sensor that fits a name of the vocabulary has it, whatever comes before it", () => {
  assert.deepEqual(
    namesOf(LAMP, sensor({ name: "Battery" }), sensor({ dev_cla: "battery", unit_of_meas: "%" })),
    ["light", ["on", "battery"], { thing: "main" }],
  );
});

test("the only field of a device without a name in the vocabulary is its value", () => {
  const unknown = sensor({ name: "Foo", unit_of_meas: "widgets" });
  const text = sensor({ name: "Bar" });
  const flag = ["binary_sensor", { stat_t: "b", name: "Foo" }] as const;

  assert.deepEqual(namesOf(unknown), ["sensor", ["value"], {}]);
  assert.deepEqual(namesOf(unknown, text), ["sensor", [], { foo: "main", bar: "main" }]);
  assert.deepEqual(namesOf(flag), ["binary-sensor", ["active"], {}]);
  assert.deepEqual(namesOf(["button", { cmd_t: "b" }]), ["button", ["press"], {}]);
  assert.deepEqual(namesOf(["number", { cmd_t: "n", name: "Level" }]), ["sensor", ["value"], {}]);
  assert.deepEqual(namesOf(sensor({ name: "Foo", ent_cat: "diagnostic" })), [
    ...["sensor", [], { foo: "diagnostic" }],
  ]);
});

test("a device of updates is an update, and elsewhere the versions are extra", () => {
  const update = ["update", { stat_t: "u", cmd_t: "i", pl_inst: "go", ent_cat: "config" }] as const;
  const all = ["updateAvailable", "installedVersion", "latestVersion", "install"];

  assert.deepEqual(namesOf(update), ["update", all, {}]);
  assert.deepEqual(namesOf(LAMP, update), [
    ...["light", ["on", "updateAvailable"]],
    {
      installedVersion: "configuration",
      latestVersion: "configuration",
      install: "configuration",
    },
  ]);
});

test("a bell at the door is a doorbell", () => {
  const bell = ["event", { stat_t: "e", evt_typ: ["ring"], dev_cla: "doorbell" }] as const;

  assert.deepEqual(namesOf(bell), ["doorbell", ["lastAction"], {}]);
});

for (const [platform, deviceClass, unit, name] of [
  ["sensor", "carbon_dioxide", "ppm", "co2"],
  ["sensor", "power_factor", "%", "powerFactor"],
  ["sensor", "precipitation", "in", "rain"],
  ["sensor", "wind_speed", "m/s", "windSpeed"],
  ["sensor", "gas", "ft³", "gasVolume"],
  ["sensor", "volume_flow_rate", "L/min", "flow"],
  ["sensor", "volatile_organic_compounds_parts", "ppb", "vocParts"],
  ["sensor", "atmospheric_pressure", "mbar", "pressure"],
  ["binary_sensor", "occupancy", undefined, "occupancy"],
  ["binary_sensor", "moisture", undefined, "waterLeak"],
  ["binary_sensor", "safety", undefined, "unsafe"],
  ["binary_sensor", "connectivity", undefined, "connected"],
] as const) {
  test(`a ${platform} of the class ${deviceClass} is ${name}`, () => {
    const config = { stat_t: "t", dev_cla: deviceClass, unit_of_meas: unit };

    assert.deepEqual(namesOf([platform, config])[1], [name]);
  });
}

for (const [name, unit, field] of [
  ["Wind Speed", "m/s", "windSpeed"],
  ["Wind max speed", "km/h", "windGust"],
  ["Gust", "mph", "windGust"],
  ["Wind Direction", "°", "windDirection"],
  ["Rain Total", "mm", "rain"],
  ["Rain Rate", "in/h", "rainRate"],
  ["Wind chill", "°C", "value"],
  ["Window", "km/h", "value"],
  ["Wind", undefined, "value"],
] as const) {
  test(`a sensor without a class that is called ${name} and reports ${unit} is ${field}`, () => {
    assert.deepEqual(namesOf(sensor({ name, unit_of_meas: unit, stat_cla: "measurement" }))[1], [
      field,
    ]);
  });
}

test("beyond a hundred capabilities configuration is left out, and the log says so", () => {
  const numbers = Array.from({ length: 99 }, (_, at) => sensor({ name: `Value ${at}` }));
  const setting = ["number", { cmd_t: "n", name: "Setting", ent_cat: "config" }] as const;
  const late = sensor({ name: "Last" });

  const { device, home } = deviceOf(LAMP, setting, ...numbers, late);

  assert.equal(Object.keys(device.extra?.capabilities ?? {}).length, 99);
  assert.deepEqual([...home.leftOut], [["Thing", ["value97", "setting"]]]);
});

test("a device that reports nothing of what can be set has an assumed state", () => {
  const isAssumed = (platform: string, config: object) =>
    deviceOf([platform, config]).device.assumed === true;

  assert.deepEqual(
    [
      isAssumed("switch", { cmd_t: "x" }),
      isAssumed("switch", { cmd_t: "x", stat_t: "s" }),
      isAssumed("switch", { cmd_t: "x", stat_t: "s", opt: true }),
      isAssumed("cover", { cmd_t: "x" }),
      isAssumed("cover", { cmd_t: "x", stat_t: "s" }),
      isAssumed("button", { cmd_t: "x" }),
    ],
    [true, false, true, true, false, false],
  );
});

test("extras are told apart from the state in updates", () => {
  const { home } = deviceOf(
    ["switch", { cmd_t: "x", stat_t: "s", val_tpl: "{{ value_json.on }}" }],
    [
      "select",
      { cmd_t: "x", ops: ["a", "b"], name: "Mode", stat_t: "s", val_tpl: "{{ value_json.mode }}" },
    ],
  );

  const { updates, told } = home.receive("s", new Payload('{"on": "ON", "mode": "b"}', false), 0);

  assert.deepEqual(updates, [{ nativeId: "switch:c0", state: { on: true }, extra: { mode: "b" } }]);
  assert.deepEqual(
    told.map(({ state }) => state),
    [{ on: true }, { mode: "b" }],
  );
  assert.deepEqual(home.describe(false)[0]?.extra, {
    capabilities: { mode: { type: "choice", values: ["a", "b"], group: "main" } },
    state: { mode: "b" },
  });
});
