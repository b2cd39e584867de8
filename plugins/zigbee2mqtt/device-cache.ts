import type { DeviceDescription, Log, Storage } from "@mantel/plugin-sdk";

const KEY = "devices";
const VERSION = 1;
/** Interval between writes, to protect flash storage. */
const KEEP_EVERY_MS = 60_000;

/**
 * The last known devices on disk, for a start without a connection. Includes states of battery
 * devices, which may send nothing for hours.
 */
export class DeviceCache {
  readonly #storage: Storage;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  #gather: (() => DeviceDescription[]) | undefined;

  constructor(storage: Storage, log: Log) {
    this.#storage = storage;
    this.#log = log;
    this.#timer = setInterval(() => void this.#keep(), KEEP_EVERY_MS);
  }

  async recall(): Promise<DeviceDescription[]> {
    const kept = (await this.#storage.get(KEY)) as Partial<StoredDevices> | undefined;
    return kept?.version === VERSION && Array.isArray(kept.devices) ? kept.devices : [];
  }

  /** Saves the result of `gather` within a minute, and at the end. */
  changed(gather: () => DeviceDescription[]): void {
    this.#gather = gather;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#keep();
  }

  async #keep(): Promise<void> {
    const gather = this.#gather;
    if (!gather) return;
    this.#gather = undefined;
    try {
      await this.#storage.set(KEY, { version: VERSION, devices: gather() } satisfies StoredDevices);
    } catch (error) {
      this.#log.warn("could not store the devices", { error });
    }
  }
}

interface StoredDevices {
  readonly version: number;
  readonly devices: DeviceDescription[];
}
