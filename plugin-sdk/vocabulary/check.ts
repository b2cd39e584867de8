import type { Capabilities, Capability, DeviceDescription, DeviceKind } from "../device.ts";
import type { Fault } from "../errors.ts";
import type { CanonicalCapabilities, CanonicalCapability } from "./canonical.ts";
import { KINDS } from "./kinds.ts";
import { READINGS } from "./readings.ts";

type Choice = Extract<Capability, { type: "choice" }>;
type Numeric = Extract<Capability, { type: "number" }>;

/** The meaning of a name on a device of this kind; `undefined` if the vocabulary has none. */
export function canonicalCapability(
  kind: DeviceKind,
  name: string,
): CanonicalCapability | undefined {
  const { capabilities } = KINDS[kind];
  if (Object.hasOwn(capabilities, name)) return capabilities[name];
  const readings: CanonicalCapabilities = READINGS;
  return Object.hasOwn(readings, name) ? readings[name] : undefined;
}

/** The kinds that have a capability of this name, by name. */
const KINDS_BY_NAME: ReadonlyMap<string, readonly string[]> = kindsByName();

/** True if any kind of device has a capability of this name. */
export const isCanonicalName = (name: string): boolean =>
  KINDS_BY_NAME.has(name) || Object.hasOwn(READINGS, name);

/**
 * The capabilities that use a canonical name with another meaning: on a kind that does not have it, or with another
 * type, unit, range or set of values. Pointers begin at the capabilities. Other names are not in the list: see
 * `isCanonicalName`.
 */
export function faultsOfVocabulary(kind: DeviceKind, capabilities: Capabilities): Fault[] {
  const faults: Fault[] = [];
  for (const [name, capability] of Object.entries(capabilities)) {
    const detail = misuseOf(kind, name, capability);
    if (detail !== undefined) faults.push({ pointer: `/${name}`, detail });
  }
  return faults;
}

function misuseOf(kind: DeviceKind, name: string, capability: Capability): string | undefined {
  const canonical = canonicalCapability(kind, name);
  if (!canonical) {
    const kinds = KINDS_BY_NAME.get(name);
    return kinds && `belongs to ${kinds.join(", ")} and not to ${kind}; put it under "extra"`;
  }
  const expected = mismatch(canonical, capability);
  const hint = 'use another name under "extra" if it means something else';
  return expected && `must be ${expected} (${canonical.meaning}); ${hint}`;
}

/** The required capabilities of each kind. */
const REQUIRED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(KINDS).map(([kind, { capabilities }]) => [kind, requiredOf(capabilities)]),
);

/** The required capabilities that a device without parts, or a part, of this kind lacks. */
export function missingCapabilities(kind: DeviceKind, capabilities: Capabilities): string[] {
  return (REQUIRED.get(kind) ?? []).filter((name) => !Object.hasOwn(capabilities, name));
}

function requiredOf(capabilities: CanonicalCapabilities): string[] {
  const all = Object.entries(capabilities);
  return all.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
}

/**
 * The faults of a device's names as the host finds them at `publish`: misuses of canonical names on the device and its
 * parts, and extras that belong beside the other capabilities. Pointers begin at the device.
 */
export function faultsOfNames(device: NamedDevice): Fault[] {
  const { kind, capabilities, parts = [], extra } = device;
  return [
    ...below("", faultsOfVocabulary(kind, capabilities)),
    ...parts.flatMap((part, at) =>
      below(`/parts/${at}`, faultsOfVocabulary(part.kind, part.capabilities)),
    ),
    ...(extra ? below("/extra", faultsOfExtras(kind, extra.capabilities)) : []),
  ];
}

type NamedDevice = Pick<DeviceDescription, "kind" | "capabilities" | "parts" | "extra">;

const below = (pointer: string, faults: readonly Fault[]): Fault[] =>
  faults.map((fault) => ({ ...fault, pointer: `${pointer}/capabilities${fault.pointer}` }));

/** An extra may have a canonical name with a meaning of its own, such as a signal in another unit. */
export function faultsOfExtras(kind: DeviceKind, capabilities: Capabilities): Fault[] {
  const canonical = Object.entries(capabilities).filter(
    ([name, capability]) =>
      canonicalCapability(kind, name) &&
      faultsOfVocabulary(kind, { [name]: capability }).length === 0,
  );
  const detail = `is a canonical name of ${kind}; put it beside the other capabilities, or choose another name`;
  return canonical.map(([name]) => ({ pointer: `/${name}`, detail }));
}

/** The expected form as a phrase; `undefined` if the capability has it. */
function mismatch(canonical: CanonicalCapability, capability: Capability): string | undefined {
  const { types, access } = canonical;
  if (!types.includes(capability.type)) return `of the type ${types.join(" or ")}`;
  const isReadOnly = capability.readOnly === true;
  if (access === "reading" && !isReadOnly) return "read-only";
  if (access === "command" && isReadOnly) return "a command, and not read-only";
  if (capability.type === "choice") return mismatchOfChoice(canonical, capability);
  return capability.type === "number" ? mismatchOfNumber(canonical, capability) : undefined;
}

function mismatchOfChoice(
  { values = [], hasOwnValues }: CanonicalCapability,
  capability: Choice,
): string | undefined {
  if (hasOwnValues || values.length === 0) return undefined;
  const isKnown = capability.values.every((value) => values.includes(value));
  return isKnown ? undefined : `a choice of ${values.join(", ")}`;
}

function mismatchOfNumber(
  canonical: CanonicalCapability,
  { unit, min, max }: Numeric,
): string | undefined {
  // "value" takes any unit
  if (canonical.types.length === 1 && unit !== canonical.unit) {
    return canonical.unit === undefined ? "a number without unit" : `a number in ${canonical.unit}`;
  }
  const isWithin = isAtLeast(min, canonical.min) && isAtLeast(canonical.max, max);
  const of = canonical.unit === undefined ? "" : ` ${canonical.unit}`;
  return isWithin ? undefined : `within ${canonical.min ?? "-∞"} to ${canonical.max ?? "∞"}${of}`;
}

const isAtLeast = (value: number | undefined, bound: number | undefined): boolean =>
  value === undefined || bound === undefined || value >= bound;

function kindsByName(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [kind, { capabilities }] of Object.entries(KINDS)) {
    for (const name of Object.keys(capabilities)) {
      found.set(name, [...(found.get(name) ?? []), kind]);
    }
  }
  return found;
}
