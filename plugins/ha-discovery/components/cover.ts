import type { DeviceCommand, DeviceState } from "@mantel/plugin-sdk";
import {
  type Input,
  inputs,
  type CreateHandler,
  numberField,
  UNKNOWN,
} from "../component-handler.ts";
import type { Options, Write } from "../options.ts";
import { COMMAND, PERCENT, percentOf, present, reported } from "./capabilities.ts";
import { messagesOf } from "./simple.ts";

export const MOVEMENT = reported(["opening", "closing", "stopped"]);

/** The raw positions of something that opens, closed and open; either may be the greater. */
interface Range {
  readonly closed: number;
  readonly open: number;
}

export const rangeOf = (options: Options): Range => ({
  closed: options.number("position_closed", 0),
  open: options.number("position_open", 100),
});

/** Whole percents, unless there are fewer raw positions than percents. */
const exactIn = (percent: number, range: Range) =>
  spanOf(range) < 100 ? percent : Math.round(percent);

const spanOf = ({ closed, open }: Range) => Math.abs(open - closed);

export const percentFor = (range: Range) => percentOf(Math.round(spanOf(range)));

/** The percentage that something takes for a requested one. */
export const roundedBy = (range: Range) => (percent: number) =>
  percentIn(range)(rawIn(range)(percent));

export const percentIn =
  ({ closed, open }: Range) =>
  (raw: number) =>
    exactIn(Math.min(1, Math.max(0, (raw - closed) / (open - closed || 1))) * 100, {
      closed,
      open,
    });

export const rawIn =
  ({ closed, open }: Range) =>
  (percent: number) =>
    Math.round(closed + (percent / 100) * (open - closed));

/** The position that a command to open or close leads to. */
export const impliedPosition = (command: DeviceCommand): DeviceState => {
  if (command["open"] === true) return { position: 100 };
  return command["close"] === true ? { position: 0 } : {};
};

export const isMoving = ({ action }: DeviceState) => action === "opening" || action === "closing";

/** A cover. One that only reports that it is open or closed has a position of 0 or 100. */
export const cover: CreateHandler = (options) => {
  const range = rangeOf(options);
  const move = options.writer("command_topic", "command_template");
  const setPosition = options.writer("set_position_topic", "set_position_template");
  const tilt = tiltOf(options);
  const ends = endsOf(options, move, setPosition && toPosition(setPosition, range));
  const canStop = move !== undefined && options.raw("payload_stop") !== null;
  const told = [...positionInputs(options, range), ...stateInputs(options)];
  const percent = percentFor(range);
  const position = setPosition ? percent : ({ ...percent, readOnly: true } as const);
  return {
    leads: "cover",
    capabilities: present([
      ["position", position],
      ["action", options.topic("state_topic") === undefined ? undefined : MOVEMENT],
      ["open", ends.open && COMMAND],
      ["close", ends.close && COMMAND],
      ["stop", canStop ? COMMAND : undefined],
      ["tilt", tilt.capability],
    ]),
    inputs: [...told, ...tilt.inputs],
    write: (command) =>
      messagesOf(command, {
        ...ends,
        position: setPosition && toPosition(setPosition, range),
        stop: () => move?.(options.text("payload_stop", "STOP")),
        tilt: tilt.write,
      }),
    rounded: { position: roundedBy(range), tilt: tilt.round },
    implied: impliedPosition,
    isObeying: isMoving,
    unreported: new Set([
      ...(told.length > 0 && !options.flag("optimistic") ? [] : ["position"]),
      ...(tilt.inputs.length > 0 ? [] : ["tilt"]),
    ]),
  };
};

function toPosition(write: Write, range: Range) {
  return (percent: number) => {
    const position = rawIn(range)(percent);
    return write(position, [["position", position]]);
  };
}

/** Opens and closes, by the command topic or else by the position. */
function endsOf(
  options: Options,
  move: Write | undefined,
  setPosition: ReturnType<typeof toPosition> | undefined,
) {
  const end = (payload: string, absent: string, position: number) => {
    const isAbsent = options.raw(payload) === null;
    if (move && !isAbsent) return () => move(options.text(payload, absent));
    return setPosition && (() => setPosition(position));
  };
  return { open: end("payload_open", "OPEN", 100), close: end("payload_close", "CLOSE", 0) };
}

function positionInputs(options: Options, range: Range): Input[] {
  const template = options.has("position_template") ? "position_template" : "value_template";
  return inputs(options, ["position_topic", template], numberField("position", percentIn(range)));
}

function stateInputs(options: Options): Input[] {
  const told = statesOf(options, options.topic("position_topic") === undefined);
  return inputs(options, ["state_topic", "value_template"], (text) => told.get(text));
}

/** The meaning of the states; with `isPosition` open and closed are positions. */
export function statesOf(options: Options, isPosition: boolean): ReadonlyMap<string, DeviceState> {
  const at = (position: number): DeviceState => ({
    action: "stopped",
    ...(isPosition ? { position } : {}),
  });
  return new Map<string, DeviceState>([
    [options.text("state_open", "open"), at(100)],
    [options.text("state_closed", "closed"), at(0)],
    [options.text("state_stopped", "stopped"), { action: "stopped" }],
    [options.text("state_opening", "opening"), { action: "opening" }],
    [options.text("state_closing", "closing"), { action: "closing" }],
    [UNKNOWN, { action: null }],
  ]);
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
    capability: write ? percentFor({ closed, open }) : shown,
    round: roundedBy({ closed, open }),
    inputs: told,
    write: write && ((percent: number) => write(raw(percent), [["tilt_position", raw(percent)]])),
  };
}
