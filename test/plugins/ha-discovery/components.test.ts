import assert from "node:assert/strict";
import { test } from "node:test";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";
import { component } from "./component.ts";

test("a switch uses its own payloads for states and commands", () => {
  const relay = component("switch", {
    stat_t: "s",
    cmd_t: "s/set",
    val_tpl: "{{ value_json.POWER }}",
    pl_on: "1",
    pl_off: "0",
    stat_on: "ON",
    stat_off: "OFF",
    dev_cla: "outlet",
  });

  assert.equal(relay.known.handler.leads, "plug");
  assert.equal(relay.tell("s", { POWER: "ON" })["on"], true);
  assert.equal(relay.tell("s", { POWER: "OFF" })["on"], false);
  assert.equal(relay.tell("s", { other: 1 })["on"], false);
  assert.equal(relay.tell("s", { POWER: null })["on"], null);
  assert.deepEqual(relay.ask({ on: true }), ["s/set 1"]);
});

test("a switch without a permitted command topic is shown but accepts no commands", () => {
  const relay = component("switch", { stat_t: "s", cmd_t: "refused/restart" });

  assert.deepEqual(relay.capabilities["on"], { type: "boolean", readOnly: true });
  assert.equal(relay.known.handler.leads, undefined);
  assert.deepEqual(relay.ask({ on: true }), []);
});

test("sensors report numbers in the supported units, and texts", () => {
  const sensors = [
    [{ dev_cla: "temperature", unit_of_meas: "°F" }, "68", 20],
    [{ unit_of_meas: "mV" }, "3015", 3.015],
    [{ unit_of_meas: "kW" }, "1.5", 1500],
    [{ unit_of_meas: "inHg" }, "30", 1015.91661],
    [{ dev_cla: "power_factor" }, "0.93", 93],
    [{ dev_cla: "power_factor", unit_of_meas: "%" }, "93", 93],
    [{ unit_of_meas: "lqi" }, "12", 12],
    [{ stat_cla: "measurement" }, "None", null],
    [{ stat_cla: "measurement" }, "nonsense", null],
    [{ stat_cla: "measurement" }, "NaN", null],
    [{ stat_cla: "measurement" }, "1e999", null],
    [{}, "v1.2", "v1.2"],
    [{ dev_cla: "enum", ops: ["a", "b"] }, "b", "b"],
    [{ dev_cla: "enum", ops: ["a", "b"] }, "c", null],
    [{ dev_cla: "timestamp" }, "2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"],
  ] as const;

  for (const [config, payload, value] of sensors) {
    const sensor = component("sensor", { stat_t: "s", ...config });
    assert.equal(sensor.tell("s", payload)["value"], value, JSON.stringify(config));
  }
});

test("a reading that is not repeated in time becomes unknown", () => {
  const sensor = component("sensor", { stat_t: "s", unit_of_meas: "W", exp_aft: 30 });
  sensor.tell("s", "5", 100);

  assert.equal(sensor.known.expire(129), undefined);
  sensor.tell("s", "6", 129);
  assert.equal(sensor.known.expire(131), undefined);
  assert.deepEqual(sensor.known.expire(159)?.changed, { value: null });
});

test("motion ends after its delay", () => {
  const motion = component("binary_sensor", { stat_t: "m", dev_cla: "motion", off_dly: 5 });

  assert.equal(motion.tell("m", "ON", 10)["value"], true);
  assert.deepEqual(motion.known.expire(15)?.changed, { value: false });
});

test("the state ON of a door means open, so its contact is false", () => {
  const door = component("binary_sensor", { stat_t: "d", dev_cla: "door" });

  assert.equal(door.tell("d", "ON")["value"], false);
  assert.equal(door.tell("d", "OFF")["value"], true);
  assert.equal(door.tell("d", "?")["value"], true);
});

test("payloads that are not text become the template's output", () => {
  const sensor = component("binary_sensor", {
    stat_t: "o",
    val_tpl: "{{ value_json.occupancy }}",
    pl_on: true,
    pl_off: false,
  });

  assert.equal(sensor.tell("o", { occupancy: true })["value"], true);
  assert.equal(sensor.tell("o", { occupancy: false })["value"], false);
});

test("a cover moves to a position on its own scale", () => {
  const blind = component("cover", {
    stat_t: "c/state",
    cmd_t: "c/set",
    pos_t: "c/pos",
    set_pos_t: "c/pos/set",
    set_pos_tpl: '{"position": {{ position }}}',
    pos_open: 0,
    pos_clsd: 255,
    tilt_cmd_t: "c/tilt/set",
    tilt_status_t: "c/tilt",
  });

  blind.tell("c/pos", "51");
  blind.tell("c/tilt", "30");
  assert.deepEqual(blind.tell("c/state", "closing"), {
    position: 80,
    action: "closing",
    tilt: 30,
  });
  assert.deepEqual(blind.ask({ position: 80 }), ['c/pos/set {"position": 51}']);
  assert.deepEqual(blind.ask({ stop: true }), ["c/set STOP"]);
  assert.deepEqual(blind.ask({ tilt: 40 }), ["c/tilt/set 40"]);
});

test("a cover that opens and closes has a position of 0 and 100", () => {
  const door = component("cover", { stat_t: "g", cmd_t: "g/set", pl_stop: null });

  assert.deepEqual(door.names, ["position", "action", "open", "close"]);
  assert.deepEqual(door.tell("g", "open"), { position: 100, action: "stopped" });
  assert.deepEqual(door.ask({ close: true }), ["g/set CLOSE"]);
});

test("a thermostat has the capabilities of its topics, in degrees Celsius", () => {
  const config = {
    temp_unit: "F",
    curr_temp_t: "t/now",
    temp_cmd_t: "t/set",
    temp_stat_t: "t/target",
    min_temp: 50,
    max_temp: 86,
    mode_cmd_t: "m/set",
    mode_stat_t: "m",
    modes: ["off", "heat"],
    fan_mode_cmd_t: "f/set",
    pr_mode_cmd_t: "p/set",
    pr_modes: ["eco"],
    act_t: "a",
    curr_hum_t: "h",
    hum_cmd_t: "th/set",
  };
  const thermostat = component("climate", config);

  thermostat.tell("t/now", "68");
  thermostat.tell("t/target", "69.8");
  thermostat.tell("m", "heat");
  thermostat.tell("h", "40");
  const state = thermostat.tell("a", "heating");
  assert.deepEqual(
    [state["temperature"], state["targetTemperature"], state["mode"], state["humidity"]],
    [20, 21, "heat", 40],
  );
  assert.equal(state["action"], "heating");
  assert.deepEqual(thermostat.ask({ targetTemperature: 22, mode: "off", preset: "eco" }), [
    "m/set off",
    "p/set eco",
    "t/set 71.6",
  ]);
  assert.deepEqual(
    [...(thermostat.known.handler.unreported ?? [])],
    ["fanMode", "preset", "targetHumidity"],
  );
});

test("a fan has a speed in percent of its range", () => {
  const fan = component("fan", {
    stat_t: "f",
    cmd_t: "f/set",
    pct_cmd_t: "f/speed/set",
    pct_stat_t: "f/speed",
    spd_rng_max: 4,
    osc_cmd_t: "f/osc/set",
    osc_stat_t: "f/osc",
    pr_mode_cmd_t: "f/mode/set",
    pr_modes: ["auto", "sleep"],
    dir_cmd_t: "f/dir/set",
  });

  fan.tell("f", "ON");
  fan.tell("f/osc", "oscillate_on");
  assert.equal(fan.tell("f/speed", "3")["speed"], 75);
  assert.equal(fan.tell("f/speed", "0")["speed"], 0);
  assert.deepEqual(fan.ask({ on: true, speed: 50, preset: "auto", oscillating: false }), [
    "f/set ON",
    "f/speed/set 2",
    "f/mode/set auto",
    "f/osc/set oscillate_off",
  ]);
});

test("locks, numbers, selects, texts and buttons get commands in their own format", () => {
  const lock = component("lock", { stat_t: "l", cmd_t: "l/set" });
  const number = component("number", {
    cmd_t: "n/set",
    min: 0,
    max: 10,
    step: 0.5,
    unit_of_meas: "h",
  });
  const select = component("select", { cmd_t: "s/set", ops: ["a", "b"], cmd_tpl: "<{{ value }}>" });
  const text = component("text", { cmd_t: "x/set" });
  const button = component("button", { cmd_t: "b/set", pl_prs: "now" });

  assert.equal(lock.tell("l", "LOCKED")["locked"], true);
  assert.deepEqual(lock.ask({ locked: false }), ["l/set UNLOCK"]);
  assert.deepEqual(number.capabilities["value"], {
    type: "number",
    min: 0,
    max: 600,
    step: 0.5,
    unit: "min",
  });
  assert.deepEqual(number.ask({ value: 90 }), ["n/set 1.5"]);
  assert.deepEqual(select.ask({ value: "b" }), ["s/set <b>"]);
  assert.deepEqual(text.ask({ value: "hi" }), ["x/set hi"]);
  assert.deepEqual(button.ask({ value: true }), ["b/set now"]);
});

test("an update entity shows both versions and if they differ", () => {
  const update = component("update", {
    stat_t: "u",
    l_ver_t: "u/latest",
    cmd_t: "u/set",
    pl_inst: "go",
  });

  assert.equal(update.tell("u", "1.0")["updateAvailable"], null);
  assert.equal(update.tell("u/latest", "1.1")["updateAvailable"], true);
  assert.equal(
    update.tell("u", { installed_version: "1.1", latest_version: "1.1" })["updateAvailable"],
    false,
  );
  assert.deepEqual(update.ask({ install: true }), ["u/set go"]);
});

test("triggers and event entities are events, each time and never for a retained message", () => {
  const trigger = component("device_automation", {
    atype: "trigger",
    t: "r/action",
    type: "action",
    stype: "single",
    pl: "single",
  });
  const bell = component("event", { stat_t: "bell", evt_typ: ["press", "hold"] });
  const name = (of: typeof bell, payload: string, retained = false) =>
    of.known.handler.events?.[0]?.read(new Payload(payload, retained));

  assert.equal(name(trigger, "single"), "single");
  assert.equal(name(trigger, "double"), undefined);
  assert.equal(name(trigger, "single", true), undefined);
  assert.equal(name(bell, '{"event_type": "hold"}'), "hold");
  assert.equal(name(bell, '{"event_type": "other"}'), undefined);
  assert.equal(name(bell, "no JSON"), undefined);
});
