import {
  type Capability,
  conversionTo,
  type DeviceState,
  type StateValue,
  toCanonicalUnit,
  type UnitConversion,
} from "@mantel/plugin-sdk";
import {
  type Input,
  inputs,
  type CreateHandler,
  numberField,
  textField,
} from "../component-handler.ts";
import { readingOfSensor } from "../names.ts";
import type { Options } from "../options.ts";
import { jsonIn } from "../payload.ts";
import { isDict, type Value } from "../template/values.ts";
import { choice, COMMAND, numberOf, SHOWN, unitOf, YES_NO } from "./capabilities.ts";
import { messagesOf } from "./simple.ts";

const VALUE = ["state_topic", "value_template"] as const;

const TEXT_CLASSES = new Set(["timestamp", "date", "enum"]);

/** True if its values are numbers, as indicated by a unit, a state class or a device class. */
function isNumeric(options: Options): boolean {
  const deviceClass = options.text("device_class", "");
  if (TEXT_CLASSES.has(deviceClass)) return false;
  return deviceClass !== "" || options.has("unit_of_measurement") || options.has("state_class");
}

export const sensor: CreateHandler = (options) => {
  const expires = options.number("expire_after", 0);
  const capability = capabilityOf(options);
  const field =
    capability.type === "number"
      ? numberField("value", unitOfSensor(options).toOurs)
      : textField("value");
  return {
    capabilities: { value: capability },
    inputs: inputs(options, VALUE, field).map(withExpiry(expires)),
  };
};

/**
 * The unit that the vocabulary has for the reading, if the sensor's own can be converted to it, such as litres of
 * water to cubic metres. A power factor may come as a ratio without a unit.
 */
export function unitOfSensor(options: Options): UnitConversion {
  const deviceClass = options.text("device_class", "");
  if (deviceClass === "power_factor" && !options.has("unit_of_measurement")) {
    return { ...toCanonicalUnit("%"), toOurs: (ratio) => Number((ratio * 100).toPrecision(12)) };
  }
  const own = unitOf(options);
  const unit = options.text("unit_of_measurement", "");
  const wanted = readingOfSensor({ deviceClass, name: options.text("name", ""), unit })?.unit;
  const toOurs = wanted === undefined ? undefined : conversionTo(wanted, unit);
  return wanted === undefined || toOurs === undefined ? own : { ...own, unit: wanted, toOurs };
}

function capabilityOf(options: Options): Capability {
  if (isNumeric(options)) return { ...numberOf(unitOfSensor(options)), readOnly: true };
  const isEnum = options.text("device_class", "") === "enum";
  const values = isEnum ? choice(options.texts("options")) : undefined;
  return values ? { ...values, readOnly: true } : SHOWN;
}

const withExpiry =
  (expires: number) =>
  (input: Input): Input =>
    expires > 0 ? { ...input, expiresAfter: expires } : input;

/** Classes whose ON is the opposite of the Mantel field: a door that is ON is open. */
const OPPOSITE = new Set(["door", "window", "opening", "garage_door", "lock"]);

export const binarySensor: CreateHandler = (options) => {
  const [on, off] = [options.text("payload_on", "ON"), options.text("payload_off", "OFF")];
  const isOpposite = OPPOSITE.has(options.text("device_class", ""));
  const delay = options.number("off_delay", 0);
  const expires = options.number("expire_after", 0);
  const read = (text: string): DeviceState | undefined => {
    if (text === "None") return { value: null };
    if (text === on) return { value: !isOpposite };
    return text === off ? { value: isOpposite } : undefined;
  };
  const follows = delay > 0 ? { afterSeconds: delay, state: { value: isOpposite } } : undefined;
  return {
    capabilities: { value: YES_NO },
    inputs: inputs(options, VALUE, read)
      .map(withExpiry(expires))
      .map((input) => (follows ? { ...input, follows } : input)),
  };
};

/** The fields that an update of firmware reports, by the keys of its JSON. */
const VERSIONS = [
  ["installed_version", "installedVersion"],
  ["latest_version", "latestVersion"],
] as const;

export const update: CreateHandler = (options) => {
  const install = options.text("payload_install", "INSTALL");
  const write = options.has("payload_install")
    ? options.writer("command_topic", "command_template")
    : undefined;
  return {
    capabilities: {
      updateAvailable: YES_NO,
      installedVersion: SHOWN,
      latestVersion: SHOWN,
      ...(write ? { install: COMMAND } : {}),
    },
    inputs: [
      ...inputs(options, VALUE, (text) => versionsIn(text)),
      ...inputs(options, ["latest_version_topic", "latest_version_template"], (text) =>
        text === "" ? undefined : { latestVersion: text.slice(0, 200) },
      ),
    ].map((input) => ({ ...input, read: comparing(input.read) })),
    write: (command) => messagesOf(command, { install: () => write?.(install) }),
  };
};

/** The versions in a payload: JSON with both, or the installed one alone. */
function versionsIn(text: string): DeviceState | undefined {
  const json = jsonIn(text);
  if (!isDict(json)) return text === "" ? undefined : { installedVersion: text.slice(0, 200) };
  const found = VERSIONS.flatMap(([key, name]) => {
    const version = versionOf(json.get(key));
    return version === undefined ? [] : [[name, version] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function versionOf(value: Value): string | null | undefined {
  if (value === null || value === "" || value === "None") return null;
  return typeof value === "string" || typeof value === "number"
    ? String(value).slice(0, 200)
    : undefined;
}

/** Adds whether there is an update, from the versions that are known then. */
const comparing =
  (read: Input["read"]): Input["read"] =>
  (payload, state) => {
    const told = read(payload, state);
    if (!told) return undefined;
    const { installedVersion = null, latestVersion = null } = { ...state, ...told };
    const isKnown = installedVersion !== null && latestVersion !== null;
    const updateAvailable: StateValue = isKnown ? installedVersion !== latestVersion : null;
    return { ...told, updateAvailable };
  };
