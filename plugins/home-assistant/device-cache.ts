import type { PluginContext } from "@mantel/plugin-sdk";
import { identity, type KeptDevices } from "./device-store.ts";

const KEY = "house";
const SAVE_AFTER_MS = 5_000;

/** Keeps the house for the host's next start, when Home Assistant may be away. */
export class DeviceCache {
  readonly #ctx: Pick<PluginContext<unknown, unknown>, "storage" | "log">;
  /** The last saved devices, without states, which change all the time. */
  #saved = "";
  #waiting: { readonly house: KeptDevices; readonly timer: NodeJS.Timeout } | undefined;

  constructor(ctx: Pick<PluginContext<unknown, unknown>, "storage" | "log" | "onDispose">) {
    this.#ctx = ctx;
    ctx.onDispose(() => clearTimeout(this.#waiting?.timer));
  }

  async read(): Promise<KeptDevices | undefined> {
    return (await this.#ctx.storage.get(KEY)) as KeptDevices | undefined;
  }

  /** Saves it soon, when it has other devices or scenes than before. */
  save(house: KeptDevices): void {
    if (shapeOf(house) === this.#saved) return;
    clearTimeout(this.#waiting?.timer);
    this.#waiting = { house, timer: setTimeout(() => void this.flush(), SAVE_AFTER_MS) };
  }

  /** Saves pending changes. A failed write is not fatal. */
  async flush(): Promise<void> {
    const { house, timer } = this.#waiting ?? {};
    clearTimeout(timer);
    this.#waiting = undefined;
    if (!house) return;
    try {
      await this.#ctx.storage.set(KEY, house);
      this.#saved = shapeOf(house);
    } catch (error) {
      this.#ctx.log.warn("the house is not kept for the next start", { error: String(error) });
    }
  }
}

function shapeOf({ devices, scenes }: KeptDevices): string {
  return JSON.stringify([devices.map(({ description }) => identity(description)), scenes]);
}
