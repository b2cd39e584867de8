import { type DeviceState, type Static, Type } from "@mantel/plugin-sdk";
import { Marks } from "@mantel/plugin-sdk/mqtt";
import type { Kept } from "./announcements.ts";

/** What a component has told: its state, and on which topics it said that it can be reached. */
interface Heard {
  readonly state: DeviceState;
  readonly told: Readonly<Record<string, boolean>>;
}

/**
 * What one generation hands to the next: what was announced, and what each component has told. What grows
 * with the house is not checked: with thousands of devices that takes longer than callers should wait.
 */
export const State = Type.Object({
  version: Type.Literal(2),
  isAway: Type.Boolean(),
  /** Marks of the messages that were heard last. */
  heard: Marks,
  kept: Type.Unsafe<Kept>(Type.Object({})),
  known: Type.Unsafe<Readonly<Record<string, Heard>>>(Type.Object({})),
});
export type State = Static<typeof State>;
