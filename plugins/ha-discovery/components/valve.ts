import type { DeviceCommand, DeviceState } from "@mantel/plugin-sdk";
import { type CreateHandler, type Input, inputs, numberIn } from "../component-handler.ts";
import type { Options } from "../options.ts";
import { jsonIn } from "../payload.ts";
import { isDict, numberOf } from "../template/values.ts";
import { COMMAND, present, SWITCH } from "./capabilities.ts";
import {
  isMoving,
  MOVEMENT,
  percentFor,
  percentIn,
  rangeOf,
  rawIn,
  roundedBy,
  statesOf,
} from "./cover.ts";
import { isOptimistic, messagesOf } from "./simple.ts";

/** A valve. One with `reports_position` takes and reports positions instead of open and closed. */
export const valve: CreateHandler = (options) => {
  const hasPosition = options.flag("reports_position");
  const write = options.writer("command_topic", "command_template");
  const range = rangeOf(options);
  const toRaw = rawIn(range);
  const setPosition = (percent: number) => write?.(toRaw(percent));
  const end = (payload: string, absent: string, percent: number) => () =>
    hasPosition ? setPosition(percent) : write?.(options.text(payload, absent));
  const [open, close] = [end("payload_open", "OPEN", 100), end("payload_close", "CLOSE", 0)];
  const stop = options.text("payload_stop", undefined);
  const access = write ? {} : { readOnly: true };
  return {
    leads: "valve",
    capabilities: present([
      ["on", { ...SWITCH, ...access }],
      ["position", hasPosition ? { ...percentFor(range), ...access } : undefined],
      ["action", options.topic("state_topic") === undefined ? undefined : MOVEMENT],
      ["open", write && COMMAND],
      ["close", write && COMMAND],
      ["stop", write && stop !== undefined ? COMMAND : undefined],
    ]),
    inputs: inputsOf(options, hasPosition),
    write: (command) =>
      messagesOf(decisive(command), {
        position: setPosition,
        on: (value: boolean) => (value ? open() : close()),
        open,
        close,
        stop: () => write?.(stop ?? ""),
      }),
    rounded: { position: roundedBy(range) },
    implied: impliedBy,
    isObeying: (told, field, isRequested) => isMoving(told) && (field !== "on" || !isRequested),
    unreported: new Set(isOptimistic(options) ? ["on", "position"] : []),
  };
};

/** A valve that is opened to a position is not opened as far as it goes as well. */
function decisive({ on, ...command }: DeviceCommand): DeviceCommand {
  const isImplied = on === undefined || (on === true && command["position"] !== undefined);
  return isImplied ? command : { ...command, on };
}

function impliedBy({ open, close, position }: DeviceCommand): DeviceState {
  if (open === true) return { on: true };
  if (close === true) return { on: false };
  return typeof position === "number" ? { on: position > 0 } : {};
}

function inputsOf(options: Options, hasPosition: boolean): Input[] {
  const toPercent = percentIn(rangeOf(options));
  const states = statesOf(options, true);
  const at = (percent: number): DeviceState => ({ position: percent, on: percent > 0 });
  return inputs(options, ["state_topic", "value_template"], (text) => {
    const json = jsonIn(text);
    const told = isDict(json) ? json : undefined;
    const raw = told ? numberOf(told.get("position")) : numberIn(text);
    const word = told ? told.get("state") : text;
    const state = typeof word === "string" ? states.get(word) : undefined;
    const position = hasPosition && raw !== undefined ? toPercent(raw) : state?.["position"];
    if (typeof position !== "number") return state;
    const isAtEnd = position === 0 || position === 100;
    return { ...(isAtEnd ? { action: "stopped" } : {}), ...state, ...at(position) };
  });
}
