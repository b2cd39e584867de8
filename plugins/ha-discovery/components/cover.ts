import type { Capability, DeviceState } from "@mantel/plugin-sdk";
import {
  type Input,
  inputs,
  type CreateHandler,
  numberField,
  UNKNOWN,
} from "../component-handler.ts";
import type { Options, Write } from "../options.ts";
import { type Message } from "../payload.ts";
import { DO, PERCENT, present } from "./capabilities.ts";
import { messagesOf } from "./simple.ts";

const MOVING: Capability = {
  type: "choice",
  values: ["opening", "closing", "stopped"],
  readOnly: true,
};

/** The raw positions of a cover or its slats, closed and open; either may be the greater. */
interface Range {
  readonly closed: number;
  readonly open: number;
}

const percentIn =
  ({ closed, open }: Range) =>
  (raw: number) =>
    Math.round(Math.min(1, Math.max(0, (raw - closed) / (open - closed || 1))) * 100);

const rawIn =
  ({ closed, open }: Range) =>
  (percent: number) =>
    Math.round(closed + (percent / 100) * (open - closed));

/**
 * A cover. One that only opens and closes has a position of 0 or 100; `stop` is there where the device
 * can be stopped.
 */
export const cover: CreateHandler = (options) => {
  const range = {
    closed: options.number("position_closed", 0),
    open: options.number("position_open", 100),
  };
  const move = options.writer("command_topic", "command_template");
  const setPosition = options.writer("set_position_topic", "set_position_template");
  const tilt = tiltOf(options);
  const canStop = move !== undefined && options.raw("payload_stop") !== null;
  const position = { ...PERCENT, step: setPosition ? 1 : 100 };
  return {
    leads: "cover",
    capabilities: present([
      ["position", setPosition || move ? position : { ...PERCENT, readOnly: true }],
      ["moving", options.topic("state_topic") === undefined ? undefined : MOVING],
      ["stop", canStop ? DO : undefined],
      ["tilt", tilt.capability],
    ]),
    inputs: [...positionInputs(options, range), ...stateInputs(options), ...tilt.inputs],
    write: (command) =>
      messagesOf(command, {
        position: setPosition ? toPosition(setPosition, range) : move && toEnd(options, move),
        stop: () => move?.(options.text("payload_stop", "STOP")),
        tilt: tilt.write,
      }),
    unreported: new Set([...unreportedOf(options), ...(tilt.inputs.length > 0 ? [] : ["tilt"])]),
  };
};

function toPosition(write: Write, range: Range): (percent: number) => Message {
  return (percent) => {
    const position = rawIn(range)(percent);
    return write(position, [["position", position]]);
  };
}

function toEnd(options: Options, write: Write): (percent: number) => Message {
  const [open, close] = [
    options.text("payload_open", "OPEN"),
    options.text("payload_close", "CLOSE"),
  ];
  return (percent) => write(percent >= 50 ? open : close);
}

function unreportedOf(options: Options): string[] {
  const isTold = ["state_topic", "position_topic"].some(
    (name) => options.topic(name) !== undefined,
  );
  return isTold && !options.flag("optimistic") ? [] : ["position"];
}

function positionInputs(options: Options, range: Range): Input[] {
  const template = options.has("position_template") ? "position_template" : "value_template";
  return inputs(options, ["position_topic", template], numberField("position", percentIn(range)));
}

function stateInputs(options: Options): Input[] {
  const hasPosition = options.topic("position_topic") !== undefined;
  const at = (position: number): DeviceState => ({
    moving: "stopped",
    ...(hasPosition ? {} : { position }),
  });
  const told = new Map<string, DeviceState>([
    [options.text("state_open", "open"), at(100)],
    [options.text("state_closed", "closed"), at(0)],
    [options.text("state_stopped", "stopped"), { moving: "stopped" }],
    [options.text("state_opening", "opening"), { moving: "opening" }],
    [options.text("state_closing", "closing"), { moving: "closing" }],
    [UNKNOWN, { moving: null }],
  ]);
  return inputs(options, ["state_topic", "value_template"], (text) => told.get(text));
}

function tiltOf(options: Options) {
  const closed = options.number("tilt_closed_value", options.number("tilt_min", 0));
  const open = options.number("tilt_opened_value", options.number("tilt_max", 100));
  const write = options.writer("tilt_command_topic", "tilt_command_template");
  const raw = rawIn({ closed, open });
  const told = inputs(
    options,
    ["tilt_status_topic", "tilt_status_template"],
    numberField("tilt", percentIn({ closed, open })),
  );
  const shown = told.length > 0 ? ({ ...PERCENT, readOnly: true } as const) : undefined;
  return {
    capability: write ? PERCENT : shown,
    inputs: told,
    write: write && ((percent: number) => write(raw(percent), [["tilt_position", raw(percent)]])),
  };
}
