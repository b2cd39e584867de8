import type { Capability } from "@mantel/plugin-sdk";

type Unit = NonNullable<Extract<Capability, { type: "number" }>["unit"]>;

/** Units that are converted: the Mantel unit and the factor. */
const UNITS: ReadonlyMap<string, readonly [unit: Unit, factor: number]> = new Map([
  ["%", ["%", 1]],
  ["K", ["K", 1]],
  ["°C", ["°C", 1]],
  ["C", ["°C", 1]],
  ["lx", ["lx", 1]],
  ["W", ["W", 1]],
  ["kW", ["W", 1_000]],
  ["kWh", ["kWh", 1]],
  ["Wh", ["kWh", 0.001]],
  ["hPa", ["hPa", 1]],
  ["kPa", ["hPa", 10]],
  ["°", ["°", 1]],
  ["V", ["V", 1]],
  ["mV", ["V", 0.001]],
  ["A", ["A", 1]],
  ["mA", ["A", 0.001]],
  ["ppm", ["ppm", 1]],
  ["µg/m³", ["µg/m³", 1]],
  ["mg/m³", ["µg/m³", 1_000]],
  ["s", ["s", 1]],
  ["sec", ["s", 1]],
  ["seconds", ["s", 1]],
  ["ms", ["s", 0.001]],
  ["min", ["min", 1]],
  ["minutes", ["min", 1]],
  ["h", ["min", 60]],
  ["hr", ["min", 60]],
  ["hours", ["min", 60]],
  ["dBm", ["dBm", 1]],
]);

/** The Mantel unit for a Zigbee2MQTT unit. With an unknown unit, the number has no unit. */
export function unitOf(name: unknown): { readonly unit?: Unit; readonly factor: number } {
  const text = typeof name === "string" ? name : "";
  const found = UNITS.get(text) ?? UNITS.get(text.toLowerCase());
  return found ? { unit: found[0], factor: found[1] } : { factor: 1 };
}
