import type { Device } from "@mantel/plugin-sdk/device";
import type { BridgeDirectory } from "./bridge.ts";
import type { DeviceEntry } from "./entry.ts";

/** Which devices are wanted; what is absent does not matter. */
export interface DeviceFilter {
  /** The id of the module. */
  readonly bridge?: string;
  readonly kind?: string;
  readonly room?: string;
}

/** A list of devices as `GET /smart-home/devices` answers it. */
export interface DeviceSnapshot {
  /** JSON. */
  readonly body: string;
  readonly revision: number;
}

export function matches(device: Device, { bridge, kind, room }: DeviceFilter): boolean {
  return (
    (bridge === undefined || device.bridge === bridge) &&
    (kind === undefined || device.kind === kind) &&
    (room === undefined || device.room === room)
  );
}

/** A snapshot from the JSON that each device has already, with the status of every bridge. */
export function serialise(
  entries: readonly DeviceEntry[],
  bridges: BridgeDirectory,
  revision: number,
): DeviceSnapshot {
  const devices = entries.map((entry) => entry.json).join(",");
  const rest = {
    bridges: bridges.list().map((bridge) => bridge.view),
    revision,
    generatedAt: new Date().toISOString(),
  };
  return { body: `{"devices":[${devices}],${JSON.stringify(rest).slice(1)}`, revision };
}
