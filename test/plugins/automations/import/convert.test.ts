import assert from "node:assert/strict";
import { test } from "node:test";
import { converted } from "./home.ts";

const indented = (text: string, by: number) => text.replaceAll("\n", `\n${" ".repeat(by)}`);

/** The only automation with this trigger. */
async function withTrigger(trigger: string) {
  const [found] = await converted(
    `- alias: A\n  trigger:\n    - ${indented(trigger, 6)}\n  action:\n    - delay: 1\n`,
  );
  assert.ok(found);
  return { ...found, triggers: found.documents[0]?.triggers ?? [] };
}

async function withCondition(condition: string) {
  const [found] = await converted(
    `- triggers: {trigger: homeassistant, event: start}\n  conditions:\n    - ${indented(condition, 6)}\n  actions:\n    - delay: 1\n`,
  );
  assert.ok(found);
  return { ...found, conditions: found.documents[0]?.conditions ?? [] };
}

async function withAction(action: string, more = "") {
  const [found] = await converted(
    `- alias: A\n  trigger: {platform: homeassistant, event: start}\n  action:\n    - ${indented(action, 6)}\n${more}`,
  );
  assert.ok(found);
  return { ...found, actions: found.documents[0]?.actions ?? [] };
}

const state = (device: string, field: string, rest: object) => ({
  type: "state",
  device,
  field,
  ...rest,
});
const command = (device: string, values: object) => ({ type: "command", device, command: values });

const DOOR = "z2m:binary-sensor:1";
const MOTION = "z2m:binary-sensor:2";
const PORCH = "ha:light:1";

const TRIGGERS: readonly (readonly [yaml: string, expected: readonly object[]])[] = [
  [
    "platform: state\nentity_id: binary_sensor.larder_door\nto: 'on'\nfor: '00:03:00'",
    [state(DOOR, "contact", { to: false, forMs: 180_000 })],
  ],
  [
    "trigger: state\nentity_id: [binary_sensor.stairs_motion, light.porch]\nfrom: [off]\nto: on\nfor: {minutes: 2}",
    [
      state(MOTION, "motion", { to: true, from: false, forMs: 120_000 }),
      state(PORCH, "on", { to: true, from: false, forMs: 120_000 }),
    ],
  ],
  [
    "platform: state\nentity_id: cover.awning\nto: closed",
    [state("ha:cover:1", "position", { to: 0 })],
  ],
  [
    "platform: state\nentity_id: cover.awning\nto: open",
    [state("ha:cover:1", "position", { above: 0 })],
  ],
  [
    "platform: state\nentity_id: lock.shed\nfrom: locked",
    [state("ha:lock:1", "locked", { to: false })],
  ],
  ["platform: state\nentity_id: light.porch", [state(PORCH, "on", {})]],
  [
    "platform: state\nentity_id: light.porch\nto: unavailable",
    [state(PORCH, "available", { to: false })],
  ],
  [
    "platform: state\nentity_id: person.ada\nto: not_home",
    [state("ha:tracker:1", "home", { to: false })],
  ],
  [
    "platform: state\nentity_id: group.everybody\nto: not_home",
    [{ type: "presence", anyone: false }],
  ],
  ["platform: state\nentity_id: sun.sun\nto: below_horizon", [{ type: "sun", event: "sunset" }]],
  [
    "platform: state\nentity_id: sensor.wash_phase\nto: Spinning",
    [state("ha:sensor:2", "value", { to: "Spinning" })],
  ],
  [
    "platform: numeric_state\nentity_id: sensor.cellar_humidity\nabove: '61'",
    [state("z2m:sensor:1", "humidity", { above: 61 })],
  ],
  [
    "platform: numeric_state\nentity_id: light.porch\nattribute: brightness\nbelow: 51",
    [state(PORCH, "brightness", { below: 20 })],
  ],
  [
    "platform: numeric_state\nentity_id: climate.loft\nvalue_template: '{{ state.attributes.current_temperature | float }}'\nabove: 25",
    [state("ha:thermostat:1", "temperature", { above: 25 })],
  ],
  ["platform: numeric_state\nentity_id: zone.home\nabove: 0", [{ type: "presence", anyone: true }]],
  [
    "trigger: time\nat: ['6:45:00', '21:10:30']\nweekday: [mon, wed]",
    [
      { type: "time", at: "06:45", days: ["mon", "wed"] },
      { type: "time", at: "21:10:30", days: ["mon", "wed"] },
    ],
  ],
  ["platform: time_pattern\nminutes: /20", [{ type: "cron", expression: "*/20 * * * *" }]],
  ["platform: time_pattern\nhours: '3'", [{ type: "cron", expression: "0 3 * * *" }]],
  ["platform: time_pattern\nseconds: '*/15'", [{ type: "cron", expression: "*/15 * * * * *" }]],
  [
    "platform: sun\nevent: sunset\noffset: '-00:25:00'",
    [{ type: "sun", event: "sunset", offsetMs: -1_500_000 }],
  ],
  ["platform: event\nevent_type: homeassistant_started", [{ type: "start" }]],
  [
    "platform: event\nevent_type: xiaomi_aqara.click\nevent_data: {entity_id: binary_sensor.remote, click_type: double}",
    [{ type: "event", device: "z2m:button:1", event: "double" }],
  ],
  [
    "platform: mqtt\ntopic: yard/bell\npayload: 1",
    [{ type: "mqtt", topic: "yard/bell", payload: "1" }],
  ],
  ["trigger: webhook\nwebhook_id: Letter_Box 7", [{ type: "webhook", name: "letter-box-7" }]],
  [
    "trigger: calendar\nentity_id: calendar.bins\nevent: start\noffset: -12:00:00",
    [{ type: "calendar", calendar: "home-assistant:calendar.bins", offsetMs: -43_200_000 }],
  ],
  [
    "platform: zone\nentity_id: person.ada\nzone: zone.home\nevent: enter",
    [state("ha:tracker:1", "home", { to: true })],
  ],
  [
    "platform: device\ndevice_id: 0a\nentity_id: binary_sensor.stairs_motion\ndomain: binary_sensor\ntype: no_motion\nfor: {hours: 0, minutes: 4, seconds: 0}",
    [state(MOTION, "motion", { to: false, forMs: 240_000 })],
  ],
  [
    "trigger: device\ndevice_id: 0a\nentity_id: sensor.cellar_temperature\ndomain: sensor\ntype: temperature\nbelow: 4",
    [state("z2m:sensor:1", "temperature", { below: 4 })],
  ],
];

test("triggers in Home Assistant's old and new syntax are converted", async () => {
  for (const [yaml, expected] of TRIGGERS) {
    const { triggers, result, reasons } = await withTrigger(yaml);
    assert.deepEqual(triggers, expected, yaml);
    assert.deepEqual([result, reasons], ["whole", []], yaml);
  }
});

const SUN_DOWN = { type: "sun", is: "down" };
const CONDITIONS: readonly (readonly [yaml: string, expected: readonly object[]])[] = [
  [
    "condition: state\nentity_id: binary_sensor.larder_door\nstate: 'off'",
    [state(DOOR, "contact", { equals: true })],
  ],
  [
    "condition: state\nentity_id: [light.porch, switch.holiday]\nstate: on",
    [
      {
        type: "all",
        of: [state(PORCH, "on", { equals: true }), state("ha:switch:1", "on", { equals: true })],
      },
    ],
  ],
  [
    "condition: state\nentity_id: climate.loft\nstate: [heat, heat_cool]",
    [
      {
        type: "any",
        of: [
          state("ha:thermostat:1", "mode", { equals: "heat" }),
          state("ha:thermostat:1", "mode", { equals: "heat-cool" }),
        ],
      },
    ],
  ],
  [
    "condition: numeric_state\nentity_id: sensor.cellar_temperature\nabove: 3\nbelow: 9",
    [state("z2m:sensor:1", "temperature", { above: 3, below: 9 })],
  ],
  [
    "condition: time\nafter: '22:30:00'\nbefore: '06:00:00'\nweekday: [sat, sun]",
    [{ type: "time", after: "22:30", before: "06:00", days: ["sat", "sun"] }],
  ],
  ["condition: sun\nafter: sunset\nbefore: sunrise", [SUN_DOWN]],
  [
    "condition: sun\nafter: sunset",
    [{ type: "all", of: [SUN_DOWN, { type: "time", after: "12:00" }] }],
  ],
  [
    "condition: sun\nafter: sunrise",
    [{ type: "none", of: [{ type: "all", of: [SUN_DOWN, { type: "time", before: "12:00" }] }] }],
  ],
  ["condition: state\nentity_id: sun.sun\nstate: above_horizon", [{ type: "sun", is: "up" }]],
  [
    "condition: zone\nentity_id: person.ada\nzone: zone.home",
    [state("ha:tracker:1", "home", { equals: true })],
  ],
  [
    "condition: not\nconditions:\n  - condition: state\n    entity_id: lock.shed\n    state: locked",
    [{ type: "none", of: [state("ha:lock:1", "locked", { equals: true })] }],
  ],
  [
    "or:\n  - {condition: state, entity_id: light.porch, state: on}\n  - {condition: time, before: '5:00'}",
    [
      {
        type: "any",
        of: [state(PORCH, "on", { equals: true }), { type: "time", before: "05:00" }],
      },
    ],
  ],
  [
    "condition: device\ndevice_id: 0b\nentity_id: light.porch\ndomain: light\ntype: is_off",
    [state(PORCH, "on", { equals: false })],
  ],
  [
    `condition: template\nvalue_template: "{{ not is_state('switch.holiday', 'on') }}"`,
    [{ type: "none", of: [state("ha:switch:1", "on", { equals: true })] }],
  ],
];

test("conditions are converted, also nested ones and those in short form", async () => {
  for (const [yaml, expected] of CONDITIONS) {
    const { conditions, result } = await withCondition(yaml);
    assert.deepEqual(conditions, expected, yaml);
    assert.equal(result, "whole", yaml);
  }
});

const ACTIONS: readonly (readonly [yaml: string, expected: readonly object[]])[] = [
  [
    "service: light.turn_on\nentity_id: light.porch\ndata: {brightness: 128, color_temp: 400, transition: 2}",
    [command(PORCH, { on: true, brightness: 50, colorTemperature: 2_500 })],
  ],
  [
    "action: light.turn_on\ntarget: {entity_id: light.porch}\ndata: {brightness_pct: 35, rgb_color: [0, 0, 255]}",
    [command(PORCH, { on: true, brightness: 35, color: { hue: 240, saturation: 100 } })],
  ],
  [
    "action: light.turn_on\ntarget: {entity_id: light.porch}\ndata: {brightness: 0}",
    [command(PORCH, { on: false })],
  ],
  [
    "service: homeassistant.turn_off\nentity_id: light.porch, switch.holiday",
    [command(PORCH, { on: false }), command("ha:switch:1", { on: false })],
  ],
  [
    "service: light.turn_off\ntarget: {area_id: study}",
    [command("ha:light:2", { on: false }), command("hue:light:3", { on: false })],
  ],
  ["service: switch.turn_on\ndata: {entity_id: switch.pump}", [command("ha:plug:1", { on: true })]],
  [
    "service: cover.set_cover_position\ntarget: {entity_id: cover.awning}\ndata: {position: 40}",
    [command("ha:cover:1", { position: 40 })],
  ],
  ["service: cover.stop_cover\nentity_id: cover.awning", [command("ha:cover:1", { stop: true })]],
  [
    "service: climate.set_temperature\nentity_id: climate.loft\ndata: {temperature: 68, hvac_mode: heat}",
    [command("ha:thermostat:1", { targetTemperature: 20, mode: "heat" })],
  ],
  [
    "service: climate.turn_off\nentity_id: climate.loft",
    [command("ha:thermostat:1", { mode: "off" })],
  ],
  ["service: lock.lock\nentity_id: lock.shed", [command("ha:lock:1", { locked: true })]],
  [
    "service: fan.turn_on\nentity_id: fan.attic_fan\ndata: {percentage: 66}",
    [command("ha:fan:1", { on: true, speed: 66 })],
  ],
  [
    "service: media_player.volume_set\nentity_id: media_player.radio\ndata: {volume_level: 0.3}",
    [command("ha:media-player:1", { volume: 30 })],
  ],
  [
    "service: vacuum.return_to_base\nentity_id: vacuum.robbie",
    [command("ha:vacuum:1", { dock: true })],
  ],
  ["scene: scene.film_night", [{ type: "scene", scene: "ha:scene:1" }]],
  ["service: scene.turn_on\nentity_id: scene.film_night", [{ type: "scene", scene: "ha:scene:1" }]],
  [
    "service: notify.mobile_app_ada\ndata: {title: Larder, message: The door is open}",
    [{ type: "notify", message: "Larder: The door is open" }],
  ],
  ["delay: '00:01:30'", [{ type: "wait", ms: 90_000 }]],
  ["delay: {seconds: 4, milliseconds: 500}", [{ type: "wait", ms: 4_500 }]],
  [
    "wait_for_trigger: {platform: state, entity_id: binary_sensor.larder_door, to: 'off'}\ntimeout: {minutes: 10}",
    [{ type: "waitFor", trigger: state(DOOR, "contact", { to: true }), timeoutMs: 600_000 }],
  ],
  [
    "type: turn_on\ndevice_id: 0c\nentity_id: light.porch\ndomain: light\nbrightness_pct: 12",
    [command(PORCH, { on: true, brightness: 12 })],
  ],
  [
    "repeat: {count: 2, sequence: [{scene: scene.film_night}]}",
    [
      { type: "scene", scene: "ha:scene:1" },
      { type: "scene", scene: "ha:scene:1" },
    ],
  ],
  [
    "service: switch.toggle\nentity_id: switch.pump",
    [
      {
        type: "if",
        conditions: [state("ha:plug:1", "on", { equals: true })],
        // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
        then: [command("ha:plug:1", { on: false })],
        else: [command("ha:plug:1", { on: true })],
      },
    ],
  ],
];

test("services and steps are converted to actions", async () => {
  for (const [yaml, expected] of ACTIONS) {
    const { actions, result, reasons } = await withAction(yaml);
    assert.deepEqual(actions, expected, yaml);
    assert.deepEqual([result, reasons], ["whole", []], yaml);
  }
});

const HOLIDAY = "{condition: state, entity_id: switch.holiday, state: on}";

test('"choose" becomes nested ifs, and the actions behind a condition go inside it', async () => {
  const { actions } = await withAction(
    `choose:\n  - conditions: [${HOLIDAY}]\n    sequence: [{delay: 1}]\n  - conditions: [{condition: sun, before: sunset, after: sunrise}]\n    sequence: [{delay: 2}]\ndefault: [{delay: 3}]`,
    `    - ${HOLIDAY}\n    - delay: 4\n`,
  );

  const holiday = [state("ha:switch:1", "on", { equals: true })];
  const wait = (seconds: number) => [{ type: "wait", ms: seconds * 1_000 }];
  // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
  const day = { type: "if", conditions: [{ type: "sun", is: "up" }], then: wait(2), else: wait(3) };
  assert.deepEqual(actions, [
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
    { type: "if", conditions: holiday, then: wait(1), else: [day] },
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
    { type: "if", conditions: holiday, then: wait(4) },
  ]);
});

test("scripts and triggered automations of the same import are put in place of their calls", async () => {
  const [automation, script] = await converted([
    "- alias: A\n  trigger: {platform: homeassistant, event: start}\n  action: [{service: script.dim}, {service: automation.trigger, entity_id: automation.b_c}]\n- alias: B c\n  trigger: {platform: sun, event: sunset}\n  action: [{delay: 7}]",
    "dim:\n  sequence: [{delay: 5}]\n",
  ]).then((all) => [all[0], all[2]]);

  assert.deepEqual(automation?.documents[0]?.actions, [
    { type: "wait", ms: 5_000 },
    { type: "wait", ms: 7_000 },
  ]);
  assert.deepEqual([script?.name, script?.kind, script?.result], ["dim", "script", "whole"]);
  assert.deepEqual(script?.documents[0]?.triggers, []);
});

test("an automation that asks for its trigger becomes one for each trigger", async () => {
  const [found] = await converted(
    `- alias: Remote
  triggers:
    - {trigger: state, entity_id: switch.holiday, to: on, id: begin}
    - {trigger: state, entity_id: switch.holiday, to: off, id: end}
  actions:
    - choose:
        - conditions: [{condition: trigger, id: begin}]
          sequence: [{action: light.turn_on, target: {entity_id: light.porch}}]
        - conditions: [{condition: trigger, id: [end]}]
          sequence: [{action: light.turn_off, target: {entity_id: light.porch}}]
`,
  );

  assert.deepEqual(
    found?.documents.map(({ name, actions }) => [name, actions]),
    [
      ["Remote: begin", [command(PORCH, { on: true })]],
      ["Remote: end", [command(PORCH, { on: false })]],
    ],
  );
});

const REFUSED: readonly (readonly [yaml: string, place: string, detail: RegExp])[] = [
  [
    "service: light.turn_on\nentity_id: light.porch\ndata: {brightness: '{{ 3 }}'}",
    "action 1",
    /"brightness" is a template/,
  ],
  [
    "service: light.turn_on\nentity_id: light.desk\ndata: {brightness_pct: 5}",
    "action 1",
    /has no "brightness"/,
  ],
  [
    "service: tts.say\nentity_id: media_player.radio",
    "action 1",
    /service tts.say has no counterpart/,
  ],
  ["service: light.turn_on\nentity_id: light.attic", "action 1", /no device for light.attic/],
  ["service: script.absent", "action 1", /script.absent is not part of this import/],
  ["service: notify.x\ndata: {message: !secret greeting}", "action 1", /!secret cannot be read/],
  [
    "service: lock.unlock\nentity_id: lock.shed\ndata: {code: '1'}",
    "action 1",
    /"code" has no counterpart/,
  ],
  [
    "if: [{condition: template, value_template: '{{ 1 }}'}]\nthen: [{delay: 1}]",
    "action 1, condition 1",
    /templates/,
  ],
  ["wait_template: '{{ 1 }}'", "action 1", /templates/],
  ["repeat: {until: [], sequence: []}", "action 1", /"until"/],
];

test("an action that cannot be mapped is named with its place and reason, and nothing is imported silently", async () => {
  for (const [yaml, place, detail] of REFUSED) {
    const { result, reasons } = await withAction(yaml);
    assert.equal(result, "none", yaml);
    assert.equal(reasons[0]?.place, place, yaml);
    assert.match(reasons[0]?.detail ?? "", detail, yaml);
  }
});

test("a partial automation is switched off, and its description has the reasons", async () => {
  const { result, documents } = await withAction(
    "service: tts.say\nentity_id: media_player.radio",
    "    - delay: 3\n  description: Says good night\n",
  );

  assert.equal(result, "partial");
  assert.deepEqual(documents[0], {
    name: "A",
    description:
      "Imported without:\naction 1: the service tts.say has no counterpart\n\nSays good night",
    enabled: false,
    mode: "single",
    triggers: [{ type: "start" }],
    conditions: [],
    actions: [{ type: "wait", ms: 3_000 }],
  });
});

test("blueprints, disabled parts, modes and long names are reported", async () => {
  const [blueprint, other] = await converted(
    `- use_blueprint: {path: a.yaml}
- alias: ${"n".repeat(10_000)}
  mode: queued
  max: 5
  initial_state: false
  trigger: [{platform: homeassistant, event: start}, {platform: tag, tag_id: a, enabled: false}]
  action: [{delay: 1, enabled: false}, {delay: 2}]
`,
  );

  assert.deepEqual([blueprint?.result, blueprint?.name], ["none", "Automation 1"]);
  assert.match(blueprint?.reasons[0]?.detail ?? "", /blueprint/);
  assert.equal(other?.result, "whole");
  assert.equal(other?.name.length, 200);
  const [document] = other?.documents ?? [];
  assert.deepEqual(
    [document?.mode, document?.enabled, document?.actions.length],
    ["queued", false, 1],
  );
  assert.equal(other?.notes.length, 4);
});

test("a device is found by a name with its room, and by the choice of the user", async () => {
  const yaml = (entity: string) =>
    `- trigger: {platform: homeassistant, event: start}\n  action: [{service: light.turn_on, entity_id: ${entity}}]`;
  const device = async (entity: string, devices = {}) => {
    const [found] = await converted(yaml(entity), devices);
    return found?.documents[0]?.actions[0];
  };

  assert.deepEqual(await device("light.study_ceiling"), command("hue:light:3", { on: true }));
  assert.deepEqual(
    await device("light.attic", { "light.attic": "hue:light:3" }),
    command("hue:light:3", { on: true }),
  );
  assert.equal(await device("light.__proto__"), undefined);
});
