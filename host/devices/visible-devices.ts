import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Bus } from "../events/bus.ts";
import { inTimeSlices } from "../time-slices.ts";
import type { DeviceEntry } from "./entry.ts";
import type { DeviceOverrides } from "./overrides.ts";

type DeviceTopic = "device.added" | "device.state" | "device.removed";

interface Parts {
  readonly bus: Bus;
  readonly overrides: DeviceOverrides;
}

/** The visible devices by id. A forgotten device is not among them until it reports. */
export class VisibleDevices {
  readonly #parts: Parts;
  readonly #entries = new Map<string, DeviceEntry>();
  /** Announcements that wait for their turn, by the id of the device. */
  readonly #waiting = new Map<string, DeviceTopic>();
  #isHolding = false;

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

  /** Adds a device that its bridge reaches or that is not forgotten. */
  add(entry: DeviceEntry): void {
    const { device, reachable } = entry;
    const { overrides } = this.#parts;
    const wasForgotten = overrides.isForgotten(device.id);
    if (wasForgotten && !reachable) return;
    this.#entries.set(device.id, entry);
    this.#announce("device.added", device.id);
    if (wasForgotten) overrides.heard(device.id);
  }

  /** Removes an unavailable device and its settings. */
  async forget(id: string): Promise<void> {
    const entry = this.get(id);
    if (entry.device.available) {
      throw new MantelError(
        "device_present",
        `${id} is available; hide it, or remove it at its bridge`,
      );
    }
    await this.#parts.overrides.forget(id);
    this.remove(entry);
  }

  /** Returns true if it was visible. */
  remove(entry: DeviceEntry): boolean {
    if (!this.has(entry)) return false;
    const { id } = entry.device;
    this.#entries.delete(id);
    this.#announce("device.removed", id);
    return true;
  }

  /** Announces the state of a device. */
  changed({ device }: DeviceEntry): void {
    this.#announce("device.state", device.id);
  }

  /**
   * Does `work` at once, and announces in turns which devices it has changed, each as it is then. Resolves
   * when all are announced.
   */
  async changeMany(work: () => void): Promise<void> {
    this.#isHolding = true;
    try {
      work();
    } finally {
      this.#isHolding = false;
    }
    await inTimeSlices(this.#announcing([...this.#waiting.keys()]));
  }

  #announce(topic: DeviceTopic, id: string): void {
    const isWaiting = this.#waiting.has(id);
    if (topic === "device.state" && isWaiting) return; // its turn comes, and tells this too
    if (this.#isHolding) return void this.#waiting.set(id, topic);
    this.#waiting.delete(id);
    this.#emit(topic, id);
  }

  *#announcing(ids: readonly string[]): Generator<undefined, void> {
    for (const id of ids) {
      const topic = this.#waiting.get(id);
      if (topic === undefined) continue;
      this.#waiting.delete(id);
      this.#emit(topic, id);
      yield;
    }
  }

  #emit(topic: DeviceTopic, id: string): void {
    const { bus } = this.#parts;
    if (topic === "device.removed") return bus.emit(topic, { id });
    const entry = this.#entries.get(id);
    if (entry) bus.emit(topic, { device: entry.device });
  }
}
