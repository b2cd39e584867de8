import {
  type DeviceDescription,
  type DeviceUpdate,
  type PluginContext,
  PublishedDevices,
  type SceneDescription,
} from "@mantel/plugin-sdk";

type Context = Pick<PluginContext<never, never>, "devices" | "scenes" | "log">;

/** Publishes the whole lists when a description or a scene has changed, and otherwise only the changed states. */
export class Publisher {
  readonly #ctx: Context;
  readonly #published: PublishedDevices;
  #devices: readonly DeviceDescription[] = [];
  #scenes: readonly SceneDescription[] = [];
  /** The published descriptions and scenes as JSON; `undefined` if the host refused them. */
  #shape: string | undefined;
  /** The published states as JSON, by native id. */
  #states = new Map<string, string>();
  #taken: Promise<void> = Promise.resolve();

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#published = new PublishedDevices(ctx, () => ({
      devices: this.#devices,
      scenes: this.#scenes,
    }));
  }

  /** Resolves when the host has taken, or refused, what was shown so far. */
  async taken(): Promise<void> {
    await this.#taken;
  }

  /** Returns true if the whole lists are published. Lists that the host refuses are published again at the next call. */
  show(devices: readonly DeviceDescription[], scenes: readonly SceneDescription[]): boolean {
    this.#devices = devices;
    this.#scenes = scenes;
    const shape = shapeOf(devices, scenes);
    const isOther = shape !== this.#shape;
    if (isOther) {
      this.#shape = shape;
      this.#taken = this.#publish();
    } else {
      this.#published.update(...devices.flatMap((device) => this.#updateOf(device) ?? []));
    }
    this.#states = new Map(devices.map((device) => [device.nativeId, stateOf(device)]));
    return isOther;
  }

  #updateOf(device: DeviceDescription): DeviceUpdate | undefined {
    const { nativeId, state, extra, available = true } = device;
    if (this.#states.get(nativeId) === stateOf(device)) return undefined;
    return { nativeId, state, available, ...(extra && { extra: extra.state }) };
  }

  async #publish(): Promise<void> {
    try {
      await this.#published.publish();
    } catch (error) {
      this.#shape = undefined;
      this.#ctx.log.error("the devices could not be published", { error });
    }
  }
}

function shapeOf(
  devices: readonly DeviceDescription[],
  scenes: readonly SceneDescription[],
): string {
  const described = devices.map(({ state: _state, available: _available, extra, ...rest }) => [
    rest,
    extra?.capabilities,
  ]);
  return JSON.stringify([described, scenes]);
}

function stateOf({ state, extra, available = true }: DeviceDescription): string {
  return JSON.stringify([state, available, extra?.state]);
}
