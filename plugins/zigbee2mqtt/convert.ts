import {
  type Capability,
  type DeviceDescription,
  type StateValue,
  toKelvin,
  toLevel,
  toMired,
  toPercent,
} from "@mantel/plugin-sdk";
import { colorFeature, isColor } from "./convert-color.ts";
import { unitOf } from "./convert-units.ts";
import { ACCESS, type Expose } from "./exposes.ts";
import type { Feature } from "./feature.ts";
import { nameOf } from "./names.ts";

type Kind = DeviceDescription["kind"];

const TEXT_LENGTH = 1_000;
const MOST_FEATURES = 100;

/** All features of a device, with unique names. */
export function featuresOf(exposes: readonly Expose[]): Feature[] {
  const features = new Map<string, Feature>();
  for (const feature of exposes.flatMap((expose) => featuresIn(expose, { type: "", path: [] }))) {
    let { name } = feature;
    for (let at = 2; features.has(name); at++) name = `${feature.name.slice(0, 60)}${at}`;
    if (features.size < MOST_FEATURES) features.set(name, { ...feature, name });
  }
  return [...features.values()];
}

/** Context of an expose: the type it belongs to, and its place in a payload. */
interface Within {
  readonly type: string;
  readonly path: readonly string[];
}

/** Specific types such as `light` only group; a `composite` is an object in the payload. */
function featuresIn(expose: Expose, within: Within): Feature[] {
  const { type, features } = expose;
  if (type === "light") return lightFeatures(expose);
  if (type === "composite") {
    const path = [...within.path, expose.property];
    return features.flatMap((each) =>
      featuresIn({ ...each, access: each.access || expose.access }, { ...within, path }),
    );
  }
  if (features.length > 0) return features.flatMap((each) => featuresIn(each, { ...within, type }));
  return expose.property === "" ? [] : [simple(expose, within)];
}

/** A light with two colour formats is set in one of them. */
function lightFeatures({ features, type }: Expose): Feature[] {
  const colors = features.filter(isColor);
  const others = features.filter((each) => !isColor(each));
  return [
    ...others.flatMap((each) => featuresIn(each, { type, path: [] })),
    ...colors.slice(0, 1).map((color) => colorFeature(colors, nameOf(color, { type, path: [] }))),
  ];
}

type Form = Pick<Feature, "capability" | "read" | "write" | "confirms">;

function simple(expose: Expose, within: Within): Feature {
  const form = formOf(expose, within);
  const isSettable = (expose.access & ACCESS.settable) !== 0 && expose.name !== "action";
  return {
    name: nameOf(expose, within),
    path: [...within.path, expose.property],
    isTold: (expose.access & ACCESS.told) !== 0,
    isGettable: (expose.access & ACCESS.gettable) !== 0,
    ...(isSettable
      ? form
      : { read: form.read, capability: { ...form.capability, readOnly: true } }),
  };
}

function formOf(expose: Expose, { type }: Within): Form {
  switch (expose.type) {
    case "binary":
      return binary(expose);
    case "numeric":
      if (type === "light" && expose.name === "brightness") return brightness(expose);
      if (type === "light" && expose.name === "color_temp") return colorTemperature(expose);
      return numeric(expose);
    case "enum":
      if (expose.values.length === 0 || expose.name === "action") return TEXT;
      return choice(expose, type === "cover");
    default:
      return TEXT;
  }
}

function binary({ name, on = true, off = false }: Expose): Form {
  // Definitions call an open contact "on", and publish true for a closed one.
  const [yes, no] = name === "contact" ? [true, false] : [on, off];
  return {
    capability: { type: "boolean" },
    read: (raw) => (raw === yes ? true : raw === no ? false : null),
    write: (value) => (value === true ? yes : no),
  };
}

function brightness({ max: told = 254 }: Expose): Form {
  const max = told >= 1 ? told : 254;
  return {
    capability: { type: "number", min: 0, max: 100, unit: "%" },
    read: (raw) => (isWithin(raw, 0, max) ? toPercent(raw, max) : null),
    write: (value) => toLevel(Number(value), max),
    confirms: (raw, written) => Math.abs(Number(raw) - Number(written)) <= 1,
  };
}

function colorTemperature({ min: least = 50, max: most = 1_000 }: Expose): Form {
  const [min, max] = least <= most ? [least, most] : [50, 1_000];
  const [coldest, warmest] = [toKelvin(min), toKelvin(max)];
  return {
    capability: { type: "number", min: warmest, max: coldest, unit: "K" },
    read: (raw) => (isWithin(raw, min, max) ? toKelvin(raw) : null),
    write: (value) => Math.min(max, Math.max(min, toMired(Number(value)))),
    confirms: (raw, written) => Math.abs(Number(raw) - Number(written)) <= 1,
  };
}

function numeric(expose: Expose): Form {
  const { step = 0, unit: theirs } = expose;
  const { unit, factor } = unitOf(theirs);
  const { min, max } = boundsOf(expose);
  const scaled = (value: number) => (factor === 1 ? value : rounded(value * factor));
  const capability: Capability = {
    type: "number",
    ...(min === undefined ? {} : { min: scaled(min) }),
    ...(max === undefined ? {} : { max: scaled(max) }),
    ...(step > 0 ? { step: scaled(step) } : {}),
    ...(unit === undefined ? {} : { unit }),
  };
  return {
    capability,
    read: (raw) => (isWithin(raw, min ?? -Infinity, max ?? Infinity) ? scaled(raw) : null),
    write: (value) => (factor === 1 ? value : rounded(Number(value) / factor)),
    confirms: (raw, written) => Math.abs(Number(raw) - Number(written)) <= step / 2 + 1e-6,
  };
}

/** Removes rounding errors of binary fractions. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/**
 * Bounds only for settable values: a read-only value may be outside the range of its definition.
 */
function boundsOf({ access, min, max }: Expose): Pick<Expose, "min" | "max"> {
  const isBound = (access & ACCESS.settable) !== 0 && (min ?? -Infinity) <= (max ?? Infinity);
  return isBound ? { min, max } : { min: undefined, max: undefined };
}

/** A cover reports open or closed after a stop command, so any value confirms it. */
function choice({ values }: Expose, isOfCover: boolean): Form {
  return {
    confirms: (raw, written) => isOfCover || toText(raw) === written,
    capability: { type: "choice", values: [...values] },
    read: (raw) => values.find((value) => value === String(raw)) ?? null,
    write: (value) => value,
  };
}

const TEXT: Form = {
  capability: { type: "text" },
  read: toText,
  write: (value) => value,
};

function toText(raw: unknown): StateValue {
  if (raw === null || raw === undefined) return null;
  const text = typeof raw === "string" ? raw : JSON.stringify(raw);
  return text.slice(0, TEXT_LENGTH);
}

function isWithin(raw: unknown, min: number, max: number): raw is number {
  return typeof raw === "number" && Number.isFinite(raw) && raw >= min && raw <= max;
}

const KIND_OF_TYPE: ReadonlyMap<string, Kind> = new Map([
  ["light", "light"],
  ["cover", "cover"],
  ["climate", "thermostat"],
  ["lock", "lock"],
  ["fan", "fan"],
]);
const ALARM = new Set(["warning", "alarm", "alarm_state"]);
const YES_OR_NO = new Set(
  "contact occupancy presence water_leak smoke gas carbon_monoxide vibration moving sos rain".split(
    " ",
  ),
);
const MEASURED = new Set(["power", "energy", "current"]);

/** The kind of a device. It is part of the device id, so it must not depend on measured values. */
export function kindOf(exposes: readonly Expose[]): Kind {
  for (const { type } of exposes) {
    const kind = KIND_OF_TYPE.get(type);
    if (kind) return kind;
  }
  const has = (names: ReadonlySet<string>) => exposes.some(({ name }) => names.has(name));
  if (exposes.some(({ type }) => type === "switch")) return has(MEASURED) ? "plug" : "switch";
  if (has(ALARM)) return "alarm";
  if (has(YES_OR_NO)) return "binary-sensor";
  return has(new Set(["action"])) ? "button" : "sensor";
}
