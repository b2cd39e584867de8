import type { Capability, StateValue } from "@mantel/plugin-sdk";

/** One field of a Zigbee2MQTT payload, as a capability. */
export interface Feature {
  /** The capability's name. */
  readonly name: string;
  readonly capability: Capability;
  /** Where it is in a payload, such as `["level_config", "on_level"]`. */
  readonly path: readonly string[];
  /** The value in a payload as state; `null` for one that means nothing here. */
  readonly read: (raw: unknown) => StateValue;
  /** A state as a value to set; absent for what cannot be set. */
  readonly write?: (value: Exclude<StateValue, null>) => unknown;
  /** Whether a value in a payload confirms one that was set; absent means that it equals it. */
  readonly confirms?: (raw: unknown, written: unknown) => boolean;
  /** False for what no payload ever tells, such as an effect. */
  readonly isTold: boolean;
  /** True for what the device can be asked for. */
  readonly isGettable: boolean;
}

/** The value at a path of a payload; `undefined` when it is not there. */
export function valueAt(payload: unknown, path: readonly string[]): unknown {
  let value = payload;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** A payload with `value` at `path` besides what `payload` has. */
export function withValue(
  payload: Readonly<Record<string, unknown>>,
  [key = "", ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const inner = Object.hasOwn(payload, key) ? payload[key] : undefined;
  const nested =
    rest.length === 0 ? value : withValue((inner ?? {}) as Record<string, unknown>, rest, value);
  return { ...payload, [key]: nested };
}
