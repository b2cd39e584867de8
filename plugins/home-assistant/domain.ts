import type { Capabilities, DeviceCommand, DeviceKind, StateValue } from "@mantel/plugin-sdk";
import type { Entity } from "./entities.ts";

/** What the house measures temperatures in. */
export type TemperatureUnit = "°C" | "°F";

/**
 * What a device is and how it is. A field that the entity does not tell of now is `undefined`; those
 * without a capability do not count.
 */
export interface View {
  readonly kind: DeviceKind;
  readonly capabilities: Capabilities;
  readonly state: Readonly<Record<string, StateValue | undefined>>;
}

/** A service of Home Assistant to be called for one entity. */
export interface Call {
  /** Such as `light.turn_on`. */
  readonly service: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** How the entities of one domain are devices. */
export interface Domain {
  readonly describe: (entity: Entity, unit: TemperatureUnit) => View;
  /** The calls, in order, that carry out a command, which fits the capabilities. */
  readonly calls?: (command: DeviceCommand, entity: Entity, unit: TemperatureUnit) => Call[];
  /**
   * Whether an entity shows that a field has what was asked; `undefined` leaves it to the comparison of
   * values. `before` is the entity when the command came.
   */
  readonly confirms?: (asked: Asked, entity: Entity, before: Entity) => boolean | undefined;
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

/** An entity whose state is a value, or says that there is none. */
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
