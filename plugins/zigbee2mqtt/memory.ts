import type { DeviceDescription, Log, Storage } from "@mantel/plugin-sdk";

const KEY = "devices";
const VERSION = 1;
/** States change all the time; a flash card has to last. */
const KEEP_EVERY_MS = 60_000;

/**
 * What was known of the devices last, on the disk, for a host that starts while the other side is away.
 * It holds states of battery devices too, which tell nothing for hours.
 */
export class Memory {
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
    const kept = (await this.#storage.get(KEY)) as Partial<Kept> | undefined;
    return kept?.version === VERSION && Array.isArray(kept.devices) ? kept.devices : [];
  }

  /** Something has changed: what `gather` gives then is kept within a minute, and at the end. */
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
      await this.#storage.set(KEY, { version: VERSION, devices: gather() } satisfies Kept);
    } catch (error) {
      this.#log.warn("the devices could not be kept for the next start", { error });
    }
  }
}

interface Kept {
  readonly version: number;
  readonly devices: DeviceDescription[];
}
