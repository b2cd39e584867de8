import type { Capability, StateValue } from "@mantel/plugin-sdk";

/** One field of a Zigbee2MQTT payload, as a capability. */
export interface Feature {
  /** The capability's name. */
  readonly name: string;
  readonly capability: Capability;
  /** Its path in a payload, such as `["level_config", "on_level"]`. */
  readonly path: readonly string[];
  /** Converts a payload value to state; `null` if it is meaningless. */
  readonly read: (raw: unknown) => StateValue;
  /** Converts state to a payload value; absent if it cannot be set. */
  readonly write?: (value: Exclude<StateValue, null>) => unknown;
  /** True if a payload value confirms the one that was set; by default they must be equal. */
  readonly confirms?: (raw: unknown, written: unknown) => boolean;
  /** False for values that no payload reports, such as an effect. */
  readonly isTold: boolean;
  /** True if the value can be requested from the device. */
  readonly isGettable: boolean;
}

/** The value at a path of a payload; `undefined` if it is missing. */
export function valueAt(payload: unknown, path: readonly string[]): unknown {
  let value = payload;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The payload with `value` added at `path`. */
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
