import type { Device, DeviceState } from "@mantel/plugin-sdk/device";

/**
 * The command that brings a device to how it is now. A lamp that is off is only turned off, since a
 * brightness would turn it on. What is not known, or only read, is left out.
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
