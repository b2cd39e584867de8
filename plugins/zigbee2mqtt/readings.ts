import { conversionTo } from "@mantel/plugin-sdk";
import { type CanonicalCapability, READINGS } from "@mantel/plugin-sdk/vocabulary";
import { type Draft, draftOf } from "./drafts.ts";
import { ACCESS, type Expose } from "./exposes.ts";
import type { Form } from "./feature.ts";
import { formOf, isSettable } from "./forms.ts";
import { TEXT } from "./texts.ts";

/** Canonical names of what is measured or detected, by the names that definitions have for it. */
const NAMES: Readonly<Record<string, string>> = {
  temperature: "temperature",
  local_temperature: "temperature",
  humidity: "humidity",
  current_temperature: "temperature",
  dew_point: "dewPoint",
  pressure: "pressure",
  illuminance: "illuminance",
  illuminance_lux: "illuminance",
  ambient_light: "illuminance",
  uv_index: "uvIndex",
  solar_irradiance: "solarIrradiance",
  power: "power",
  energy: "energy",
  voltage: "voltage",
  current: "current",
  produced_energy: "energyReturned",
  energy_produced: "energyReturned",
  ac_frequency: "frequency",
  frequency: "frequency",
  power_apparent: "apparentPower",
  power_reactive: "reactivePower",
  power_factor: "powerFactor",
  co2: "co2",
  co: "co",
  co_ppm: "co",
  voc: "voc",
  voc_parts: "vocParts",
  formaldehyd: "formaldehyde",
  formaldehyde: "formaldehyde",
  hcho: "formaldehyde",
  pm1: "pm1",
  pm4: "pm4",
  pm25: "pm25",
  pm10: "pm10",
  no2: "no2",
  o3: "ozone",
  so2: "so2",
  aqi: "airQualityIndex",
  soil_moisture: "moisture",
  moisture: "moisture",
  water_consumed: "water",
  flow: "flow",
  gas_consumed: "gasVolume",
  gas: "gas",
  ec: "conductivity",
  soil_fertility: "conductivity",
  conductivity: "conductivity",
  ph: "acidity",
  wind_speed: "windSpeed",
  wind_gust: "windGust",
  wind_direction: "windDirection",
  rain_intensity: "rainRate",
  rainfall: "rain",
  distance: "distance",
  target_distance: "distance",
  weight: "weight",
  noise: "noise",
  battery: "battery",
  action: "lastAction",
  occupancy: "motion",
  presence: "presence",
  contact: "contact",
  water_leak: "waterLeak",
  smoke: "smoke",
  vibration: "vibration",
  carbon_monoxide: "carbonMonoxide",
  moving: "moving",
  tamper: "tamper",
  rain: "raining",
  noise_detected: "sound",
  sound: "sound",
  fault: "problem",
  trouble: "problem",
  problem: "problem",
  charging: "charging",
  plugged_in: "pluggedIn",
  running: "running",
  connected: "connected",
  battery_low: "batteryLow",
  sos: "sos",
  alarm: "active",
  window_open: "windowOpen",
  window: "windowOpen",
  open_window: "windowOpen",
  open_window_detected: "windowOpen",
};

/** Other names in other units. */
const BY_UNIT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  voc: { ppb: "vocParts" },
  gas: { "m³": "gasVolume" },
};

/** Values that are read-only, also if their definition can be set. */
const NEVER_SET = new Set(["action", "contact"]);

/** A measured or detected value with a canonical name; `undefined` for all others. */
export function readingDraft(expose: Expose): Draft | undefined {
  const { name: theirs, endpoint, property } = expose;
  const name = Object.hasOwn(NAMES, theirs) ? NAMES[theirs] : undefined;
  if (name === undefined || (isSettable(expose) && !NEVER_SET.has(theirs))) return undefined;
  // A property may name what is measured more exactly, such as one of three phases.
  const isExact = endpoint === undefined && property !== theirs;
  if (isExact && !NEVER_SET.has(theirs)) return undefined;
  const form = formOfReading(expose);
  const access = expose.access & ~ACCESS.settable;
  const ours = nameIn(form, expose, name);
  return draftOf({ ...expose, access }, inUnitOf(ours, form), { name: ours });
}

function formOfReading(expose: Expose): Form {
  const { name, on, off } = expose;
  if (name === "action") return TEXT;
  // Definitions call an open contact "on", and publish true for a closed one.
  if (name === "contact" && typeof off !== "boolean")
    return formOf({ ...expose, on: off, off: on });
  if (name === "contact") return formOf({ ...expose, on: true, off: false });
  if (/^clos/i.test(String(on))) return formOf({ ...expose, on: off, off: on }); // of a window
  return name === "ph" ? formOf({ ...expose, unit: "" }) : formOf(expose);
}

function nameIn({ capability }: Form, { name, category }: Expose, usual: string): string {
  const unit = capability.type === "number" ? (capability.unit ?? "") : "";
  if (name === "voltage" && category === "diagnostic") return "batteryVoltage";
  return BY_UNIT[name]?.[unit] ?? usual;
}

/** A value in the unit of the vocabulary, such as water in m³ instead of L, unless it is of another quantity. */
function inUnitOf(name: string, form: Form): Form {
  const readings: Readonly<Record<string, CanonicalCapability>> = READINGS;
  const unit = readings[name]?.unit;
  const { capability, read } = form;
  if (capability.type !== "number" || capability.unit === undefined) return form;
  const convert = capability.unit === unit ? undefined : conversionTo(unit, capability.unit);
  if (unit === undefined || !convert) return form;
  return {
    capability: { type: "number", unit },
    read: (raw) => {
      const value = read(raw);
      return typeof value === "number" ? convert(value) : value;
    },
  };
}
