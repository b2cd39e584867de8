import { createHash } from "node:crypto";
import { conversionTo } from "@mantel/plugin-sdk";
import {
  type CanonicalCapability,
  type ReadingName,
  READINGS,
} from "@mantel/plugin-sdk/vocabulary";
import type { Component } from "./discovery.ts";

/** Field names for readings where they differ from the device class in camel case. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sensor: {
    aqi: "airQualityIndex",
    atmospheric_pressure: "pressure",
    carbon_dioxide: "co2",
    carbon_monoxide: "co",
    gas: "gasVolume",
    irradiance: "solarIrradiance",
    nitrogen_dioxide: "no2",
    ph: "acidity",
    precipitation: "rain",
    precipitation_intensity: "rainRate",
    signal_strength: "signal",
    sound_pressure: "noise",
    sulphur_dioxide: "so2",
    volatile_organic_compounds: "voc",
    volatile_organic_compounds_parts: "vocParts",
    volume_flow_rate: "flow",
  },
  binary_sensor: {
    battery: "batteryLow",
    battery_charging: "charging",
    connectivity: "connected",
    door: "contact",
    garage_door: "contact",
    heat: "hot",
    light: "lightDetected",
    lock: "locked",
    moisture: "waterLeak",
    opening: "contact",
    plug: "pluggedIn",
    power: "poweredOn",
    safety: "unsafe",
    update: "updateAvailable",
    window: "contact",
  },
};

/** Components that are called after their device class. */
const CLASSED = new Set(["sensor", "binary_sensor", "button"]);

/** Readings of weather stations that announce no class, as rtl_433 does. */
const BY_NAME: readonly (readonly [name: RegExp, reading: ReadingName])[] = [
  [/\bgust|\bwind\b.*\bmax/i, "windGust"],
  [/\bwind\b.*\bdir/i, "windDirection"],
  [/\bwind\b/i, "windSpeed"],
  [/\brain\b.*\brate/i, "rainRate"],
  [/\brain\b/i, "rain"],
];

/** Classes that describe the format of a value and not its subject. */
const VAGUE = new Set(["enum", "timestamp", "date", "duration"]);

/** Possible field names for a component of a device, best first. */
export function fieldNames({ platform, fields, objectId }: Component): string[] {
  const [deviceClass, name] = [fields.get("device_class"), fields.get("name")];
  const isTold = CLASSED.has(platform) && typeof deviceClass === "string";
  const unnamed =
    platform === "sensor" ? readingByName(name, fields.get("unit_of_measurement")) : "";
  const names = [
    isTold ? fieldOf(platform, deviceClass) : (unnamed ?? ""),
    typeof name === "string" ? camelCase(name) : "",
    camelCase(objectId),
  ];
  // A state is a plain object: a field must not be called like what every object has.
  return names.filter((each) => each !== "" && !(each in {}));
}

function fieldOf(platform: string, deviceClass: string): string {
  if (VAGUE.has(deviceClass)) return "";
  const known = FIELDS[platform] ?? {};
  return (Object.hasOwn(known, deviceClass) && known[deviceClass]) || camelCase(deviceClass);
}

/** A sensor as it announces itself. */
interface Announced {
  readonly deviceClass: string;
  readonly name: string;
  readonly unit: string;
}

/** The reading of the vocabulary for a sensor; `undefined` if there is none. */
export function readingOfSensor({ deviceClass, name, unit }: Announced) {
  const readings: Readonly<Record<string, CanonicalCapability>> = READINGS;
  const field = deviceClass === "" ? readingByName(name, unit) : fieldOf("sensor", deviceClass);
  return field !== undefined && Object.hasOwn(readings, field) ? readings[field] : undefined;
}

/** The reading that a name means, if the unit is one of this reading. */
function readingByName(name: unknown, unit: unknown): ReadingName | undefined {
  if (typeof name !== "string" || typeof unit !== "string") return undefined;
  const [, reading] = BY_NAME.find(([pattern]) => pattern.test(name.slice(0, 200))) ?? [];
  return reading && conversionTo(READINGS[reading].unit, unit) ? reading : undefined;
}

/** A text as the name of a field: letters and digits, a small letter first; "" when nothing is left. */
function camelCase(text: string): string {
  const words = text
    .slice(0, 200)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");
  const joined = words.map((word, index) =>
    index === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1).toLowerCase(),
  );
  return joined
    .join("")
    .replace(/^\d+/, "")
    .replace(/^[A-Z]/, (first) => first.toLowerCase())
    .slice(0, 60);
}

/** The first of these names that is free, or one made of the last with a number. */
export function freeName(wanted: readonly string[], taken: ReadonlySet<string>): string {
  const base = wanted.at(-1) ?? "value";
  const free = wanted.find((name) => !taken.has(name));
  if (free !== undefined) return free;
  for (let count = 2; ; count++) if (!taken.has(`${base}${count}`)) return `${base}${count}`;
}

const LONGEST_ID = 190;

/** A native id within the bounds; one that is too long ends in a hash of the whole. */
export function nativeId(whole: string): string {
  if (whole.length <= LONGEST_ID) return whole;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 32);
  return `${whole.slice(0, LONGEST_ID - 33)}-${hash}`;
}
