import type { Cause } from "@mantel/plugin-sdk";
import type { EngineDevice, Stop, TriggerEvent } from "./automation.ts";

/** The event that fired a trigger. */
export type Fired = Omit<TriggerEvent, "index" | "at">;
export type Fire = (fired: Fired) => void;

export interface WatchCallbacks {
  readonly fire: Fire;
  /** Called when there is something new in `stored`, before `fire`. */
  readonly changed: () => void;
}

/** The state of a watched trigger that a restart must not lose, as plain data. Instants are epoch milliseconds. */
export interface StoredWatch {
  /** A value that has to stay for a time: the instant at which it has. */
  readonly dueAt?: number;
  /** True while the value is within the limits. */
  readonly isInside?: boolean;
  /** The instant until which times were handled. */
  readonly handledUntil?: number;
  /** Events of calendars after it that have fired, with the instants after which they are forgotten. */
  readonly fired?: Readonly<Record<string, number>>;
}

/** A trigger that is watched. */
export interface Watch {
  readonly stop: Stop;
  readonly stored: () => StoredWatch | undefined;
}

/** A change of a device, with who caused it. */
export interface DeviceChange {
  readonly id: string;
  readonly device: EngineDevice | undefined;
  readonly old: EngineDevice | undefined;
  readonly cause?: Cause | undefined;
}
