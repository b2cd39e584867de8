import type { Capabilities, DeviceCommand, DeviceKind, StateValue } from "@mantel/plugin-sdk";
import type { Entity } from "./entities.ts";

/** The temperature unit of Home Assistant. */
export type TemperatureUnit = "°C" | "°F";

/**
 * The description and state of a device. A field without a current value is `undefined`; fields
 * without a capability are ignored.
 */
export interface View {
  readonly kind: DeviceKind;
  readonly capabilities: Capabilities;
  readonly state: Readonly<Record<string, StateValue | undefined>>;
}

/** A service of Home Assistant to be called for one entity. */
export interface Call {
  /** For example `light.turn_on`. */
  readonly service: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The conversion between the entities of one domain and devices. */
export interface Domain {
  readonly describe: (entity: Entity, unit: TemperatureUnit) => View;
  /** The calls, in order, that carry out a command, which fits the capabilities. */
  readonly calls?: (command: DeviceCommand, entity: Entity, unit: TemperatureUnit) => Call[];
  /**
   * True if an entity has reached the requested value of a field; `undefined` uses the comparison
   * of values. `before` is the entity at the time of the command.
   */
  readonly confirms?: (asked: Asked, entity: Entity, before: Entity) => boolean | undefined;
  /** A user-facing reason why a command has failed; `before` is the entity as it was last reported. */
  readonly fails?: (entity: Entity, before: Entity) => string | undefined;
}

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

/** A capability of one of several texts; none at all makes none. */
export function choice<Name extends string>(name: Name, values: readonly string[], isRead = false) {
  if (values.length === 0) return {};
  const access = isRead ? { readOnly: true } : {};
  return { [name]: { type: "choice", values: [...values], ...access } } as Capabilities;
}

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
