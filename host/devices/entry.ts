import { isDeepStrictEqual } from "node:util";
import type { Device, DeviceDescription } from "@mantel/plugin-sdk/device";

/** Repeated equal reports move `lastSeenAt` only by this step, so that lists stay cached. */
const SEEN_STEP_MS = 60_000;

interface Origin {
  readonly id: string;
  readonly bridge: { readonly id: string; readonly kind: string };
  readonly nativeId: string;
  readonly described: Pick<Device, "name" | "room">;
  readonly reachable: boolean;
  readonly gateway: string | undefined;
}
type Shown = ReturnType<typeof describedFields> & Pick<Device, "available" | "hidden">;

/** The device after a report, and how it differs from before. */
export interface Change {
  readonly device: Device;
  /** `changed`: a field differs. `seen`: the same report counts as recent activity. `same`: neither. */
  readonly outcome: "changed" | "seen" | "same";
}

/** One device in the registry. */
export class DeviceEntry {
  readonly nativeId: string;
  /** True if the bridge reports that it reaches the device. */
  reachable: boolean;
  /** The name and room that the bridge reports, without the user's settings. */
  described: Pick<Device, "name" | "room">;
  /** The gateway through which the bridge reaches it, if there are several. */
  gateway: string | undefined;
  #device: Device;
  #json: string | undefined;

  /** A new device. */
  static create(origin: Origin, fields: Shown, revision: number): DeviceEntry {
    const { id, bridge, reachable } = origin;
    const now = new Date().toISOString();
    const device = {
      id,
      bridgeKind: bridge.kind,
      number: Number(id.slice(id.lastIndexOf(":") + 1)),
      bridge: bridge.id,
      ...fields,
      lastSeenAt: reachable ? now : null,
      stateChangedAt: now,
      revision,
      pending: {},
    };
    return new DeviceEntry(origin, device);
  }

  private constructor({ nativeId, described, reachable, gateway }: Origin, device: Device) {
    this.nativeId = nativeId;
    this.described = described;
    this.reachable = reachable;
    this.gateway = gateway;
    this.#device = device;
  }

  get device(): Device {
    return this.#device;
  }

  /** The device as JSON, created once for each change. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.#device));
  }

  /** Shows this device from now on. */
  show(device: Device): void {
    this.#device = device;
    this.#json = undefined;
  }

  /** The device with other fields under a revision. `seen` means that the device itself has reported. */
  with(fields: Partial<Device>, revision: number, seen: boolean): Change {
    const now = new Date();
    const differs = this.#differsFrom(fields);
    if (!differs && !(seen && this.#lastSeenBefore(now)))
      return { device: this.#device, outcome: "same" };
    const { state = this.#device.state } = fields;
    const stateDiffers = this.#differsFrom({ state });
    const device = {
      ...this.#device,
      ...fields,
      ...(seen ? { lastSeenAt: now.toISOString() } : {}),
      ...(stateDiffers ? { stateChangedAt: now.toISOString() } : {}),
      revision,
    };
    return { device, outcome: differs ? "changed" : "seen" };
  }

  #differsFrom(fields: Partial<Device>): boolean {
    return Object.entries(fields).some(
      ([name, value]) => !isDeepStrictEqual(this.#device[name as keyof Device], value),
    );
  }

  #lastSeenBefore(now: Date): boolean {
    const { lastSeenAt } = this.#device;
    return lastSeenAt === null || now.getTime() - Date.parse(lastSeenAt) >= SEEN_STEP_MS;
  }
}

/** The fields of a device that its bridge describes, with defaults for missing ones. */
export function describedFields(description: DeviceDescription) {
  const { kind, name, room = null, groups = [], info = {}, capabilities, state } = description;
  const { manufacturer = null, model = null, serial = null, firmware = null } = info;
  return {
    kind,
    name,
    room,
    groups,
    info: { manufacturer, model, serial, firmware },
    capabilities,
    state,
  } satisfies Partial<Device>;
}
