import {
  type Color,
  type DeviceCommand,
  type DeviceState,
  toKelvin,
  toMired,
} from "@mantel/plugin-sdk";
import type { CreateHandler } from "../component-handler.ts";
import { COLOR, PERCENT, present } from "../components/capabilities.ts";
import { color } from "../components/color.ts";
import type { Options } from "../options.ts";
import type { Message } from "../payload.ts";
import { type Dict, numberOf } from "../template/values.ts";
import type { TasmotaDevice } from "./device.ts";
import { powerIn, turnOf } from "./outputs.ts";
import { commandOf, pollsOf, reports, stateTopics } from "./reports.ts";

/** The range of white, in mireds; SetOption82 makes it smaller. */
const [MIREDS, FEWER_MIREDS] = [
  [153, 500],
  [200, 380],
] as const;

const EFFECTS = ["None", "Wake up", "Cycle up", "Cycle down", "Random"];

/** The capabilities of one light of a device, and their commands. */
interface Lamp {
  /** The command that sets its brightness, which is also the name of the value in reports. */
  readonly dimmer: string;
  readonly reported: string;
  readonly hasColor: boolean;
  readonly hasWhite: boolean;
  /** True if a report tells by its white whether it shows a colour. */
  readonly isMixed: boolean;
}

/** The light at an output. `first` is the first output that is a light. */
export const light =
  (device: TasmotaDevice, index: number, first: number): CreateHandler =>
  (options) => {
    const lamp = lampOf(device, index, first);
    const [coldest, warmest] = device.options.has("82") ? FEWER_MIREDS : MIREDS;
    const topics = stateTopics(
      device,
      ...["POWER", `POWER${index + 1}`, lamp.reported, "COLOR", "HSBCOLOR", "CT", "SCHEME"],
    );
    const mireds = { min: toKelvin(warmest), max: toKelvin(coldest) };
    return {
      leads: "light",
      capabilities: present([
        ["on", { type: "boolean" }],
        ["brightness", PERCENT],
        [
          "colorTemperature",
          lamp.hasWhite ? { type: "number", ...mireds, step: 50, unit: "K" } : undefined,
        ],
        ["color", lamp.hasColor ? COLOR : undefined],
        ["effect", lamp.hasColor ? { type: "choice", values: EFFECTS } : undefined],
      ]),
      inputs: reports(topics, (told) => ({
        ...powerIn(device, told, index),
        ...stateIn(told, lamp),
      })),
      write: writing(device, options, { lamp, index }),
      implied: ({ brightness }) => (brightness === 0 ? { on: false, brightness: undefined } : {}),
      polls: pollsOf(device, options),
    };
  };

/** One light for all channels, one for each (SetOption68), or one for colour and one for white. */
function lampOf(device: TasmotaDevice, index: number, first: number): Lamp {
  const { lightChannels: channels, isLinked, isTuya, options } = device;
  if (options.has("68")) {
    const dimmer = `Channel${index + 1}`;
    return { dimmer, reported: dimmer, hasColor: false, hasWhite: false, isMixed: false };
  }
  if (!isLinked && channels >= 4) {
    const isColor = index === first;
    const dimmer = isColor ? "Dimmer1" : "Dimmer2";
    const hasWhite = !isColor && channels === 5;
    return { dimmer, reported: dimmer, hasColor: isColor, hasWhite, isMixed: false };
  }
  return {
    dimmer: isTuya ? "Dimmer3" : "Dimmer",
    reported: "Dimmer",
    hasColor: channels >= 3,
    hasWhite: channels === 2 || channels === 5,
    isMixed: channels >= 4,
  };
}

function stateIn(told: Dict, { reported, hasColor, hasWhite, isMixed }: Lamp): DeviceState {
  const [brightness, mired, white, scheme] = [reported, "CT", "White", "Scheme"].map((name) =>
    numberOf(told.get(name)),
  );
  const isWhite = isMixed && white !== undefined && white > 0;
  const isColored = isMixed && white === 0;
  const effect = scheme === undefined ? undefined : EFFECTS[scheme];
  return {
    ...(brightness === undefined ? {} : { brightness }),
    ...(hasWhite && mired !== undefined
      ? { colorTemperature: isColored ? null : toKelvin(mired) }
      : {}),
    ...(hasColor ? colorIn(told.get("HSBColor"), isWhite) : {}),
    ...(hasColor && effect !== undefined ? { effect } : {}),
  };
}

function colorIn(value: unknown, isWhite: boolean): { color?: Color | null } {
  if (isWhite) return { color: null };
  if (typeof value !== "string") return {};
  const [hue = NaN, saturation = NaN] = value.split(",", 3).map(Number);
  const found = color(hue, saturation);
  return found ? { color: found } : {};
}

function writing(
  device: TasmotaDevice,
  options: Options,
  { lamp, index }: { lamp: Lamp; index: number },
) {
  const turn = turnOf(device, options, index);
  const send = (name: string, value: number): Message[] =>
    [commandOf(device, options, name)?.(value)].flatMap((message) => message ?? []);
  return ({ on, brightness, colorTemperature, color: shown, effect }: DeviceCommand): Message[] => {
    if (on === false || brightness === 0) return [turn(false)];
    const style = [
      ...(typeof shown === "object"
        ? [
            ...send("HsbColor1", Math.round(shown.hue)),
            ...send("HsbColor2", Math.round(shown.saturation)),
          ]
        : []),
      ...(typeof colorTemperature === "number" ? send("CT", toMired(colorTemperature)) : []),
      ...(typeof brightness === "number"
        ? send(lamp.dimmer, Math.max(1, Math.round(brightness)))
        : []),
      ...(typeof effect === "string" ? send("Scheme", EFFECTS.indexOf(effect)) : []),
    ];
    return on === true ? [...style, turn(true)] : style;
  };
}
