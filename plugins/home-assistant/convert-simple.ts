import type { DeviceKind, StateValue } from "@mantel/plugin-sdk";
import {
  choicesBy,
  choicesIn,
  hasFeature,
  numberIn,
  textIn,
  toNumber,
  when,
} from "./attributes.ts";
import { unitOf } from "./convert-sensor.ts";
import { choice, type Domain, onOff, PERCENT_READ, stateText, SWITCH, TEXT } from "./domain.ts";
import type { Entity } from "./entities.ts";

/** `switch` and `input_boolean`. */
export const toggle: Domain = {
  describe(entity) {
    const kind: DeviceKind = entity.attributes["device_class"] === "outlet" ? "plug" : "switch";
    return { kind, capabilities: { on: SWITCH }, state: { on: onOff(entity) } };
  },
  calls: ({ on }, { domain }) => [{ service: `${domain}.turn_${on ? "on" : "off"}` }],
};

const VACUUM = { pause: 4, stop: 8, dock: 16, speed: 32, locate: 512, start: 8_192 } as const;
const VACUUM_STATES = ["cleaning", "docked", "idle", "paused", "returning", "error"];
const ACTIONS: Readonly<Record<string, { service: string; leadsTo: readonly string[] }>> = {
  start: { service: "vacuum.start", leadsTo: ["cleaning"] },
  pause: { service: "vacuum.pause", leadsTo: ["paused", "idle"] },
  stop: { service: "vacuum.stop", leadsTo: ["idle", "docked", "paused"] },
  dock: { service: "vacuum.return_to_base", leadsTo: ["returning", "docked"] },
  locate: { service: "vacuum.locate", leadsTo: VACUUM_STATES },
};

export const vacuum: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const battery = numberIn(attributes, "battery_level");
    const actions = (["start", "pause", "stop", "dock", "locate"] as const).filter((name) =>
      hasFeature(attributes, VACUUM[name]),
    );
    return {
      kind: "vacuum",
      capabilities: {
        ...choice("mode", VACUUM_STATES, true),
        ...choice("action", actions),
        ...choice("suction", choicesBy(attributes, VACUUM.speed, "fan_speed_list")),
        ...when(battery !== undefined, { battery: PERCENT_READ }),
      },
      state: { mode: stateText(entity), suction: textIn(attributes, "fan_speed"), battery },
    };
  },
  calls({ action, suction }) {
    const { service } = ACTIONS[textOf(action)] ?? {};
    return [
      ...(service === undefined ? [] : [{ service }]),
      ...(suction === undefined
        ? []
        : [{ service: "vacuum.set_fan_speed", data: { fan_speed: suction } }]),
    ];
  },
  confirms: ({ field, value }, { state }) =>
    field === "action" ? ACTIONS[textOf(value)]?.leadsTo.includes(state) : undefined,
};

function textOf(value: StateValue | undefined): string {
  return typeof value === "string" ? value : "";
}

const ARMINGS = [
  { feature: 1, mode: "home" },
  { feature: 2, mode: "away" },
  { feature: 4, mode: "night" },
  { feature: 32, mode: "vacation" },
] as const;

/** `alarm_control_panel`. One that wants a code is only shown, as a lock is. */
export const alarm: Domain = {
  describe(entity) {
    const { attributes, state } = entity;
    const armings = ARMINGS.filter(({ feature }) => hasFeature(attributes, feature));
    const modes = ["disarmed", ...armings.map(({ mode }) => mode)];
    const wantsCode = textIn(attributes, "code_format") !== undefined;
    const mode = state.replace(/^armed_/, "");
    return {
      kind: "alarm",
      capabilities: { ...choice("mode", modes, wantsCode), status: TEXT },
      state: { mode: modes.includes(mode) ? mode : null, status: stateText(entity) },
    };
  },
  calls: ({ mode }) => [
    {
      service:
        mode === "disarmed"
          ? "alarm_control_panel.alarm_disarm"
          : `alarm_control_panel.alarm_arm_${textOf(mode)}`,
    },
  ],
  confirms: ({ field, value }, { state }) =>
    (field === "mode" && value !== "disarmed" && ["arming", "pending"].includes(state)) ||
    undefined,
};

/** `number` and `input_number`. */
export const numeric: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const [min, max] = [numberIn(attributes, "min"), numberIn(attributes, "max")];
    const step = numberIn(attributes, "step") ?? 0;
    const unit = unitOf(textIn(attributes, "unit_of_measurement"));
    const hasRange = min !== undefined && max !== undefined && min <= max;
    const value = {
      type: "number",
      ...(hasRange ? { min, max } : {}),
      ...(step > 0 ? { step } : {}),
      ...unit.known,
    } as const;
    return {
      kind: "sensor",
      capabilities: { value, ...unit.capabilities },
      state: { value: toNumber(entity.state) ?? null, ...unit.state },
    };
  },
  calls: ({ value }, { domain }) => [{ service: `${domain}.set_value`, data: { value } }],
};

/** `select` and `input_select`. */
export const select: Domain = {
  describe(entity) {
    const options = choicesIn(entity.attributes, "options");
    const capabilities = choice("value", options);
    return { kind: "sensor", capabilities, state: { value: stateText(entity) } };
  },
  calls: ({ value }, { domain }) => [
    { service: `${domain}.select_option`, data: { option: value } },
  ],
};

/** `button` and `input_button`: its state is the time of the last press. */
export const button: Domain = {
  describe: () => ({
    kind: "button",
    capabilities: choice("press", ["press"]),
    state: {},
  }),
  calls: (_, { domain }) => [{ service: `${domain}.press` }],
  confirms: (_, entity: Entity, before: Entity) => entity.state !== before.state,
};
