import { imageTypeOf, type ImageType, MAX_IMAGE_BYTES, type SentImage } from "./device-image.ts";
import { MantelError } from "./errors.ts";

/** A picture whose bytes were checked. */
export interface CheckedImage {
  readonly type: ImageType;
  readonly bytes: Buffer;
}

/**
 * Prepares a picture of a bridge for the host.
 * @throws MantelError `not_found` for a picture that `parseImage` would refuse
 */
export function toSentImage(image: unknown): SentImage {
  const { type, bytes } = (image ?? {}) as { type?: unknown; bytes?: unknown };
  const base64 =
    bytes instanceof Uint8Array
      ? Buffer.from(bytes.buffer, bytes.byteOffset, within(bytes.byteLength)).toString("base64")
      : bytes;
  const sent = parseImage({ type, base64 });
  return { type: sent.type, base64: base64 as string };
}

/**
 * Checks a picture that a plugin's process sent: its size, and that its first bytes are those of its type.
 * @throws MantelError `not_found`, with the reason
 */
export function parseImage(sent: unknown): CheckedImage {
  const { type, base64 } = (sent ?? {}) as { type?: unknown; base64?: unknown };
  if (typeof base64 !== "string") throw unusable("it has no bytes");
  within(Math.floor((base64.length * 3) / 4) - 2); // up to two characters are padding
  const bytes = Buffer.from(base64, "base64");
  within(bytes.length);
  const found = imageTypeOf(bytes);
  if (!found) throw unusable("it is not a JPEG, PNG or WebP picture");
  if (found !== type) throw unusable(`its bytes are ${found}, and its type is ${String(type)}`);
  return { type: found, bytes };
}

function within(bytes: number): number {
  if (bytes <= MAX_IMAGE_BYTES) return bytes;
  const most = MAX_IMAGE_BYTES / 2 ** 20;
  throw unusable(`it has ${bytes} bytes, and a picture may have at most ${most} MiB`);
}

function unusable(reason: string): MantelError {
  return new MantelError("not_found", `the picture cannot be shown: ${reason.slice(0, 200)}`);
}
