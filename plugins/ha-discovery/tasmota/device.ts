import { DiscoveryError } from "../discovery-error.ts";

/** A Tasmota device as `tasmota/discovery/<mac>/config` announces it. */
export interface TasmotaDevice {
  readonly mac: string;
  readonly name: string;
  readonly model: string;
  readonly firmware: string;
  /** By output, from 0; a name that is not set is absent. */
  readonly names: readonly (string | undefined)[];
  /** The beginnings of its topics, each with a slash at the end. */
  readonly topics: { readonly command: string; readonly stat: string; readonly tele: string };
  readonly online: string;
  readonly offline: string;
  readonly on: string;
  readonly off: string;
  /** By output, from 0: 1 relay, 2 light, 3 shutter. */
  readonly outputs: readonly number[];
  /** The number of colour channels of its light, from 0 to 5. */
  readonly lightChannels: number;
  /** True if colour and white are one light. */
  readonly isLinked: boolean;
  readonly isFan: boolean;
  readonly isTuya: boolean;
  readonly hasBattery: boolean;
  readonly isSleeping: boolean;
  /** By switch, from 0: its mode, or -1. */
  readonly switches: readonly number[];
  readonly switchNames: readonly (string | undefined)[];
  /** By button, from 0: true if it reports presses. */
  readonly buttons: readonly boolean[];
  /** By shutter, from 0. */
  readonly shutterOptions: readonly number[];
  /** By shutter, from 0: the angles of its slats, closed and open. */
  readonly tilts: readonly (readonly [closed: number, open: number])[];
  /** The options (`SetOption<n>`) that are on. */
  readonly options: ReadonlySet<string>;
}

type Json = Readonly<Record<string, unknown>>;

const MOST_OUTPUTS = 32;
const LONGEST_TEXT = 200;
const LONGEST_TOPIC = 500;

/** @throws DiscoveryError if it is not the announcement of a device */
export function readDevice(mac: string, text: string): TasmotaDevice {
  const config = objectIn(text);
  if (textIn(config, "mac").replaceAll(":", "").toUpperCase() !== mac.toUpperCase()) {
    throw new DiscoveryError("the mac is not the one of the topic");
  }
  const [off = "OFF", on = "ON"] = textsIn(config, "state");
  return {
    mac,
    name: textIn(config, "dn") || textIn(config, "t") || mac,
    model: textIn(config, "md"),
    firmware: textIn(config, "sw"),
    names: textsIn(config, "fn"),
    topics: topicsIn(config, mac),
    online: textIn(config, "onln") || "Online",
    offline: textIn(config, "ofln") || "Offline",
    on,
    off,
    outputs: numbersIn(config, "rl"),
    lightChannels: numberIn(config, "lt_st"),
    isLinked: config["lk"] !== 0,
    isFan: config["if"] === 1,
    isTuya: config["ty"] === 1,
    hasBattery: config["bat"] === 1,
    isSleeping: config["dslp"] === 1,
    switches: numbersIn(config, "swc"),
    switchNames: textsIn(config, "swn"),
    buttons: numbersIn(config, "btn").map((each) => each === 1),
    shutterOptions: numbersIn(config, "sho"),
    tilts: listIn(config, "sht").map(tiltIn),
    options: optionsIn(config["so"]),
  };
}

/** The content of `tasmota/discovery/<mac>/sensors`: the last report of all sensors. @throws DiscoveryError */
export function readSensors(text: string): Json {
  const sensors = objectIn(text)["sn"];
  if (!isObject(sensors)) throw new DiscoveryError("sn must be an object");
  return sensors;
}

function objectIn(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DiscoveryError("it is not JSON", { cause: error });
  }
  if (!isObject(value)) throw new DiscoveryError("it is not a JSON object");
  return value;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The topics of commands, answers and reports, as Tasmota makes them of its pattern (`FullTopic`). */
function topicsIn(config: Json, mac: string): TasmotaDevice["topics"] {
  const [pattern, topic] = [textIn(config, "ft"), textIn(config, "t")];
  const [command, stat, tele] = textsIn(config, "tp");
  if (pattern === "" || topic === "" || !command || !stat || !tele) {
    throw new DiscoveryError("a Tasmota needs t, ft and tp");
  }
  const fill = (start: string, prefix: string) => {
    const full = start
      .replaceAll("%prefix%", () => prefix)
      .replaceAll("%topic%", () => topic)
      .replaceAll("%hostname%", () => textIn(config, "hn"))
      .replaceAll("%id%", () => mac)
      .replaceAll("#", "")
      .replaceAll("//", "/");
    return `${full.slice(0, LONGEST_TOPIC)}${full.endsWith("/") ? "" : "/"}`;
  };
  // Tasmota adds the prefix to command topics whose pattern does not have it.
  const commands = pattern.includes("%prefix%") ? pattern : `${pattern}/%prefix%`;
  return { command: fill(commands, command), stat: fill(pattern, stat), tele: fill(pattern, tele) };
}

function textIn(config: Json, name: string): string {
  const value = config[name];
  return typeof value === "string" ? value.slice(0, LONGEST_TEXT) : "";
}

function numberIn(config: Json, name: string): number {
  const value = config[name];
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

const listIn = (config: Json, name: string): readonly unknown[] => {
  const value: unknown = config[name];
  return Array.isArray(value) ? value.slice(0, MOST_OUTPUTS) : [];
};

const textsIn = (config: Json, name: string) =>
  listIn(config, name).map((each) =>
    typeof each === "string" && each !== "" ? each.slice(0, LONGEST_TEXT) : undefined,
  );

const numbersIn = (config: Json, name: string) =>
  listIn(config, name).map((each) => (typeof each === "number" ? each : 0));

function tiltIn(value: unknown): readonly [number, number] {
  const [closed, open]: unknown[] = Array.isArray(value) ? value : [];
  return typeof closed === "number" && typeof open === "number" ? [closed, open] : [0, 0];
}

function optionsIn(value: unknown): Set<string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Set(entries.flatMap(([name, on]) => (on === 1 ? name : [])));
}
