import { type DeviceState, type Static, Type } from "@mantel/plugin-sdk";
import { areCompositions, type StoredCompositions } from "@mantel/plugin-sdk/joined-devices";
import { Marks } from "@mantel/plugin-sdk/mqtt";
import { isStored, type StoredAnnouncements } from "./announcements.ts";

/** The reported state and availability of a component. */
interface Heard {
  readonly state: DeviceState;
  readonly told: Readonly<Record<string, boolean>>;
}

/**
 * State handed over to the next generation: the announcements, and the state of each component.
 * Parts that grow with the home are not validated: with thousands of devices that takes longer than
 * callers should wait.
 */
export const State = Type.Object({
  version: Type.Literal(2),
  isAway: Type.Boolean(),
  /** Marks of the messages that were heard last. */
  heard: Marks,
  kept: Type.Unsafe<StoredAnnouncements>(Type.Object({})),
  known: Type.Unsafe<Readonly<Record<string, Heard>>>(Type.Object({})),
  /** Absent in the state of code that published each function as a device. */
  compositions: Type.Optional(Type.Unsafe<StoredCompositions>(Type.Object({}))),
});
export type State = Static<typeof State>;

/** The part of the state that outlives a restart. */
export interface StoredHome {
  readonly version: 2;
  readonly announcements: StoredAnnouncements;
  readonly compositions: StoredCompositions;
}

/** The stored home; without compositions if it was stored when each function was a device. */
export function readStoredHome(
  value: unknown,
): Pick<StoredHome, "announcements"> & Partial<StoredHome> {
  const { version, announcements, compositions } = (value ?? {}) as Partial<StoredHome>;
  if (version !== 2) return { announcements: isStored(value) ? value : {} };
  return {
    announcements: isStored(announcements) ? announcements : {},
    compositions: areCompositions(compositions) ? compositions : {},
  };
}
