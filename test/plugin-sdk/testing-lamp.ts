import type { DeviceDescription } from "@mantel/plugin-sdk";

/** The lamp of the bridges that are tested with the test kit. */
export const LAMP: DeviceDescription = {
  nativeId: "lamp-1",
  kind: "light",
  name: "Lamp",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
  },
  state: { on: false, brightness: 50 },
};
