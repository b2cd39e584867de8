import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Bus } from "../events/bus.ts";
import { inTimeSlices } from "../time-slices.ts";
import type { ChangeCause } from "./causes.ts";
import type { DeviceEntry } from "./entry.ts";
import type { DeviceOverrides } from "./overrides.ts";

/** An announcement of a device: changed for a cause, or new or gone. */
type Announcement =
  | ({ readonly topic: "device.state" } & ChangeCause)
  | { readonly topic: "device.added" | "device.removed" };

interface Dependencies {
  readonly bus: Bus;
  readonly overrides: DeviceOverrides;
}

/** The visible devices by id. A forgotten device is not among them until it reports. */
export class VisibleDevices {
  readonly #parts: Dependencies;
  readonly #entries = new Map<string, DeviceEntry>();
  /** Announcements that wait for their turn, by the id of the device. */
  readonly #waiting = new Map<string, Announcement>();
  #isHolding = false;

  constructor(parts: Dependencies) {
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
    this.#announce(device.id, { topic: "device.added" });
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
    this.#announce(id, { topic: "device.removed" });
    return true;
  }

  /** Announces the state of a device. */
  changed({ device }: DeviceEntry, cause: ChangeCause): void {
    this.#announce(device.id, { topic: "device.state", ...cause });
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

  #announce(id: string, announcement: Announcement): void {
    const waiting = this.#waiting.get(id);
    if (waiting && announcement.topic === "device.state") {
      // Its turn comes, and tells this too.
      const isOwn = announcement.cause.kind === "device";
      if (waiting.topic === "device.state" && !isOwn) this.#waiting.set(id, announcement);
      return;
    }
    if (this.#isHolding) return void this.#waiting.set(id, announcement);
    this.#waiting.delete(id);
    this.#emit(id, announcement);
  }

  *#announcing(ids: readonly string[]): Generator<undefined, void> {
    for (const id of ids) {
      const announcement = this.#waiting.get(id);
      if (announcement === undefined) continue;
      this.#waiting.delete(id);
      this.#emit(id, announcement);
      yield;
    }
  }

  #emit(id: string, { topic, ...cause }: Announcement): void {
    const { bus } = this.#parts;
    if (topic === "device.removed") return bus.emit(topic, { id });
    const entry = this.#entries.get(id);
    if (!entry) return;
    const { device } = entry;
    if (topic === "device.added") bus.emit(topic, { device });
    else bus.emit(topic, { device, ...(cause as ChangeCause) });
  }
}
