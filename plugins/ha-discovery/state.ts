import { type DeviceState, type Static, Type } from "@mantel/plugin-sdk";
import { Marks } from "@mantel/plugin-sdk/mqtt";
import type { StoredAnnouncements } from "./announcements.ts";

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
});
export type State = Static<typeof State>;
