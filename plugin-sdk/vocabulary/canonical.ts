import type { Capability, StateValue, Unit } from "../device.ts";

/**
 * The use of a capability: `reading` is reported, `setting` is reported and can be commanded, and `command` can be
 * commanded and has no state.
 */
export type Access = "reading" | "setting" | "command";

/** A field and the values of which it has one in the end, or true if it changes. */
export type Outcome = Readonly<Record<string, readonly StateValue[] | true>>;

/** The meaning of one capability name. A device may offer less: fewer values, a smaller range, a read-only setting. */
export interface CanonicalCapability {
  /** The type, or the types of which a device has one. */
  readonly types: readonly Capability["type"][];
  readonly access: Access;
  /** Plain English, one phrase. */
  readonly meaning: string;
  readonly unit?: Unit;
  /** The widest range. */
  readonly min?: number;
  readonly max?: number;
  /** The values of a choice. */
  readonly values?: readonly string[];
  /** Two texts in the form that its meaning describes. */
  readonly examples?: readonly [string, string];
  /** True if a device may have further values, such as the names of its own presets. */
  readonly hasOwnValues?: true;
  /** True if every device of the kind that has no parts has this capability. */
  readonly isRequired?: true;
  /** Where a command leads. Of the fields that a device reports, one shows it. */
  readonly leadsTo?: Outcome;
}

export type CanonicalCapabilities = Readonly<Record<string, CanonicalCapability>>;

/** A measured number. */
export const reading = (meaning: string, unit?: Unit, range: readonly [number?, number?] = []) =>
  number("reading", meaning, unit, range);

/** A number that can be set. */
export const level = (meaning: string, unit?: Unit, range: readonly [number?, number?] = []) =>
  number("setting", meaning, unit, range);

/** A number from 0 to 100 %. */
export const percent = (meaning: string) => level(meaning, "%", [0, 100]);

/** True or false, reported only. */
export const fact = (meaning: string): CanonicalCapability => ({
  types: ["boolean"],
  access: "reading",
  meaning,
});

/** True or false, and can be set. */
export const toggle = (meaning: string): CanonicalCapability => ({
  types: ["boolean"],
  access: "setting",
  meaning,
});

/** Something a device does when it is told to. */
export const command = (meaning: string, leadsTo?: Outcome): CanonicalCapability => ({
  types: ["command"],
  access: "command",
  meaning,
  ...(leadsTo ? { leadsTo } : {}),
});

/** One of some values, reported only. */
export const status = (meaning: string, values: readonly string[]): CanonicalCapability => ({
  types: ["choice"],
  access: "reading",
  meaning,
  values,
});

/** One of some values, and can be set. */
export const choice = (meaning: string, values: readonly string[]): CanonicalCapability => ({
  ...status(meaning, values),
  access: "setting",
});

/** One of the values that the device names itself; `values` are the usual ones. */
export const ownChoice = (
  meaning: string,
  values: readonly string[] = [],
): CanonicalCapability => ({ ...choice(meaning, values), hasOwnValues: true });

/** A text, reported only. */
export const text = (meaning: string): CanonicalCapability => ({
  types: ["text"],
  access: "reading",
  meaning,
});

/** The same capability, on every device of the kind. */
export const required = (capability: CanonicalCapability): CanonicalCapability => ({
  ...capability,
  isRequired: true,
});

function number(
  access: Access,
  meaning: string,
  unit: Unit | undefined,
  [min, max]: readonly [number?, number?],
): CanonicalCapability {
  return {
    types: ["number"],
    access,
    meaning,
    ...(unit === undefined ? {} : { unit }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}
