import { capabilityOf, hasState } from "./device-sections.ts";
import {
  Color,
  type Capabilities,
  type Capability,
  type Device,
  type DeviceKind,
  type DeviceUpdate,
} from "./device.ts";
import type { Fault } from "./errors.ts";
import { faultsOf } from "./validate.ts";
import { pointerToken, shortened } from "./validation-errors.ts";

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

/** The faults of a state for these capabilities. `null` means not known. Extras have no kind. */
export function faultsOfState(
  capabilities: Capabilities,
  state: object,
  kind?: DeviceKind,
): Fault[] {
  const owner = { kind, capabilities };
  return Object.entries(state).flatMap(([name, value]) => {
    const capability = capabilityOf(owner, name);
    if (!capability) return faultAt(name, "has no capability");
    if (!hasState(owner, name)) return faultAt(name, "is a command, which has no state");
    return value === null ? [] : faultsBelow(name, faultsOfValue(capability, value));
  });
}

/** The faults of an update of a device. */
export function faultsOfUpdate(
  { kind, capabilities, parts = [], extra }: Device,
  update: DeviceUpdate,
): Fault[] {
  const own = faultsBelow("state", faultsOfState(capabilities, update.state ?? {}, kind));
  if (update.parts === undefined && update.extra === undefined) return own;
  const ofParts = Object.entries(update.parts ?? {}).flatMap(([id, state]) => {
    const part = parts.find((each) => each.id === id);
    const faults = part
      ? faultsOfState(part.capabilities, state, part.kind)
      : [{ pointer: "", detail: "is not a part of the device" }];
    return faultsBelow(id, faults);
  });
  const ofExtra = faultsOfState(extra?.capabilities ?? {}, update.extra ?? {});
  return [...own, ...faultsBelow("parts", ofParts), ...faultsBelow("extra", ofExtra)];
}

/** The words of a refused command for what it addresses. */
interface Words {
  /** Such as `a capability of the device`. */
  readonly one: string;
  /** Such as `the device takes no commands`. */
  readonly none: string;
  /** Further names that a command may have. */
  readonly others?: readonly string[];
}

/** The faults of a command to these capabilities. */
export function faultsOfCommand(
  capabilities: Capabilities,
  command: object,
  words: Words = { one: "a capability of the device", none: "the device takes no commands" },
): Fault[] {
  return Object.entries(command).flatMap(([name, value]) => {
    const capability = capabilityOf({ capabilities }, name);
    if (!capability || capability.readOnly) {
      const why = capability ? "is read-only" : `is not ${words.one}`;
      return faultAt(name, `${why}; ${choicesOf(capabilities, words)}`);
    }
    return faultsBelow(name, faultsOfValue(capability, value));
  });
}

function faultAt(name: string, detail: string): Fault[] {
  return [{ pointer: `/${pointerToken(name)}`, detail }];
}

/** The names of capabilities that can be commanded. */
export function commandable(capabilities: Capabilities): string[] {
  return Object.keys(capabilities).filter((name) => !capabilities[name]?.readOnly);
}

/** The same faults, for a value that is at `key` of another. */
export function faultsBelow(key: string, faults: readonly Fault[]): Fault[] {
  if (faults.length === 0) return []; // the usual case, many times for each device
  const prefix = `/${pointerToken(key)}`;
  return faults.map(({ pointer, detail }) => ({ pointer: prefix + pointer, detail }));
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

function choicesOf(capabilities: Capabilities, { none, others = [] }: Words): string {
  const names = [...commandable(capabilities), ...others];
  return names.length === 0 ? none : `it takes ${names.join(", ")}`;
}

function shown(value: unknown): string {
  return shortened(JSON.stringify(value) ?? "absent", SHOWN_LENGTH);
}
