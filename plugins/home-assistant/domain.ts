import type {
  Capabilities,
  Capability,
  DeviceCommand,
  DeviceDescription,
  DeviceKind,
  ExtraCapability,
  StateValue,
} from "@mantel/plugin-sdk";
import type { Entity } from "./entities.ts";
import type { PlayerGroups } from "./player-groups.ts";

/** The temperature unit of Home Assistant. */
export type TemperatureUnit = "°C" | "°F";

/**
 * The description and state of a device. `state` has the values of capabilities and extras. A field without a current
 * value is `undefined`; fields without a capability are ignored.
 */
export interface View {
  readonly kind: DeviceKind;
  readonly capabilities: Capabilities;
  /** Capabilities beyond the vocabulary; no name is also in `capabilities`. */
  readonly extra?: Extras;
  readonly state: Readonly<Record<string, StateValue | undefined>>;
  /** True if Home Assistant has a picture of it. */
  readonly image?: boolean;
  /** Present if it has a live picture. */
  readonly live?: DeviceDescription["live"];
}
export type Extras = Readonly<Record<string, ExtraCapability>>;

/** A service of Home Assistant to be called for one entity. */
export interface Call {
  /** For example `light.turn_on`. */
  readonly service: string;
  /** The entity that it is called for, if it is not the one that was commanded. */
  readonly entityId?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The conversion between the entities of one domain and devices. */
export interface Domain {
  readonly describe: (entity: Entity, unit: TemperatureUnit, groups: PlayerGroups) => View;
  /**
   * The calls, in order, that carry out a command, which fits the capabilities and extras. None if nothing is to be
   * done, or if Home Assistant does not take the fields alone.
   */
  readonly calls?: (
    command: DeviceCommand,
    entity: Entity,
    unit: TemperatureUnit,
    groups: PlayerGroups,
  ) => Call[];
  /**
   * True if an entity has reached the requested value of a field; `undefined` uses the comparison of values, or Home
   * Assistant's answer for a field without a value. `before` is the entity at the time of the command.
   */
  readonly confirms?: (asked: Asked, entity: Entity, before: Entity) => Confirmation;
  /** A user-facing reason why a command has failed; `before` is the entity as it was last reported. */
  readonly fails?: (entity: Entity, before: Entity) => string | undefined;
  /** Fields that Home Assistant takes only with another one, and never reports: the bridge stores them until then. */
  readonly stored?: readonly string[];
  /** Fields that an entity does not tell while it is on its way: they then show what was requested. */
  readonly shownAsRequested?: readonly string[];
}

/** `answered`: Home Assistant's answer confirms the field, because no state does. */
export type Confirmation = boolean | "answered" | undefined;

/** One field of a command. */
export interface Asked {
  readonly field: string;
  readonly value: DeviceCommand[string];
}

export const SWITCH = { type: "boolean" } as const;
export const YES_NO = { type: "boolean", readOnly: true } as const;
export const COLOR = { type: "color" } as const;
export const TEXT = { type: "text", readOnly: true } as const;
export const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
export const PERCENT_READ = { ...PERCENT, readOnly: true } as const;

/** The field of a code, which is part of one command and no state. */
export const CODE = "code";
const COMMAND = { type: "command" } as const;

/** A capability of one of several texts; none at all makes none. */
export function choice<Name extends string>(name: Name, values: readonly string[], isRead = false) {
  if (values.length === 0) return {};
  const access = isRead ? { readOnly: true } : {};
  return { [name]: { type: "choice", values: [...values], ...access } } as Capabilities;
}

/** The commands that a device has. */
export function commands(has: Readonly<Record<string, boolean>>): Capabilities {
  const names = Object.keys(has).filter((name) => has[name]);
  return Object.fromEntries(names.map((name) => [name, COMMAND]));
}

/** Capabilities beyond the vocabulary. */
export function extras(
  capabilities: Readonly<Record<string, Capability | undefined>>,
  group: ExtraCapability["group"] = "main",
): Extras {
  const present = Object.entries(capabilities).flatMap(([name, capability]) =>
    capability ? [[name, { ...capability, group }] as const] : [],
  );
  return Object.fromEntries(present);
}

/** A call for each field of a command that has a value, in the order of `services`. */
export function callsFor(
  command: DeviceCommand,
  services: Readonly<Record<string, (value: DeviceCommand[string]) => Call>>,
): Call[] {
  return Object.entries(services).flatMap(([field, call]) => {
    const value = command[field];
    return value === undefined ? [] : [call(value)];
  });
}

/** A percentage as Home Assistant takes it. */
export const whole = (percentage: DeviceCommand[string]): number => Math.round(Number(percentage));

/** The text of a choice or text in a command. */
export const asText = (value: DeviceCommand[string] | undefined): string =>
  typeof value === "string" ? value : "";

/** True if the state of an entity is known. */
export function isKnown({ state }: Entity): boolean {
  return state !== "unknown" && state !== "unavailable" && state !== "";
}

/** The state as a text; `null` is not known. */
export function stateText(entity: Entity): string | null {
  return isKnown(entity) ? entity.state : null;
}

/** The state of one that can only be on or off; `null` is not known. */
export function onOff(entity: Entity): boolean | null {
  return isKnown(entity) ? entity.state !== "off" : null;
}

/** True for a device whose state is what Home Assistant has sent, because it never reports. */
export function isAssumed({ attributes }: Entity): boolean {
  return attributes["assumed_state"] === true;
}
