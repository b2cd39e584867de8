import { isDeepStrictEqual } from "node:util";
import type { Device, DeviceDescription } from "@mantel/plugin-sdk/device";

/** A bridge that says the same again moves `lastSeenAt` on by this step, so that lists stay cached. */
const SEEN_STEP_MS = 60_000;

interface Origin {
  readonly id: string;
  readonly bridge: { readonly id: string; readonly kind: string };
  readonly nativeId: string;
  readonly said: Pick<Device, "name" | "room">;
  readonly reachable: boolean;
  readonly gateway: string | undefined;
}
type Shown = ReturnType<typeof describedFields> & Pick<Device, "available" | "hidden">;

/** One device as the registry holds it. */
export class DeviceEntry {
  readonly nativeId: string;
  /** The bridge's own word on whether it reaches the device. */
  reachable: boolean;
  /** What the bridge says of it, under what people want. */
  said: Pick<Device, "name" | "room">;
  /** Through which of several the bridge reaches it. */
  gateway: string | undefined;
  #device: Device;
  #json: string | undefined;

  /** A device that was not there before. */
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

  private constructor({ nativeId, said, reachable, gateway }: Origin, device: Device) {
    this.nativeId = nativeId;
    this.said = said;
    this.reachable = reachable;
    this.gateway = gateway;
    this.#device = device;
  }

  get device(): Device {
    return this.#device;
  }

  /** The device as JSON, made once for each change. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.#device));
  }

  /**
   * Takes over fields under a revision. `seen` says that the device itself was heard. The answer
   * tells whether a field differs, or the same was heard and counts as news, or nothing was taken.
   */
  change(fields: Partial<Device>, revision: number, seen: boolean): "changed" | "seen" | "same" {
    const now = new Date();
    const differs = this.#differsFrom(fields);
    if (!differs && !(seen && this.#lastSeenBefore(now))) return "same";
    const { state = this.#device.state } = fields;
    const stateDiffers = this.#differsFrom({ state });
    this.#device = {
      ...this.#device,
      ...fields,
      ...(seen ? { lastSeenAt: now.toISOString() } : {}),
      ...(stateDiffers ? { stateChangedAt: now.toISOString() } : {}),
      revision,
    };
    this.#json = undefined;
    return differs ? "changed" : "seen";
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

/** The part of a device that its bridge describes, with what it left out filled in. */
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
