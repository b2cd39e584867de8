import type { DeviceState } from "@mantel/plugin-sdk";
import type { Input } from "../component-handler.ts";
import type { Options, Write } from "../options.ts";
import type { Message, Payload } from "../payload.ts";
import { type Dict, isDict } from "../template/values.ts";
import type { TasmotaDevice } from "./device.ts";

/** Sends a command to a Tasmota; `undefined` if that is not allowed. */
export function commandOf(
  { topics }: TasmotaDevice,
  options: Options,
  command: string,
): Write | undefined {
  const fields = new Map([["command_topic", `${topics.command}${command}`]]);
  return options.with(fields).writer("command_topic", "");
}

/** The topics of the answers to commands: one for all, or with SetOption4 one for each. */
export function answerTopics(
  { topics, options }: TasmotaDevice,
  ...commands: readonly string[]
): string[] {
  if (!options.has("4")) return [`${topics.stat}RESULT`];
  return commands.map((command) => `${topics.stat}${command.toUpperCase()}`);
}

/** The regular report of outputs, and the answers to commands. */
export const stateTopics = (device: TasmotaDevice, ...commands: readonly string[]): string[] => [
  `${device.topics.tele}STATE`,
  ...answerTopics(device, "STATE", ...commands),
];

/** The regular report of sensors, and the answer to a request for one. */
export const sensorTopics = ({ topics }: TasmotaDevice): string[] => [
  `${topics.tele}SENSOR`,
  `${topics.stat}STATUS10`,
];

/** The JSON object of a payload; the answer to a request has it one level deeper. */
export function reportIn(payload: Payload): Dict | undefined {
  const json = payload.variables.get("value_json");
  if (!isDict(json)) return undefined;
  const inner = json.get("StatusSNS");
  return isDict(inner) ? inner : json;
}

/** Reads reports from each of the topics. */
export function reports(topics: readonly string[], read: (told: Dict) => DeviceState): Input[] {
  return [...new Set(topics)].map((topic) => ({
    topic,
    read: (payload) => {
      const told = reportIn(payload);
      const state = told ? read(told) : {};
      return Object.keys(state).length === 0 ? undefined : state;
    },
  }));
}

/** Requests for the reports of outputs and sensors, which a Tasmota otherwise sends every few minutes. */
export function pollsOf(device: TasmotaDevice, options: Options): Message[] {
  const polls = [
    commandOf(device, options, "STATE")?.(""),
    commandOf(device, options, "STATUS")?.("10"),
  ];
  return polls.flatMap((poll) => poll ?? []);
}
