import assert from "node:assert/strict";
import { test } from "node:test";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";
import { component } from "./component.ts";

const TEXT = { type: "text", readOnly: true };
const NUMBER = { type: "number", readOnly: true };

for (const [config, capability] of [
  [{}, TEXT],
  [{ device_class: "timestamp" }, TEXT],
  [{ device_class: "date", unit_of_measurement: "d" }, TEXT],
  [{ device_class: "enum" }, TEXT],
  [{ device_class: "enum", options: [] }, TEXT],
  [{ options: ["a"] }, TEXT],
  [
    { device_class: "enum", options: ["a"] },
    { type: "choice", values: ["a"], readOnly: true },
  ],
  [{ device_class: "aqi" }, NUMBER],
  [{ state_class: "measurement" }, NUMBER],
  [{ unit_of_measurement: "lqi" }, NUMBER],
] as const) {
  test(`a sensor with ${JSON.stringify(config)} is a ${capability.type}`, () => {
    const sensor = component("sensor", { state_topic: "s", ...config });
    assert.deepEqual(sensor.capabilities, { value: capability });
  });
}

for (const [device_class, theirs, unit, told, value] of [
  ["water", "L", "m³", "1500", 1.5],
  ["water", "gal", "m³", "100", 0.3785412],
  ["distance", "mm", "m", "250", 0.25],
  ["temperature", "K", "°C", "300", 26.85],
  ["power", "lx", "lx", "7", 7],
] as const) {
  test(`a ${device_class} of ${told} ${theirs} is ${value} ${unit}`, () => {
    const config = { state_topic: "s", device_class, unit_of_measurement: theirs };
    const sensor = component("sensor", config);

    assert.deepEqual(sensor.capabilities["value"], { type: "number", unit, readOnly: true });
    assert.equal(sensor.tell("s", told)["value"], value);
  });
}

test("a text is cut at 1000 characters, None is unknown, and an empty text changes nothing", () => {
  const sensor = component("sensor", { state_topic: "s" });

  assert.deepEqual(sensor.tell("s", "x".repeat(1_001)), { value: "x".repeat(1_000) });
  assert.deepEqual(sensor.tell("s", "None"), { value: null });
  sensor.tell("s", "words");
  assert.deepEqual(sensor.tell("s", ""), { value: "words" });
});

test("text in a number sensor makes the value unknown and is counted as invalid; None and empty messages are not counted", () => {
  const sensor = component("sensor", { state_topic: "s", unit_of_measurement: "W" });

  sensor.tell("s", " 5 ");
  assert.deepEqual(sensor.tell("s", "  "), { value: 5 });
  assert.deepEqual(sensor.tell("s", "None"), { value: null });
  assert.deepEqual(sensor.garbage, []);
  assert.deepEqual(sensor.tell("s", "five"), { value: null });
  assert.deepEqual(sensor.garbage, ["its value is not a number"]);
});

test("a value that was not announced is unknown and counted apart", () => {
  const config = { state_topic: "s", device_class: "enum", options: ["a"] };
  const sensor = component("sensor", config);

  assert.deepEqual(sensor.tell("s", "b"), { value: null });
  assert.deepEqual(sensor.unusable, ["its value is not a possible value"]);
  assert.deepEqual(sensor.garbage, []);
  sensor.tell("s", "None");
  assert.equal(sensor.unusable.length, 1);
});

for (const [device_class, on] of [
  ["door", false],
  ["window", false],
  ["opening", false],
  ["garage_door", false],
  ["lock", false],
  ["motion", true],
  [undefined, true],
] as const) {
  test(`ON of a binary sensor of the class ${device_class} is ${on}`, () => {
    const sensor = component("binary_sensor", { state_topic: "s", device_class });

    assert.deepEqual(sensor.capabilities, { value: { type: "boolean", readOnly: true } });
    assert.deepEqual(sensor.tell("s", "ON"), { value: on });
    assert.deepEqual(sensor.tell("s", "something"), { value: on });
    assert.deepEqual(sensor.tell("s", "OFF"), { value: !on });
    assert.deepEqual(sensor.tell("s", "None"), { value: null });
  });
}

test("readings stay without a time after which they end, or with one of zero", () => {
  for (const expire_after of [undefined, 0]) {
    for (const off_delay of [undefined, 0]) {
      const sensor = component("binary_sensor", { state_topic: "s", expire_after, off_delay });
      sensor.tell("s", "ON");

      assert.equal(sensor.known.isPassing, false);
      assert.equal(sensor.known.expire(1e9), undefined);
    }
  }
});

for (const platform of ["sensor", "binary_sensor"]) {
  test(`a reading of a ${platform} is unknown when it was not repeated in time`, () => {
    const sensor = component(platform, { state_topic: "s", expire_after: 30 });

    assert.equal(sensor.known.isPassing, false);
    sensor.tell("s", "ON", 100);
    assert.equal(sensor.known.isPassing, true);
    assert.equal(sensor.known.expire(129), undefined);
    assert.deepEqual(sensor.known.expire(130)?.told, { value: null });
    assert.equal(sensor.known.isPassing, false);
  });
}

test("motion that ends by itself is false then, also for a class whose ON is false", () => {
  const door = component("binary_sensor", { state_topic: "s", device_class: "door", off_delay: 5 });
  door.tell("s", "ON", 10);

  assert.deepEqual(door.known.expire(15)?.changed, { value: true });
});

const UPDATE = { state_topic: "u", latest_version_topic: "l" };

for (const [payload, installedVersion, latestVersion] of [
  ["1.0", "1.0", null],
  [{ installed_version: "1.0", latest_version: "1.1" }, "1.0", "1.1"],
  [{ installed_version: 2, latest_version: 3 }, "2", "3"],
  [{ installed_version: "1.0", latest_version: "" }, "1.0", null],
  [{ installed_version: "1.0", latest_version: "None" }, "1.0", null],
  [{ installed_version: null, latest_version: "1.1" }, null, "1.1"],
  [{ installed_version: "1.0" }, "1.0", null],
  [{ installed_version: [1], latest_version: "1.1" }, null, "1.1"],
  ["v".repeat(201), "v".repeat(200), null],
  [{ installed_version: "v".repeat(201) }, "v".repeat(200), null],
] as const) {
  test(`the versions in ${JSON.stringify(payload).slice(0, 60)} are known`, () => {
    const state = component("update", UPDATE).tell("u", payload);

    assert.equal(state["installedVersion"], installedVersion);
    assert.equal(state["latestVersion"], latestVersion);
    const isKnown = installedVersion !== null && latestVersion !== null;
    assert.equal(state["updateAvailable"], isKnown ? true : null);
  });
}

for (const payload of ["", { progress: 3 }]) {
  test(`${JSON.stringify(payload)} says nothing about an update`, () => {
    const { known } = component("update", UPDATE);
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    assert.equal(known.receive("u", new Payload(text, false), 0), undefined);
  });
}

test("the latest version may come on a topic of its own, through its template", () => {
  const update = component("update", { ...UPDATE, latest_version_template: "{{ value_json.v }}" });

  update.tell("u", "1.0");
  assert.equal(update.tell("l", { v: "1.0" })["updateAvailable"], false);
  assert.equal(update.tell("l", { v: "" })["latestVersion"], "1.0");
  assert.equal(update.tell("l", { v: "v".repeat(201) })["latestVersion"], "v".repeat(200));
});

test("an update can be installed if it says by what, and nothing reports that", () => {
  const config = { ...UPDATE, command_topic: "set", command_template: "<{{ value }}>" };
  const update = component("update", { ...config, payload_install: "go" });
  const shown = {
    updateAvailable: { type: "boolean", readOnly: true },
    installedVersion: TEXT,
    latestVersion: TEXT,
  };

  assert.deepEqual(component("update", config).capabilities, shown);
  assert.deepEqual(component("update", config).ask({ install: true }), []);
  assert.deepEqual(update.capabilities, {
    ...shown,
    install: { type: "command" },
  });
  assert.deepEqual(update.ask({ install: true }), ["set <go>"]);
});
