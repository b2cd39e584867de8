import type { Capability, DeviceState, StateValue } from "@mantel/plugin-sdk";

/** The way a value is shown to users, and read from and written to payloads. */
export interface Form {
  readonly capability: Capability;
  /** Converts a payload value to state; `null` if it is meaningless. */
  readonly read: (raw: unknown) => StateValue;
  /** True for a payload value that is meaningful but has no state, such as the programme of a fan for its speed. */
  readonly isNothing?: (raw: unknown) => boolean;
  /** Converts state to a payload value; absent if it cannot be set. */
  readonly write?: (value: Exclude<StateValue, null>) => unknown;
  /** True if a payload value confirms the one that was set; by default they must be equal. */
  readonly confirms?: (raw: unknown, written: unknown) => boolean;
}

/** One field of a Zigbee2MQTT payload, as a capability of a device, of one of its parts or of its extras. */
export interface Feature extends Form {
  /** The capability's name. */
  readonly name: string;
  /** The id of the part that has it. */
  readonly part?: string;
  /** Set if it is beyond the vocabulary, and therefore one of the extras. */
  readonly group?: "main" | "configuration" | "diagnostic";
  /** Its path in a payload, such as `["level_config", "on_level"]`. */
  readonly path: readonly string[];
  /** Its path in a payload for a Zigbee group, which has no endpoints. */
  readonly pathInGroup: readonly string[];
  /** False for values that no payload reports, such as an effect. */
  readonly isTold: boolean;
  /** True if any payload of the device confirms a command, such as the first position of a cover that opens. */
  readonly isConfirmedByAny?: true;
  /** True if the value can be requested from the device. */
  readonly isGettable: boolean;
  /** True if a payload says that the value is not in use, such as the colour of a light that shows white. */
  readonly isUnused?: (payload: unknown) => boolean;
  /** The state that a command without confirmation leaves behind. */
  readonly leaves?: (value: StateValue) => DeviceState;
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
