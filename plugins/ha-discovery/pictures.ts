import { type DeviceImage, imageTypeOf, MAX_IMAGE_BYTES, MantelError } from "@mantel/plugin-sdk";

/** A picture as base64, with room for line breaks. */
export const MAX_PICTURE_PAYLOAD = Math.ceil(MAX_IMAGE_BYTES * 1.4);
const MOST_BYTES = 32 * 2 ** 20;

/** A topic on which pictures come. */
export interface PictureTopic {
  readonly topic: string;
  readonly isBase64: boolean;
}

/** The last picture of each topic, in memory. Beyond 32 MiB in total, those that came first are dropped. */
export class Pictures {
  /** The oldest first. */
  readonly #byTopic = new Map<string, Buffer>();
  #bytes = 0;

  /** Keeps a payload; an empty one removes the picture. */
  take(topic: string, payload: Buffer): void {
    this.#drop(topic);
    if (payload.length === 0) return;
    this.#byTopic.set(topic, payload);
    this.#bytes += payload.length;
    for (const oldest of this.#byTopic.keys()) {
      if (this.#bytes <= MOST_BYTES) return;
      this.#drop(oldest);
    }
  }

  /** Drops the pictures of all other topics. */
  keep(topics: ReadonlySet<string>): void {
    for (const topic of this.#byTopic.keys()) if (!topics.has(topic)) this.#drop(topic);
  }

  /** The last picture; `undefined` before the first. @throws MantelError `not_found` if it cannot be shown */
  read({ topic, isBase64 }: PictureTopic): DeviceImage | undefined {
    const payload = this.#byTopic.get(topic);
    if (!payload) return undefined;
    const bytes = isBase64 ? Buffer.from(payload.toString("latin1"), "base64") : payload;
    const type = imageTypeOf(bytes);
    if (type) return { type, bytes };
    throw new MantelError("not_found", `${topic} has no JPEG, PNG or WebP picture`);
  }

  #drop(topic: string): void {
    this.#bytes -= this.#byTopic.get(topic)?.length ?? 0;
    this.#byTopic.delete(topic);
  }
}
