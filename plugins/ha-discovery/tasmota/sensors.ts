import type { CreateHandler } from "../component-handler.ts";
import { numberOf as capabilityOf, SHOWN, unitOf } from "../components/capabilities.ts";
import { unitOfSensor } from "../components/sensor.ts";
import { isDict, isList, numberOf, type Value } from "../template/values.ts";
import { isObject, type TasmotaDevice } from "./device.ts";
import { pollsOf, reports, sensorTopics, stateTopics } from "./reports.ts";

/** A place in a report, such as `ENERGY`, `Power` or `ENERGY`, `Voltage`, 1. */
export type Path = readonly (string | number)[];

/** A value in the report of the sensors. */
export interface SensorValue {
  readonly path: Path;
  /** Words for its name; a number of a phase is among them. */
  readonly name: string;
  readonly deviceClass: string | undefined;
  readonly unit: string | undefined;
  readonly isNumber: boolean;
}

/** The classes and units of quantities; a unit that starts with * is a field of the report. */
const QUANTITIES: Readonly<Record<string, readonly [deviceClass: string, unit: string]>> = {
  Ambient: ["illuminance", "lx"],
  ApparentPower: ["apparent_power", "VA"],
  Battery: ["battery", "%"],
  CarbonDioxide: ["carbon_dioxide", "ppm"],
  CurrentNeutral: ["", "A"],
  Current: ["current", "A"],
  DewPoint: ["dew_point", "*TempUnit"],
  Distance: ["distance", "cm"],
  eCO2: ["carbon_dioxide", "ppm"],
  Energy: ["energy", "kWh"],
  ExportActive: ["energy_returned", "kWh"],
  Factor: ["power_factor", ""],
  Frequency: ["frequency", "Hz"],
  Humidity: ["humidity", "%"],
  Illuminance: ["illuminance", "lx"],
  Moisture: ["moisture", "%"],
  PM1: ["pm1", "µg/m³"],
  "PM2.5": ["pm25", "µg/m³"],
  PM10: ["pm10", "µg/m³"],
  PhaseAngle: ["", "°"],
  Power: ["power", "W"],
  Pressure: ["pressure", "*PressureUnit"],
  ReactivePower: ["reactive_power", "var"],
  SeaPressure: ["", "*PressureUnit"],
  Speed: ["wind_speed", "*SpeedUnit"],
  Temperature: ["temperature", "*TempUnit"],
  Today: ["", "kWh"],
  Total: ["energy", "kWh"],
  TVOC: ["volatile_organic_compounds_parts", "ppb"],
  UvIndex: ["uv_index", ""],
  Voltage: ["voltage", "V"],
  Weight: ["weight", "kg"],
  Yesterday: ["", "kWh"],
};

/** Readers of tags report names, and shutters and switches are not sensors. */
const LEFT_OUT = /^(Time|PN532|RDM6300|Shutter\d+|Switch\d+|.*Unit)$/;
const MOST_SENSORS = 100;
const DEEPEST = 4;

/** The values in the last report of the sensors. */
export function sensorValues(report: Readonly<Record<string, unknown>>): SensorValue[] {
  const found: SensorValue[] = [];
  const visit = (value: unknown, path: Path, quantity: string) => {
    if (path.length > DEEPEST || found.length >= MOST_SENSORS) return;
    if (Array.isArray(value)) {
      for (const [index, each] of value.slice(0, 16).entries())
        visit(each, [...path, index], quantity);
    } else if (isObject(value)) {
      for (const [key, each] of Object.entries(value))
        visit(each, [...path, key.slice(0, 60)], key);
    } else if (typeof value === "number" || typeof value === "string") {
      found.push(sensorValue(report, { value, path, quantity }));
    }
  };
  for (const [key, value] of Object.entries(report)) {
    if (!LEFT_OUT.test(key)) visit(value, [key.slice(0, 60)], key);
  }
  return found;
}

function sensorValue(
  report: Readonly<Record<string, unknown>>,
  { value, path, quantity }: { value: number | string; path: Path; quantity: string },
): SensorValue {
  const known = Object.hasOwn(QUANTITIES, quantity) ? QUANTITIES[quantity] : undefined;
  const [deviceClass, unit = ""] = known ?? [];
  const told = unit.startsWith("*") ? report[unit.slice(1)] : unit;
  const number =
    typeof value === "number" || (known !== undefined && Number.isFinite(Number(value)));
  const words = path.map((each) => (typeof each === "number" ? each + 1 : each));
  return {
    path,
    name: words.join(" "),
    deviceClass: deviceClass || undefined,
    unit: typeof told === "string" && told !== "" ? told : undefined,
    isNumber: number,
  };
}

/** One value of a sensor. */
export const sensor =
  (device: TasmotaDevice, { path, isNumber }: SensorValue): CreateHandler =>
  (options) => {
    const unit = unitOfSensor(options);
    const capability = isNumber ? { ...capabilityOf(unit), readOnly: true } : SHOWN;
    return {
      capabilities: { value: capability },
      inputs: reports(sensorTopics(device), (told) => {
        const value = at(told, path);
        if (!isNumber) return typeof value === "string" ? { value } : {};
        const number = numberOf(typeof value === "string" ? Number(value) : value);
        return number === undefined ? {} : { value: unit.toOurs(number) };
      }),
      polls: pollsOf(device, options),
    };
  };

/** The value at a place. A device with fewer phases than announced reports a number instead of a list. */
function at(told: Value, path: Path): Value {
  let value = told;
  for (const key of path) {
    if (typeof key === "string") value = isDict(value) ? value.get(key) : undefined;
    else if (isList(value)) value = value[key];
    else if (key > 0) return undefined;
  }
  return value;
}

/** The strength of the radio signal or the charge of the battery, which are reported with the outputs. */
export const status =
  (device: TasmotaDevice, path: Path): CreateHandler =>
  (options) => ({
    capabilities: { value: { ...capabilityOf(unitOf(options)), readOnly: true } },
    inputs: reports(stateTopics(device), (told) => {
      const value = numberOf(at(told, path));
      return value === undefined ? {} : { value };
    }),
    polls: pollsOf(device, options),
  });
