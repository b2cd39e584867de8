import { Color, type Capabilities, type Capability } from "@mantel/plugin-sdk/device";
import type { Fault } from "@mantel/plugin-sdk/errors";
import { faultsOf } from "../validate.ts";
import { pointerToken } from "../validation-errors.ts";

const TEXT_LENGTH = 1000;
const SHOWN_LENGTH = 60;

/** The faults of a value for a capability; pointers begin at the value. */
export function faultsOfValue(capability: Capability, value: unknown): Fault[] {
  if (capability.type === "color") return faultsOf(Color, value);
  const demand = demandOf(capability, value);
  return demand === undefined
    ? []
    : [{ pointer: "", detail: `is ${shown(value)}; it must be ${demand}` }];
}

/** The faults of a state for a device with these capabilities. `null` means not known. */
export function faultsOfState(capabilities: Capabilities, state: object): Fault[] {
  return Object.entries(state).flatMap(([name, value]) => {
    const capability = find(capabilities, name);
    if (!capability) return [{ pointer: `/${pointerToken(name)}`, detail: "has no capability" }];
    if (value === null) return [];
    if (capability.type === "command") {
      return [{ pointer: `/${pointerToken(name)}`, detail: "is a command, which has no state" }];
    }
    return faultsBelow(name, faultsOfValue(capability, value));
  });
}

/** The faults of a command to a device with these capabilities. */
export function faultsOfCommand(capabilities: Capabilities, command: object): Fault[] {
  return Object.entries(command).flatMap(([name, value]) => {
    const capability = find(capabilities, name);
    if (!capability || capability.readOnly) {
      const why = capability ? "is read-only" : "is not a capability of the device";
      return [{ pointer: `/${pointerToken(name)}`, detail: `${why}; ${choicesOf(capabilities)}` }];
    }
    return faultsBelow(name, faultsOfValue(capability, value));
  });
}

/** The same faults, for a value that is at `key` of another. */
export function faultsBelow(key: string, faults: readonly Fault[]): Fault[] {
  const prefix = `/${pointerToken(key)}`;
  return faults.map(({ pointer, detail }) => ({ pointer: prefix + pointer, detail }));
}

/** Own properties only: names are untrusted, and `constructor` is not a capability. */
function find(capabilities: Capabilities, name: string): Capability | undefined {
  return Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
}

/** The expected value as a phrase, or `undefined` if the value is valid. */
function demandOf(
  capability: Exclude<Capability, { type: "color" }>,
  value: unknown,
): string | undefined {
  switch (capability.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "choice":
      return capability.values.some((choice) => choice === value)
        ? undefined
        : `one of ${capability.values.map(shown).join(", ")}`;
    case "text":
      return isText(value) ? undefined : `a text of at most ${TEXT_LENGTH} characters`;
    case "command":
      return value === true ? undefined : "true";
    case "number":
      return isWithin(capability, value) ? undefined : `a number${rangeOf(capability)}`;
  }
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length <= TEXT_LENGTH;
}

type NumberCapability = Extract<Capability, { type: "number" }>;

function isWithin({ min = -Infinity, max = Infinity }: NumberCapability, value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= min && value <= max;
}

function rangeOf({ min, max, unit }: NumberCapability): string {
  const of = unit === undefined ? "" : ` ${unit}`;
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}${of}`;
  if (min !== undefined) return ` of at least ${min}${of}`;
  if (max !== undefined) return ` of at most ${max}${of}`;
  return of && ` in${of}`;
}

function choicesOf(capabilities: Capabilities): string {
  const names = Object.keys(capabilities).filter((name) => !capabilities[name]?.readOnly);
  return names.length === 0 ? "the device takes no commands" : `it takes ${names.join(", ")}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
