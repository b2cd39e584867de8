import type { Capabilities, Capability, DeviceKind, StateValue } from "@mantel/plugin-sdk";
import { at, numberAt, type Resource, textAt } from "./resources.ts";

interface Reading {
  readonly name: string;
  readonly capability: Capability;
  readonly value: StateValue;
}

/** The measurement of one service; `undefined` if it measures nothing. */
function readingOf(service: Resource): Reading | undefined {
  switch (service.type) {
    case "motion":
    case "camera_motion":
    case "grouped_motion":
    case "convenience_area_motion":
    case "security_area_motion":
      return boolean("motion", newest(service, "motion", "motion"));
    case "contact": {
      const state = textAt(service, "contact_report", "state");
      return boolean("contact", state === undefined ? undefined : state === "contact");
    }
    case "tamper":
      return boolean("tamper", isTampered(service));
    case "temperature":
      return number("temperature", newest(service, "temperature", "temperature"), "°C");
    case "light_level":
    case "grouped_light_level":
      return number("illuminance", lux(newest(service, "light", "light_level")), "lx");
    case "device_power":
      return number("battery", percent(numberAt(service, "power_state", "battery_level")), "%");
    default:
      return undefined;
  }
}

const MEASURES = new Set(["temperature", "light_level", "grouped_light_level"]);

/** A sensor with only yes-or-no values is a binary sensor. */
export function sensorKind(services: readonly Resource[]): DeviceKind {
  return services.some(({ type }) => MEASURES.has(type)) ? "sensor" : "binary-sensor";
}

function boolean(name: string, value: unknown): Reading {
  const capability: Capability = { type: "boolean", readOnly: true };
  return { name, capability, value: typeof value === "boolean" ? value : null };
}

function number(name: string, value: unknown, unit: "°C" | "lx" | "%"): Reading {
  const range = unit === "%" ? { min: 0, max: 100 } : {};
  const capability: Capability = { type: "number", ...range, unit, readOnly: true };
  const isNumber = typeof value === "number" && Number.isFinite(value);
  return { name, capability, value: isNumber ? Math.round(value * 100) / 100 : null };
}

/**
 * Newer bridges send `{motion: {motion_report: {motion}}}`, older ones `{motion: {motion,
 * motion_valid}}`.
 */
function newest(service: Resource, part: string, field: string): unknown {
  if (at(service, "enabled") === false) return undefined;
  const reported = at(service, part, `${field}_report`, field);
  if (reported !== undefined) return reported;
  return at(service, part, `${field}_valid`) === false ? undefined : at(service, part, field);
}

function isTampered(service: Resource): boolean | undefined {
  const reports = at(service, "tamper_reports");
  if (!Array.isArray(reports)) return undefined;
  return reports.some((report: unknown) => at(report, "state") === "tampered");
}

/** A light level is 10,000 times the logarithm of the illuminance, plus 1. */
function lux(level: unknown): number | undefined {
  if (typeof level !== "number" || level > 200_000) return undefined;
  return 10 ** ((level - 1) / 10_000);
}

function percent(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.min(100, Math.max(0, value));
}

/** Capabilities and state of measuring services. Of several services of one kind, only the first counts. */
export function readingsOf(services: readonly Resource[]) {
  const capabilities: Record<string, Capability> = {};
  const state: Record<string, StateValue> = {};
  for (const reading of services.map(readingOf)) {
    if (!reading || reading.name in capabilities) continue;
    capabilities[reading.name] = reading.capability;
    state[reading.name] = reading.value;
  }
  return { capabilities: capabilities as Capabilities, state };
}
