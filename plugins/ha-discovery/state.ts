import { type DeviceState, type Static, Type } from "@mantel/plugin-sdk";
import type { Kept } from "./announcements.ts";

/** What a component has told: its state, and on which topics it said that it can be reached. */
interface Heard {
  readonly state: DeviceState;
  readonly told: Readonly<Record<string, boolean>>;
}

/**
 * What one generation hands to the next: what was announced, and what each component has told. Only the
 * version is checked: with thousands of devices the rest takes longer than callers should wait.
 */
export const State = Type.Object({
  version: Type.Literal(1),
  /** What was listened to: the next one subscribes to it before it has read the rest. */
  topics: Type.Array(Type.String()),
  kept: Type.Unsafe<Kept>(Type.Object({})),
  known: Type.Unsafe<Readonly<Record<string, Heard>>>(Type.Object({})),
});
export type State = Static<typeof State>;
