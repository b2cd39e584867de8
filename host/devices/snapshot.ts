import type { Device } from "@mantel/plugin-sdk/device";
import type { BridgeDirectory } from "./bridge.ts";
import type { DeviceEntry } from "./entry.ts";

/** A filter for devices; absent fields match all. */
export interface DeviceFilter {
  /** The id of the module. */
  readonly bridge?: string;
  readonly kind?: string;
  readonly room?: string;
}

/** A list of devices as `GET /smart-home/devices` answers it. */
export interface DeviceSnapshot {
  /** JSON, encoded once for all answers. */
  readonly body: Buffer;
  readonly revision: number;
}

export function matches(device: Device, { bridge, kind, room }: DeviceFilter): boolean {
  return (
    (bridge === undefined || device.bridge === bridge) &&
    (kind === undefined || device.kind === kind) &&
    (room === undefined || device.room === room)
  );
}

/**
 * Assembles a snapshot from the JSON of each device, with the status of every bridge, in steps of one device each. A
 * device that has not changed since keeps its JSON.
 */
export function* serialising(
  entries: readonly DeviceEntry[],
  bridges: BridgeDirectory,
  revision: number,
): Generator<undefined, DeviceSnapshot> {
  const rest = {
    bridges: bridges.list().map((bridge) => bridge.view),
    revision,
    generatedAt: new Date().toISOString(),
  };
  const devices: string[] = [];
  for (const [entry, device] of entries.map((each) => [each, each.device] as const)) {
    devices.push(entry.device === device ? entry.json : JSON.stringify(device));
    yield;
  }
  const text = `{"devices":[${devices.join(",")}],${JSON.stringify(rest).slice(1)}`;
  return { body: Buffer.from(text), revision };
}
