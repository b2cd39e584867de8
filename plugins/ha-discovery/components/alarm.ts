import { type DeviceCommand, type DeviceState, MantelError } from "@mantel/plugin-sdk";
import { type CreateHandler, inputs, UNKNOWN } from "../component-handler.ts";
import type { Options } from "../options.ts";
import { COMMAND, present, reported, TEXT } from "./capabilities.ts";
import { CODE, codeOf, messagesOf } from "./simple.ts";

/** The modes: Home Assistant's feature and state, and the payload with its default. */
const MODES = [
  ["disarmed", undefined, "disarmed", "payload_disarm", "DISARM"],
  ["home", "arm_home", "armed_home", "payload_arm_home", "ARM_HOME"],
  ["away", "arm_away", "armed_away", "payload_arm_away", "ARM_AWAY"],
  ["night", "arm_night", "armed_night", "payload_arm_night", "ARM_NIGHT"],
  ["vacation", "arm_vacation", "armed_vacation", "payload_arm_vacation", "ARM_VACATION"],
  [
    ...(["custom", "arm_custom_bypass", "armed_custom_bypass"] as const),
    ...(["payload_arm_custom_bypass", "ARM_CUSTOM_BYPASS"] as const),
  ],
] as const;

const STATUSES = ["disarmed", "arming", "armed", "pending", "triggered"];
/** The system checks the code; otherwise the announcement has it. */
const REMOTE = new Set(["REMOTE_CODE", "REMOTE_CODE_TEXT"]);

/** An alarm system: the mode that it was set to, and what it does now. */
export const alarm: CreateHandler = (options) => {
  const features = options.texts("supported_features");
  const has = (feature: string | undefined) =>
    feature === undefined || !features || features.includes(feature);
  const modes = MODES.filter(([, feature]) => has(feature));
  const write = options.writer("command_topic", "command_template");
  const check = codeCheck(options);
  const send = (payload: string, command: DeviceCommand) =>
    write?.(payload, [
      ["action", payload],
      ["code", codeOf(command)],
    ]);
  const mode = { type: "choice", values: modes.map(([name]) => name) } as const;
  const told = inputs(options, ["state_topic", "value_template"], stateIn);
  return {
    leads: "alarm",
    capabilities: present([
      ["mode", write ? mode : { ...mode, readOnly: true }],
      ["status", told.length > 0 ? reported(STATUSES) : undefined],
      ["trigger", write && has("trigger") ? COMMAND : undefined],
      [CODE, write && options.has("code") ? TEXT : undefined],
    ]),
    inputs: told,
    write: (command) =>
      messagesOf(command, {
        mode: (value: string) => {
          check(command, value === "disarmed" ? "code_disarm_required" : "code_arm_required");
          const chosen = MODES.find(([name]) => name === value);
          return chosen && send(options.text(chosen[3], chosen[4]), command);
        },
        trigger: () => {
          check(command, "code_trigger_required");
          return send(options.text("payload_trigger", "TRIGGER"), command);
        },
      }),
    isObeying: ({ status }) => status === "arming",
    stateless: new Set([CODE]),
    unreported: new Set(told.length > 0 ? [] : ["mode"]),
  };
};

/** Refuses a command without the code that it needs. */
function codeCheck(options: Options) {
  const code = options.text("code", undefined);
  return (command: DeviceCommand, requirement: string): void => {
    const isRequired = !options.has(requirement) || options.flag(requirement);
    if (code === undefined || !isRequired) return;
    const given = codeOf(command);
    if (REMOTE.has(code) ? given !== "" : given === code) return;
    throw new MantelError("invalid", given === "" ? "a code is needed" : "the code is wrong");
  };
}

/** While it arms or sounds, the mode stays what it was. */
function stateIn(text: string): DeviceState | undefined {
  if (text === UNKNOWN) return { mode: null, status: null };
  const found = MODES.find(([, , state]) => state === text);
  if (found) return { mode: found[0], status: found[0] === "disarmed" ? "disarmed" : "armed" };
  return STATUSES.includes(text) ? { status: text } : undefined;
}
