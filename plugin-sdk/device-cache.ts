import type { PluginContext, Storage } from "./context.ts";
import { SerialQueue } from "./serial-queue.ts";
import { DelayedCall } from "./timers.ts";

/** Time until a failed write is repeated. */
const RETRY_MS = 60_000;

interface Context extends Pick<PluginContext<never, never>, "log" | "onDispose"> {
  readonly storage: Pick<Storage, "get" | "set">;
}

/**
 * The last known devices of a bridge on disk, so that a start shows them as unavailable until the bridge answers.
 * Saves changes after a delay, to protect flash storage, and when the generation ends. A failed write is repeated
 * after a minute, and logged unless the one before has failed too.
 */
export class DeviceCache<Devices> {
  readonly #ctx: Context;
  readonly #key: string;
  readonly #saveAfterMs: number;
  readonly #saving = new SerialQueue();
  readonly #saveSoon = new DelayedCall(() => void this.flush());
  #collect: (() => Devices | Promise<Devices>) | undefined;
  #hasFailed = false;
  #isClosed = false;

  /**
   * @param key the key in `ctx.storage`
   * @param saveAfterMs maximum time between a change and its write, in milliseconds
   */
  constructor(ctx: Context, key: string, saveAfterMs: number) {
    this.#ctx = ctx;
    this.#key = key;
    this.#saveAfterMs = saveAfterMs;
    ctx.onDispose(() => {
      this.#isClosed = true;
      return this.flush();
    });
  }

  /** Returns the stored value, or `undefined`. Check it: another version of the plugin may have written it. */
  read(): Promise<unknown> {
    return this.#ctx.storage.get(this.#key);
  }

  /** Reports a change. `collect` returns the devices at the time of the write, as JSON values. */
  changed(collect: () => Devices | Promise<Devices>): void {
    this.#collect = collect;
    if (!this.#isClosed) this.#saveSoon.start(this.#saveAfterMs);
  }

  /** Saves unsaved changes immediately. Never throws. */
  flush(): Promise<void> {
    this.#saveSoon.stop();
    return this.#saving.take(() => this.#save());
  }

  async #save(): Promise<void> {
    const collect = this.#collect;
    if (!collect) return;
    this.#collect = undefined;
    try {
      await this.#ctx.storage.set(this.#key, await collect());
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#ctx.log.warn("could not save the known devices", { error });
      this.#hasFailed = true;
      this.#collect ??= collect;
      if (!this.#isClosed) this.#saveSoon.restart(RETRY_MS);
    }
  }
}
