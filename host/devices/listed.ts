import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Bus } from "../events/bus.ts";
import type { DeviceEntry } from "./entry.ts";
import type { DeviceWishes } from "./wishes.ts";

interface Parts {
  readonly bus: Bus;
  readonly wishes: DeviceWishes;
}

/** The devices that are served, by id. One that was forgotten is none of them until it is heard. */
export class ListedDevices {
  readonly #parts: Parts;
  readonly #entries = new Map<string, DeviceEntry>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  find(id: string): DeviceEntry | undefined {
    return this.#entries.get(id);
  }

  /** @throws MantelError `device_unknown` */
  get(id: string): DeviceEntry {
    const entry = this.#entries.get(id);
    if (entry) return entry;
    throw new MantelError("device_unknown", `no device has the id ${id}`);
  }

  has(entry: DeviceEntry): boolean {
    return this.#entries.get(entry.device.id) === entry;
  }

  /** Serves a device that its bridge reaches, or that nobody has forgotten. */
  add(entry: DeviceEntry): void {
    const { device, reachable } = entry;
    const { bus, wishes } = this.#parts;
    const wasForgotten = wishes.isForgotten(device.id);
    if (wasForgotten && !reachable) return;
    this.#entries.set(device.id, entry);
    bus.announce("device.added", { device });
    if (wasForgotten) wishes.heard(device.id);
  }

  /** Drops what people wanted of a device that is not there, and serves it no more. */
  async forget(id: string): Promise<void> {
    const entry = this.get(id);
    if (entry.device.available) {
      throw new MantelError(
        "device_present",
        `${id} is there; hide it, or remove it at its bridge`,
      );
    }
    await this.#parts.wishes.forget(id);
    this.remove(entry);
  }

  /** Tells whether it was served. */
  remove(entry: DeviceEntry): boolean {
    if (!this.has(entry)) return false;
    const { id } = entry.device;
    this.#entries.delete(id);
    this.#parts.bus.announce("device.removed", { id });
    return true;
  }
}
