import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOfVocabulary } from "@mantel/plugin-sdk/vocabulary";
import { component } from "./component.ts";

const COMMAND = { type: "command" } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const READ_ONLY = { readOnly: true } as const;
const SWITCH = { type: "boolean" } as const;

/** A component whose capabilities are those of the vocabulary, but for `extra`. */
function canonical(platform: string, config: object, ...extra: readonly string[]) {
  const made = component(platform, config);
  const { leads = "switch", capabilities } = made.known.handler;
  const own = Object.entries(capabilities).filter(([name]) => !extra.includes(name));
  assert.deepEqual(faultsOfVocabulary(leads, Object.fromEntries(own)), []);
  return { ...made, kind: leads };
}

test("a vacuum reports its action, and has the commands that it supports", () => {
  const config = { stat_t: "s", cmd_t: "c", set_fan_spd_t: "f", fanspd_lst: ["min", "max"] };
  const plain = canonical("vacuum", config, "cleanSpot");
  const all = canonical("vacuum", {
    ...config,
    sup_feat: ["start", "pause", "stop", "return_home", "battery", "locate", "fan_speed"],
    pl_ret: "home",
  });

  assert.equal(plain.kind, "vacuum");
  assert.deepEqual(plain.names, ["action", "start", "stop", "dock", "cleanSpot"]);
  assert.deepEqual(all.names, [
    "action",
    "start",
    "pause",
    "stop",
    "dock",
    "locate",
    "battery",
    "fanSpeed",
  ]);
  assert.deepEqual(all.capabilities["fanSpeed"], { type: "choice", values: ["min", "max"] });
  assert.deepEqual(all.tell("s", { state: "returning", battery_level: 40, fan_speed: "max" }), {
    action: "returning",
    battery: 40,
    fanSpeed: "max",
  });
  assert.equal(all.tell("s", { state: "dancing" })["action"], null);
  assert.deepEqual(all.ask({ start: true, fanSpeed: "min" }), ["f min", "c start"]);
  assert.deepEqual(all.ask({ dock: true }), ["c home"]);
  all.tell("s", "no JSON");
  assert.deepEqual(all.garbage, ["it is not a JSON object"]);
});

test("a lawn mower has a topic for each command", () => {
  const mower = canonical("lawn_mower", {
    act_stat_t: "s",
    act_val_tpl: "{{ value_json.a }}",
    strt_mw_cmd_t: "m",
    strt_mw_cmd_tpl: "<{{ value }}>",
    dock_cmd_t: "d",
  });

  assert.equal(mower.kind, "lawn-mower");
  assert.deepEqual(mower.names, ["action", "start", "dock"]);
  assert.deepEqual(mower.tell("s", { a: "mowing" }), { action: "mowing" });
  assert.deepEqual(mower.ask({ start: true }), ["m <start_mowing>"]);
  assert.deepEqual(mower.ask({ dock: true }), ["d dock"]);
});

test("a siren takes JSON, and reports JSON or a word", () => {
  const siren = canonical("siren", { stat_t: "s", cmd_t: "c", av_tones: ["a", "b"] });

  assert.deepEqual(siren.capabilities, {
    on: SWITCH,
    tone: { type: "choice", values: ["a", "b"] },
    volume: PERCENT,
    duration: { type: "number", min: 0, unit: "s" },
  });
  assert.deepEqual(siren.ask({ volume: 20 }), []);
  assert.deepEqual(siren.ask({ on: true, tone: "b", volume: 20, duration: 5 }), [
    'c {"state":"ON","tone":"b","volume_level":0.2,"duration":5}',
  ]);
  assert.deepEqual(siren.ask({ on: false }), ['c {"state":"OFF"}']);
  assert.equal(siren.tell("s", "ON")["on"], true);
  assert.deepEqual(siren.ask({ volume: 20 }), ['c {"state":"ON","volume_level":0.2}']);
  assert.deepEqual(siren.tell("s", { state: "OFF", tone: "a", volume_level: 0.55, duration: 3 }), {
    on: false,
    tone: "a",
    volume: 55,
    duration: 3,
  });
});

test("a siren with templates is sent what they make, and only what it supports", () => {
  const config = { cmd_t: "c", sup_dur: false, sup_vol: false };
  const siren = canonical("siren", { ...config, cmd_tpl: "{{ value }}-{{ tone }}" });
  const own = canonical("siren", { ...config, cmd_off_tpl: "quiet" });

  assert.deepEqual(siren.names, ["on"]);
  assert.deepEqual(siren.ask({ on: true, tone: "x" }), ["c ON-x"]);
  assert.deepEqual(siren.ask({ on: false }), ["c OFF-"]);
  assert.deepEqual(own.ask({ on: false }), ["c quiet"]);
  assert.deepEqual(own.ask({ on: true }), ['c {"state":"ON"}']);
});

test("a humidifier is one or dries, by its class, and has its modes and readings", () => {
  const config = {
    stat_t: "s",
    cmd_t: "c",
    hum_stat_t: "h",
    hum_cmd_t: "h/set",
    min_hum: 30,
    mode_stat_t: "m",
    mode_cmd_t: "m/set",
    modes: ["eco", "boost"],
    curr_hum_t: "now",
    act_t: "a",
  };
  const moist = canonical("humidifier", config);
  const dry = canonical("humidifier", { ...config, dev_cla: "dehumidifier" });

  assert.deepEqual([moist.kind, dry.kind], ["humidifier", "dehumidifier"]);
  assert.deepEqual(moist.names, ["on", "targetHumidity", "mode", "humidity", "action"]);
  assert.deepEqual(moist.capabilities["targetHumidity"], { ...PERCENT, min: 30 });
  for (const [topic, payload] of [
    ["s", "ON"],
    ["h", "55"],
    ["m", "eco"],
    ["now", "48"],
    ["a", "drying"],
  ] as const) {
    dry.tell(topic, payload);
  }
  assert.deepEqual(dry.known.state, {
    on: true,
    targetHumidity: 55,
    mode: "eco",
    humidity: 48,
    action: "drying",
  });
  assert.deepEqual(dry.tell("h", "None")["targetHumidity"], null);
  assert.deepEqual(dry.ask({ on: false, targetHumidity: 40, mode: "boost" }), [
    "c OFF",
    "h/set 40",
    "m/set boost",
  ]);
});

test("a water heater has a target, a temperature and modes in the words of the vocabulary", () => {
  const heater = canonical("water_heater", {
    temp_cmd_t: "t/set",
    temp_stat_t: "t",
    curr_temp_t: "now",
    mode_cmd_t: "m/set",
    mode_stat_t: "m",
    pow_cmd_t: "p",
  });

  assert.equal(heater.kind, "water-heater");
  assert.deepEqual(heater.names, ["mode", "targetTemperature", "on", "temperature"]);
  assert.deepEqual(heater.capabilities["targetTemperature"], {
    type: "number",
    min: 43.3,
    max: 60,
    step: 1,
    unit: "°C",
  });
  assert.equal(heater.tell("m", "heat_pump")["mode"], "heat-pump");
  assert.deepEqual(heater.ask({ mode: "high-demand", targetTemperature: 50, on: false }), [
    "m/set high_demand",
    "t/set 50",
    "p OFF",
  ]);
});

test("a valve opens, closes and reports it", () => {
  const config = { stat_t: "s", cmd_t: "c", pl_open: "1", pl_cls: "0" };
  const valve = canonical("valve", config);

  assert.deepEqual(valve.capabilities, {
    on: SWITCH,
    action: { type: "choice", values: ["opening", "closing", "stopped"], ...READ_ONLY },
    open: COMMAND,
    close: COMMAND,
  });
  assert.deepEqual(
    [{ on: true }, { on: false }, { open: true }, { close: true }].map((each) => valve.ask(each)),
    [["c 1"], ["c 0"], ["c 1"], ["c 0"]],
  );
  assert.deepEqual(valve.tell("s", "opening"), { on: null, action: "opening" });
  assert.deepEqual(valve.tell("s", "open"), { on: true, action: "stopped" });
  assert.deepEqual(valve.tell("s", { state: "closed" }), { on: false, action: "stopped" });
  assert.deepEqual(canonical("valve", { ...config, pl_stop: "S" }).ask({ stop: true }), ["c S"]);
  assert.deepEqual(canonical("valve", { stat_t: "s" }).capabilities["on"], {
    ...SWITCH,
    ...READ_ONLY,
  });
});

test("a valve with a position takes and reports it on its own scale", () => {
  const valve = canonical("valve", {
    stat_t: "s",
    cmd_t: "c",
    pos: true,
    pos_open: 0,
    pos_clsd: 255,
  });

  assert.deepEqual(valve.capabilities["position"], PERCENT);
  assert.deepEqual(
    [
      { position: 20 },
      { on: true },
      { close: true },
      { on: true, position: 20 },
      { on: false, position: 20 },
    ].map((each) => valve.ask(each).at(-1)),
    ["c 204", "c 0", "c 255", "c 204", "c 255"],
  );
  assert.deepEqual(valve.tell("s", "204"), { on: true, position: 20, action: null });
  assert.deepEqual(valve.tell("s", { state: "closing", position: 255 }), {
    on: false,
    position: 0,
    action: "closing",
  });
});

const ALARM = { stat_t: "s", cmd_t: "c" };

test("an alarm has a mode, and a status that passes", () => {
  const alarm = canonical("alarm_control_panel", ALARM, "trigger");

  assert.equal(alarm.kind, "alarm");
  assert.deepEqual(alarm.names, ["mode", "status", "trigger"]);
  assert.deepEqual(alarm.tell("s", "armed_away"), { mode: "away", status: "armed" });
  assert.deepEqual(alarm.tell("s", "triggered"), { mode: "away", status: "triggered" });
  assert.deepEqual(alarm.tell("s", "disarmed"), { mode: "disarmed", status: "disarmed" });
  assert.deepEqual(alarm.tell("s", "nonsense"), { mode: "disarmed", status: "disarmed" });
  assert.deepEqual(alarm.tell("s", "None"), { mode: null, status: null });
  assert.deepEqual(
    ["disarmed", "home", "custom"].map((mode) => alarm.ask({ mode })[0]),
    ["c DISARM", "c ARM_HOME", "c ARM_CUSTOM_BYPASS"],
  );
  assert.deepEqual(alarm.ask({ trigger: true }), ["c TRIGGER"]);
});

test("an alarm has only the modes that it supports", () => {
  const alarm = canonical("alarm_control_panel", { ...ALARM, sup_feat: ["arm_night"] });

  assert.deepEqual(alarm.capabilities["mode"], { type: "choice", values: ["disarmed", "night"] });
  assert.equal(alarm.capabilities["trigger"], undefined);
});

test("a code is sent to the alarm that checks it, and checked for one that announces it", () => {
  const template = "{{ action }}:{{ code }}";
  const remote = canonical(
    "alarm_control_panel",
    { ...ALARM, code: "REMOTE_CODE", cmd_tpl: template },
    "trigger",
  );
  const own = canonical(
    "alarm_control_panel",
    { ...ALARM, code: 1234, cod_arm_req: false },
    "trigger",
  );

  assert.deepEqual(remote.capabilities["code"], { type: "text" });
  assert.deepEqual(remote.ask({ mode: "away", code: "99" }), ["c ARM_AWAY:99"]);
  assert.throws(() => remote.ask({ mode: "away" }), {
    code: "invalid",
    message: "a code is needed",
  });
  assert.deepEqual(own.ask({ mode: "away" }), ["c ARM_AWAY"]);
  assert.deepEqual(own.ask({ mode: "disarmed", code: "1234" }), ["c DISARM"]);
  assert.throws(() => own.ask({ mode: "disarmed", code: "1" }), { message: "the code is wrong" });
  assert.ok(!("code" in own.known.state));
});

test("a tracker is at home, at a place or away, and knows its coordinates", () => {
  const tracker = canonical("device_tracker", { stat_t: "s", json_attr_t: "a" });

  assert.equal(tracker.kind, "tracker");
  assert.deepEqual(
    ["home", "not_home", "Work", "None"].map((text) => {
      const { home, zone } = tracker.tell("s", text);
      return [home, zone];
    }),
    [
      [true, null],
      [false, null],
      [false, "Work"],
      [null, null],
    ],
  );
  const at = { latitude: 52.5, longitude: 13.4, gps_accuracy: 8, battery_level: 70, other: 1 };
  const { latitude, longitude, accuracy, battery } = tracker.tell("a", at);
  assert.deepEqual([latitude, longitude, accuracy, battery], [52.5, 13.4, 8, 70]);
  assert.equal(tracker.tell("a", { latitude: 91 })["latitude"], null);
  tracker.tell("a", "no JSON");
  assert.deepEqual(canonical("device_tracker", { stat_t: "s" }).names, ["home", "zone"]);
});
