import {
  type DeviceKind,
  type DeviceState,
  percentToSpeed,
  speedToPercent,
} from "@mantel/plugin-sdk";
import { type CreateHandler } from "../component-handler.ts";
import { COMMAND, PERCENT, present, SWITCH } from "../components/capabilities.ts";
import { impliedPosition, isMoving, MOVEMENT } from "../components/cover.ts";
import { messagesOf, needed } from "../components/simple.ts";
import type { Options } from "../options.ts";
import { type Dict, numberOf } from "../template/values.ts";
import type { TasmotaDevice } from "./device.ts";
import { commandOf, pollsOf, reports, sensorTopics, stateTopics, answerTopics } from "./reports.ts";

/** True or false as a report tells it of an output; the only one may have no number. */
export function powerIn({ on, off }: TasmotaDevice, told: Dict, index: number): DeviceState {
  const state = told.get(`POWER${index + 1}`) ?? (index === 0 ? told.get("POWER") : undefined);
  if (state === on) return { on: true };
  return state === off ? { on: false } : {};
}

/** Switches an output. @throws DiscoveryError if it may not be commanded */
export function turnOf(device: TasmotaDevice, options: Options, index: number) {
  const write = needed(commandOf(device, options, `POWER${index + 1}`));
  return (value: boolean) => write(value ? device.on : device.off);
}

/** A relay, or a light that only turns on and off. */
export const relay =
  (device: TasmotaDevice, index: number, kind: DeviceKind): CreateHandler =>
  (options) => {
    const turn = turnOf(device, options, index);
    const topics = stateTopics(device, "POWER", `POWER${index + 1}`);
    return {
      leads: kind,
      capabilities: { on: SWITCH },
      inputs: reports(topics, (told) => powerIn(device, told, index)),
      write: (command) => messagesOf(command, { on: turn }),
      polls: pollsOf(device, options),
    };
  };

const LEVELS = 3;

/** The fan of a ceiling fan with three speeds. */
export const fan =
  (device: TasmotaDevice): CreateHandler =>
  (options) => {
    const write = needed(commandOf(device, options, "FanSpeed"));
    const toLevel = (percent: number) => percentToSpeed(percent, LEVELS);
    const toPercent = (level: number) => speedToPercent(level, LEVELS);
    return {
      leads: "fan",
      capabilities: { on: SWITCH, speed: { ...PERCENT, step: 100 / LEVELS } },
      inputs: reports(stateTopics(device, "FANSPEED"), (told) => {
        const level = numberOf(told.get("FanSpeed"));
        return level === undefined ? {} : { on: level > 0, speed: toPercent(level) };
      }),
      write: ({ on, speed }, state) => {
        if (on === false) return [write(0)];
        if (typeof speed === "number") return [write(toLevel(speed))];
        return [write(toLevel(Number(state["speed"])) || LEVELS)];
      },
      rounded: { speed: (percent) => toPercent(toLevel(percent)) },
      polls: pollsOf(device, options),
    };
  };

/** Bit of the options of a shutter whose positions run the other way. */
const INVERTED = 1;
const DIRECTIONS = new Map<number | undefined, string>([
  [1, "opening"],
  [0, "stopped"],
  [-1, "closing"],
]);

/** A shutter, which has two relays. */
export const shutter =
  (device: TasmotaDevice, index: number): CreateHandler =>
  (options) => {
    const number = index + 1;
    const isInverted = ((device.shutterOptions[index] ?? 0) & INVERTED) !== 0;
    const [closed, open] = device.tilts[index] ?? [0, 0];
    const turned = (position: number) => (isInverted ? 100 - position : position);
    const send = (name: string) => needed(commandOf(device, options, `Shutter${name}${number}`));
    const [position, tilt] = [send("Position"), send("Tilt")];
    const topics = answerTopics(device, `SHUTTER${number}`, `SHUTTERPOSITION${number}`);
    return {
      leads: "cover",
      capabilities: present([
        ["position", PERCENT],
        ["tilt", closed === open ? undefined : PERCENT],
        ["action", MOVEMENT],
        ...["open", "close", "stop"].map((name) => [name, COMMAND] as const),
      ]),
      inputs: reports([...sensorTopics(device), ...topics], (told) => {
        const report = told.get(`Shutter${number}`);
        const [at, direction, angle] = ["Position", "Direction", "Tilt"].map((name) =>
          report instanceof Map ? numberOf(report.get(name)) : undefined,
        );
        const action = DIRECTIONS.get(isInverted && direction ? -direction : direction);
        return {
          ...(at === undefined ? {} : { position: turned(at) }),
          ...(action === undefined ? {} : { action }),
          ...(angle === undefined || closed === open
            ? {}
            : { tilt: Math.round(((angle - closed) / (open - closed)) * 100) }),
        };
      }),
      write: (command) =>
        messagesOf(command, {
          open: () => send("Open")(""),
          close: () => send("Close")(""),
          stop: () => send("Stop")(""),
          position: (percent: number) => position(turned(Math.round(percent))),
          tilt: (percent: number) => tilt(Math.round(closed + (percent / 100) * (open - closed))),
        }),
      implied: impliedPosition,
      isObeying: isMoving,
      polls: pollsOf(device, options),
    };
  };
