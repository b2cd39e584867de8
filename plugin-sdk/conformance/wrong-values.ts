import type { Capability, StateValue } from "../device.ts";
import { canonicalCapability } from "../vocabulary/index.ts";
import type { DeviceFunction } from "./device-function.ts";

/** A value of a state that its capability does not allow. */
interface WrongValue {
  readonly name: string;
  /** The form that it must have, as a phrase. */
  readonly expected: string;
  readonly value: StateValue;
}

/** The values in a state that the host would refuse. */
export function wrongValues({
  kind,
  capabilities,
  state,
}: Pick<DeviceFunction, "kind" | "capabilities" | "state">): WrongValue[] {
  return Object.entries(state).flatMap(([name, value]) => {
    const capability = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
    const expected = !capability
      ? "no value, because the device has no such capability"
      : canonicalCapability(kind, name)?.access === "command"
        ? "no value, because it is a command"
        : demandOf(capability, value);
    return expected === undefined ? [] : [{ name, expected, value }];
  });
}

/** The form that a value must have; `undefined` if it has it. `null` is an unknown value. */
function demandOf(capability: Capability, value: StateValue): string | undefined {
  if (value === null) return undefined;
  switch (capability.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "true or false";
    case "text":
      return typeof value === "string" ? undefined : "a text";
    case "color":
      return typeof value === "object" ? undefined : "a colour";
    case "command":
      return "no value, because it is a command";
    case "choice": {
      const isOne = typeof value === "string" && capability.values.includes(value);
      return isOne ? undefined : `one of ${capability.values.join(", ")}`;
    }
    case "number": {
      const { min = -Infinity, max = Infinity } = capability;
      const isWithin = typeof value === "number" && value >= min && value <= max;
      return isWithin ? undefined : `a number from ${min} to ${max}`;
    }
  }
}
