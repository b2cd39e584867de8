import { setImmediate } from "node:timers/promises";
import type { PluginContext } from "./context.ts";
import type { DeviceDescription, DeviceEvent, DeviceUpdate } from "./device.ts";
import type { SceneDescription } from "./scene.ts";

/** Longer lists are sent in another turn of the event loop than they were made in. */
const FEW_DEVICES = 500;

type Context = Pick<PluginContext<never, never>, "devices" | "scenes">;

/** Everything that a bridge has. */
export interface DeviceLists {
  readonly devices: readonly DeviceDescription[];
  /** `undefined` while the scenes are unknown; the published ones then stay. */
  readonly scenes: readonly SceneDescription[] | undefined;
}

/**
 * The lists of devices and scenes that a bridge publishes, one publication after the other. Scenes are published only
 * if they differ from those that the host has accepted.
 */
export class PublishedDevices {
  readonly #ctx: Context;
  readonly #current: () => DeviceLists;
  /** The publication in progress, and the one that begins after it. */
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #nativeIds: ReadonlySet<string> = new Set();
  /** Reports that must follow a long list which waits to be sent; `undefined` without such a list. */
  #held: (() => void)[] | undefined;
  /** The scenes that the host has accepted, as JSON. */
  #acceptedScenes: string | undefined;

  /** @param current returns the current lists; called at the beginning of each publication */
  constructor(ctx: Context, current: () => DeviceLists) {
    this.#ctx = ctx;
    this.#current = current;
  }

  /**
   * Publishes the current lists, immediately or after the publication in progress, also after a refused one. Calls
   * during a publication share the next one.
   * Resolves when the host has accepted the lists.
   * @throws MantelError `invalid` with a JSON pointer for each fault; the published lists then stay unchanged
   */
  publish(): Promise<void> {
    if (!this.#running) return this.#begin();
    const begin = () => this.#begin();
    this.#next ??= this.#running.then(begin, begin);
    return this.#next;
  }

  /**
   * Changes the state or availability of published devices. Leaves out devices that are not in the list yet, because
   * the host does not know them: the next list has their state.
   */
  update(...updates: readonly DeviceUpdate[]): void {
    this.#report(() => {
      const known = updates.filter(({ nativeId }) => this.#nativeIds.has(nativeId));
      if (known.length > 0) this.#ctx.devices.update(...known);
    });
  }

  /** Reports a momentary event of a published device, after all earlier updates. */
  event(nativeId: string, event: string, data?: DeviceEvent["data"]): void {
    this.#report(() => this.#ctx.devices.event(nativeId, event, data));
  }

  #report(report: () => void): void {
    if (this.#held) this.#held.push(report);
    else report();
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    const publication = this.#publishNow();
    this.#running = publication;
    const end = () => {
      if (!this.#next) this.#running = undefined;
    };
    publication.then(end, end);
    return publication;
  }

  async #publishNow(): Promise<void> {
    const { devices, scenes } = this.#current();
    if (devices.length > FEW_DEVICES) {
      this.#held ??= [];
      await setImmediate();
    }
    this.#nativeIds = new Set(devices.map(({ nativeId }) => nativeId));
    const publications = [this.#ctx.devices.publish(devices), this.#publishScenes(scenes)];
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const report of held) report();
    await Promise.allSettled(publications); // scenes are published also without devices
    await Promise.all(publications);
  }

  async #publishScenes(scenes: DeviceLists["scenes"]): Promise<void> {
    const text = JSON.stringify(scenes);
    if (!scenes || text === this.#acceptedScenes) return;
    await this.#ctx.scenes.publish(scenes);
    this.#acceptedScenes = text;
  }
}
