import { hasFeature, when } from "./attributes.ts";
import { codeOf, withCode } from "./convert-lock.ts";
import { choice, CODE, commands, type Domain, extras, isKnown } from "./domain.ts";

const TRIGGER = 8;
const STATUSES = ["disarmed", "arming", "armed", "pending", "triggered"];
/** The modes, with the name that Home Assistant's states and services have for them. */
const ARMINGS = [
  { feature: 1, mode: "home", name: "home" },
  { feature: 2, mode: "away", name: "away" },
  { feature: 4, mode: "night", name: "night" },
  { feature: 32, mode: "vacation", name: "vacation" },
  { feature: 16, mode: "custom", name: "custom_bypass" },
] as const;

/** `alarm_control_panel`. Its code goes with each command, and is not stored anywhere. */
export const alarm: Domain = {
  describe(entity) {
    const { attributes, state } = entity;
    const disarmed = state === "disarmed" ? state : undefined;
    const armings = ARMINGS.filter(({ feature }) => hasFeature(attributes, feature));
    const armed = ARMINGS.find(({ name }) => state === `armed_${name}`)?.mode;
    const canTrigger = hasFeature(attributes, TRIGGER);
    return {
      kind: "alarm",
      capabilities: {
        ...choice("mode", ["disarmed", ...armings.map(({ mode }) => mode)]),
        ...choice("status", STATUSES, true),
        ...codeOf(attributes),
      },
      ...when(canTrigger, { extra: extras(commands({ trigger: true })) }),
      // an alarm that is pending or triggered does not tell its mode, and still has it
      state: { mode: isKnown(entity) ? (armed ?? disarmed) : null, status: statusOf(state) },
    };
  },

  calls({ mode, trigger, code }) {
    const arming = ARMINGS.find((each) => each.mode === mode);
    return [
      ...(mode === "disarmed" ? ["disarm"] : arming ? [`arm_${arming.name}`] : []),
      ...(trigger === undefined ? [] : ["trigger"]),
    ].map((name) => withCode(`alarm_control_panel.alarm_${name}`, code));
  },

  confirms({ field, value }, { state }) {
    if (field === CODE) return "answered";
    if (field === "trigger") return ["triggered", "pending"].includes(state);
    return (value !== "disarmed" && ["arming", "pending"].includes(state)) || undefined;
  },

  shownAsRequested: ["mode"],
};

/** An alarm that is being disarmed is still armed. */
function statusOf(state: string): string | null {
  if (state.startsWith("armed_") || state === "disarming") return "armed";
  return STATUSES.includes(state) ? state : null;
}
