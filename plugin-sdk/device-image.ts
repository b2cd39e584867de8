/** The types of pictures that are shown. SVG is not among them, because it can contain scripts. */
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

export const MAX_IMAGE_BYTES = 4 * 2 ** 20;

/** A picture as a bridge returns it. `bytes` may also be their base64 text. */
export interface DeviceImage {
  readonly type: ImageType;
  readonly bytes: Uint8Array | string;
}

/** A picture as it is sent to the host. */
export interface SentImage {
  readonly type: ImageType;
  readonly base64: string;
}

/** A live picture. `number` is higher than that of all earlier ones of its device, also those of an earlier process. */
export interface SentFrame extends SentImage {
  readonly number: number;
}

/** The type that the first bytes of a picture show; `undefined` for one that is not in `IMAGE_TYPES`. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const starts = (signature: readonly number[], at = 0) =>
    signature.every((byte, index) => bytes[at + index] === byte);
  if (starts([0xff, 0xd8, 0xff])) return "image/jpeg";
  if (starts([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  return starts(RIFF) && starts(WEBP, 8) ? "image/webp" : undefined;
}

const RIFF = [0x52, 0x49, 0x46, 0x46];
const WEBP = [0x57, 0x45, 0x42, 0x50];
