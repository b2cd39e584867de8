import type { Device, DeviceState } from "@mantel/plugin-sdk/device";

/**
 * The command that restores the current state of a device. For a lamp that is off it only turns it
 * off, since a brightness would turn it on. Unknown and read-only fields are left out.
 */
export function commandOf({
  capabilities,
  state,
}: Pick<Device, "capabilities" | "state">): DeviceState {
  if (state["on"] === false && capabilities["on"]?.readOnly !== true) return { on: false };
  const known = Object.entries(state).filter(([field, value]) => {
    const capability = capabilities[field];
    return value !== null && capability !== undefined && capability.readOnly !== true;
  });
  return Object.fromEntries(known);
}
