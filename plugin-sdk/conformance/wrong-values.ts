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
  const [isValid, form] = formOf(capability, value);
  return isValid ? undefined : form;
}

/** True if the value has the form that the capability asks for, and that form as a phrase. */
function formOf(capability: Capability, value: StateValue): readonly [boolean, string] {
  switch (capability.type) {
    case "boolean":
      return [typeof value === "boolean", "true or false"];
    case "text":
      return [typeof value === "string", "a text"];
    case "color":
      return [typeof value === "object", "a colour"];
    case "command":
      return [false, "no value, because it is a command"];
    case "choice": {
      const { values } = capability;
      return [typeof value === "string" && values.includes(value), `one of ${values.join(", ")}`];
    }
    case "number": {
      const { min = -Infinity, max = Infinity } = capability;
      const isWithin = typeof value === "number" && value >= min && value <= max;
      return [isWithin, `a number from ${min} to ${max}`];
    }
  }
}
