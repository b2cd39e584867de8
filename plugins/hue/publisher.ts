import type {
  DeviceDescription,
  DeviceUpdate,
  PluginContext,
  SceneDescription,
} from "@mantel/plugin-sdk";

/** Tells the host what there is, and after that what has changed, and nothing twice. */
export class Publisher {
  readonly #ctx: Pick<PluginContext<never, never>, "devices" | "scenes" | "log">;
  /** The last published state: descriptions of all devices, their changing parts, and the scenes. */
  #shape: string | undefined;
  #moments = new Map<string, string>();
  #scenes = "[]";
  #taken: Promise<unknown> = Promise.resolve();

  constructor(ctx: Pick<PluginContext<never, never>, "devices" | "scenes" | "log">) {
    this.#ctx = ctx;
  }

  /** Resolves when the host has taken, or refused, what was shown so far. */
  async taken(): Promise<void> {
    await this.#taken;
  }

  /** True when there are other devices now, or they are others. */
  show(devices: readonly DeviceDescription[], scenes: readonly SceneDescription[]): boolean {
    const shape = JSON.stringify(
      devices.map(({ state: _state, available: _available, ...rest }) => rest),
    );
    const isOther = shape !== this.#shape;
    if (isOther) {
      this.#shape = shape;
      this.#accepted(this.#ctx.devices.publish(devices), () => (this.#shape = undefined));
    } else {
      this.#ctx.devices.update(...devices.flatMap((device) => this.#updateOf(device) ?? []));
    }
    this.#moments = new Map(devices.map((device) => [device.nativeId, momentOf(device)]));
    this.#showScenes(scenes);
    return isOther;
  }

  #updateOf(device: DeviceDescription): DeviceUpdate | undefined {
    const { nativeId, state, available = true } = device;
    const isSame = this.#moments.get(nativeId) === momentOf(device);
    return isSame ? undefined : { nativeId, state, available };
  }

  #showScenes(scenes: readonly SceneDescription[]): void {
    const text = JSON.stringify(scenes);
    if (text === this.#scenes) return;
    this.#scenes = text;
    this.#accepted(this.#ctx.scenes.publish(scenes), () => (this.#scenes = ""));
  }

  /** A failed update is published again at the next change. */
  #accepted(published: Promise<void>, undo: () => void): void {
    const settled = published.catch((error: unknown) => {
      undo();
      this.#ctx.log.error("the host did not take what the bridges have", { error });
    });
    this.#taken = Promise.all([this.#taken, settled]);
  }
}

function momentOf({ state, available = true }: DeviceDescription): string {
  return JSON.stringify([state, available]);
}
