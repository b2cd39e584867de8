import { createHash } from "node:crypto";
import { withDeadline } from "@mantel/plugin-sdk/deadline";
import type { SentImage } from "@mantel/plugin-sdk/device-image";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Semaphore } from "@mantel/plugin-sdk/semaphore";
import { type CheckedImage, parseImage } from "@mantel/plugin-sdk/sent-image";
import { type Bridge, type BridgeDirectory, upBridge } from "./bridge.ts";
import type { DeviceRegistry } from "./registry.ts";

/** Requests within this time share one call. */
const SHARED_MS = 1_000;
/** The most pictures that are read from one bridge at once; further requests wait. */
const CALLS_PER_BRIDGE = 4;
/** The most devices whose pictures are read or shared. */
const MOST_IMAGES = 64;
const RETRY_MS = 1_000;

/** A picture under a tag that changes with its bytes. */
export interface TaggedImage extends CheckedImage {
  readonly etag: string;
}

interface Dependencies {
  readonly devices: Pick<DeviceRegistry, "get" | "nativeOf">;
  readonly bridges: BridgeDirectory;
  /** The monotonic time in milliseconds. */
  readonly now?: () => number;
}

interface Shared {
  readonly image: Promise<TaggedImage>;
  readonly since: number;
  isRunning: boolean;
}

/** The pictures of devices. They are read from their bridges on request, and not stored. */
export class DeviceImages {
  readonly #parts: Dependencies;
  readonly #now: () => number;
  /** By device id, the oldest first. */
  readonly #shared = new Map<string, Shared>();
  /** Free calls by bridge id. */
  readonly #slots = new Map<string, Semaphore>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /**
   * The picture of a device now. Requests that come within one second share one call to the bridge, and its failure.
   * @throws MantelError `device_unknown`; `not_found` without a picture; `bridge_down`, `bridge_rate_limited`,
   * `outcome_unknown`, `deadline_passed`
   */
  read(id: string): Promise<TaggedImage> {
    const device = this.#parts.devices.get(id);
    if (!device.image) throw new MantelError("not_found", `${id} has no picture`);
    this.#forgetOld();
    const shared = this.#shared.get(id);
    if (shared) return shared.image;
    if (this.#shared.size >= MOST_IMAGES) throw flooded();
    const image = this.#ask(id);
    const entry = { image, since: this.#now(), isRunning: true };
    this.#shared.set(id, entry);
    const ended = () => {
      entry.isRunning = false;
      this.#forgetSoon();
    };
    image.then(ended, ended);
    return image;
  }

  /** Drops the pictures. */
  close(): void {
    clearTimeout(this.#timer);
    this.#shared.clear();
  }

  async #ask(id: string): Promise<TaggedImage> {
    const { bridgeId, nativeId } = this.#parts.devices.nativeOf(id);
    const bridge = upBridge(this.#parts.bridges, bridgeId);
    const reading = this.#readFrom(bridge, nativeId);
    const sent = await withDeadline(reading, bridge.limits.confirmMs, `the picture of ${id}`);
    if (sent === null) throw new MantelError("not_found", `${id} has no picture yet`);
    const image = parseImage(sent);
    const hash = createHash("sha256").update(image.bytes).digest("base64url");
    return { ...image, etag: `"${hash}"` };
  }

  /** Waits for a free call. */
  async #readFrom(bridge: Bridge, nativeId: string): Promise<SentImage | null> {
    const { id } = bridge.view;
    const slots = this.#slots.get(id) ?? new Semaphore(CALLS_PER_BRIDGE);
    this.#slots.set(id, slots);
    await slots.take();
    try {
      const wait = bridge.ready();
      if (wait) await wait;
      return await bridge.image(nativeId);
    } finally {
      slots.giveBack();
    }
  }

  #forgetOld(): void {
    const now = this.#now();
    for (const [id, { since, isRunning }] of this.#shared) {
      if (!isRunning && now - since >= SHARED_MS) this.#shared.delete(id);
    }
  }

  #forgetSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#forgetOld();
      if ([...this.#shared.values()].some(({ isRunning }) => !isRunning)) this.#forgetSoon();
    }, SHARED_MS).unref();
  }
}

function flooded(): MantelError {
  return new MantelError("bridge_rate_limited", `${MOST_IMAGES} pictures are already being read`, {
    retryAfterMs: RETRY_MS,
  });
}
