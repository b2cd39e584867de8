import { setTimeout as delay } from "node:timers/promises";
import {
  type DeviceDescription,
  type DeviceImage,
  MantelError,
  type PluginContext,
  PublishedDevices,
  type Static,
  Type,
} from "@mantel/plugin-sdk";
import { Client } from "./client.ts";
import type { Options } from "./options.ts";

/** The time between two pictures of a camera that has no motion JPEG. */
const PICTURE_EVERY_MS = 500;
/** The time between two attempts to reach a server that is away. */
const RETRY_MS = 5_000;
const MOST_NAME_CHARACTERS = 200;

/** The names of the known cameras. */
export const Known = Type.Object({ names: Type.Array(Type.String()) });
type Known = Static<typeof Known>;

/** The streams of a go2rtc server as cameras. The list is read again at each poll. */
export class Cameras {
  readonly #ctx: PluginContext<Options, Known>;
  readonly #client: Client;
  readonly #published: PublishedDevices;
  #names: readonly string[] = [];
  #isReachable = true;
  #shown = "";
  /** Ends the pause before the next poll; replaced when that begins. */
  #pollNow = new AbortController();

  constructor(ctx: PluginContext<Options, Known>) {
    this.#ctx = ctx;
    this.#client = new Client(ctx.config, ctx.signal);
    this.#published = new PublishedDevices(ctx, () => ({
      devices: this.#names.map((name) => cameraOf(name, this.#isReachable)),
      scenes: undefined,
    }));
  }

  get known(): Known {
    return { names: [...this.#names] };
  }

  /** Publishes the cameras that were known before, and follows the list from now on. */
  async start(): Promise<void> {
    const { handedOver, storage, signal, onDispose } = this.#ctx;
    const known = handedOver ?? ((await storage.get("known")) as Known | undefined);
    this.#names = known?.names ?? [];
    this.#isReachable = handedOver !== undefined;
    if (this.#names.length > 0) await this.#published.publish();
    const following = this.#follow(signal);
    onDispose(() => following);
  }

  picture(name: string): Promise<DeviceImage | undefined> {
    return this.#asked(this.#client.picture(name));
  }

  /** Motion JPEG, or one picture after the other of a camera that sends another format. */
  async *frames(name: string, signal: AbortSignal): AsyncGenerator<DeviceImage> {
    yield* this.#client.frames(name, signal);
    while (!signal.aborted) {
      const picture = await this.#client.picture(name);
      if (!picture) return;
      yield picture;
      await delay(PICTURE_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  video(name: string, offer: string): Promise<string> {
    return this.#asked(this.#client.connect(name, offer));
  }

  /** The server is polled at once when a request does not reach it. */
  async #asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof MantelError && error.code === "bridge_down") this.#pollNow.abort();
      throw error;
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#poll();
      await this.#pause(this.#isReachable ? this.#ctx.home.pollSeconds * 1_000 : RETRY_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    const signal = AbortSignal.any([this.#pollNow.signal, this.#ctx.signal]);
    await delay(ms, undefined, { signal }).catch(() => undefined);
    this.#pollNow = new AbortController();
  }

  async #poll(): Promise<void> {
    const { status, signal, log, storage } = this.#ctx;
    try {
      const names = await this.#client.names();
      const before = JSON.stringify(this.known);
      this.#names = names.filter((name) => name !== "" && name.length <= MOST_NAME_CHARACTERS);
      this.#isReachable = true;
      await this.#show();
      status.ok();
      if (JSON.stringify(this.known) !== before) await storage.set("known", this.known);
    } catch (error) {
      if (signal.aborted) return;
      status.degraded((error as Error).message);
      this.#isReachable = false;
      await this.#show().catch((fault: unknown) =>
        log.warn("the cameras could not be published", { error: fault }),
      );
    }
  }

  /** Publishes the cameras if anything has changed. */
  async #show(): Promise<void> {
    const shown = JSON.stringify([this.#names, this.#isReachable]);
    if (shown === this.#shown) return;
    await this.#published.publish();
    this.#shown = shown;
  }
}

function cameraOf(name: string, available: boolean): DeviceDescription {
  return {
    nativeId: name,
    kind: "camera",
    name: spoken(name),
    available,
    image: true,
    live: ["video", "frames"],
    capabilities: {},
    state: {},
  };
}

/** A name such as `front_door` as "Front door". */
function spoken(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").trim() || name;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
