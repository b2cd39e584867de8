import type { Device, DeviceKind } from "./device.ts";

/** A device of a test's home; other fields have defaults. */
export interface FakeDevice extends Partial<Omit<Device, "id" | "kind">> {
  /** `<bridge_kind>:<device_kind>:<number>`, such as `hue:light:3`. */
  readonly id: string;
}

/** The whole device, with defaults for the absent fields. */
export function toDevice(device: FakeDevice): Device {
  const [bridgeKind = "", kind = "", number = ""] = device.id.split(":");
  return {
    bridgeKind,
    kind: kind as DeviceKind,
    number: Number(number),
    bridge: bridgeKind,
    name: device.id,
    room: null,
    groups: [],
    info: { manufacturer: null, model: null, serial: null, firmware: null },
    available: true,
    lastSeenAt: null,
    stateChangedAt: null,
    revision: 0,
    capabilities: {},
    state: {},
    pending: {},
    ...device,
  };
}
