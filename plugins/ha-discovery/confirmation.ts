import type { Capability, DeviceCommand, DeviceState, StateValue } from "@mantel/plugin-sdk";
import { isConfirmed, isExactly } from "./coerce.ts";
import type { ComponentGroup } from "./component-groups.ts";

/**
 * Returns a function that gets each report of a device, removes the confirmed fields from `missing`, and returns true
 * when none is left. `before` is the state before the command, and `requested` the command.
 */
export function confirmsAll(
  { capabilities, components: [leader], isLed }: ComponentGroup,
  missing: Map<string, StateValue>,
  { before, requested }: { before: DeviceState; requested: DeviceCommand },
): (told: DeviceState) => boolean {
  const { known, names } = (isLed && leader) || { known: undefined, names: undefined };
  return (told) => {
    for (const [field, value] of missing) {
      const capability = capabilities[field];
      const asked = { field, value, before: before[field] };
      const isMet = capability && meets({ ...asked, capability }, told);
      if (
        isMet ||
        (names?.has(field) && known?.handler.isObeying?.(told, field, field in requested))
      )
        missing.delete(field);
    }
    return missing.size === 0;
  };
}

interface Asked {
  readonly capability: Capability;
  readonly field: string;
  readonly value: StateValue;
  readonly before: StateValue | undefined;
}

/** Something that takes time to travel has obeyed when it has come nearer. */
const TRAVELS = new Set(["position", "tilt"]);

function meets({ capability, field, value, before }: Asked, told: DeviceState): boolean {
  const now = told[field];
  // Devices round, but a state that is still the one from before the command does not confirm it.
  const isOld = before !== undefined && now !== undefined && isExactly(capability, before, now);
  if (now !== undefined && !isOld && isConfirmed(capability, value, now)) return true;
  const numbers = [value, before, now];
  if (!TRAVELS.has(field) || !numbers.every((each) => typeof each === "number")) return false;
  const [to = 0, from = 0, at = 0] = numbers;
  return Math.abs(to - at) < Math.abs(to - from);
}
