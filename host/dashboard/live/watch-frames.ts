import { MAX_IMAGE_BYTES } from "@mantel/plugin-sdk/device-image";
import { readMotionJpeg } from "@mantel/plugin-sdk/motion-jpeg";
import { Semaphore } from "@mantel/plugin-sdk/semaphore";
import type { Api } from "../api.ts";

/** Browsers open six connections to a host without HTTP/2, and the page needs some of them. */
const places = new Semaphore(3);

/** Draws one picture, and releases it afterwards. */
export type Draw = (picture: ImageBitmap) => void;

/**
 * Follows the live picture of a device as motion JPEG, until `signal` aborts. Waits while the page follows three others
 * in this form.
 * @throws ApiError; NotMotionJpeg; an error for a picture that the browser cannot decode, or when the pictures end
 */
export async function watchFrames(
  api: Pick<Api, "open">,
  id: string,
  { signal, draw }: { readonly signal: AbortSignal; readonly draw: Draw },
): Promise<void> {
  await places.take();
  try {
    signal.throwIfAborted();
    const path = `/smart-home/devices/${encodeURIComponent(id)}/frames`;
    const { body, headers } = await api.open(path, { signal });
    const contentType = headers.get("content-type") ?? "";
    const limits = { contentType, maxBytes: MAX_IMAGE_BYTES };
    for await (const bytes of readMotionJpeg(chunksOf(body), limits)) {
      const picture = await createImageBitmap(new Blob([bytes as Uint8Array<ArrayBuffer>]));
      draw(picture);
      picture.close();
    }
    throw new Error("the live picture has ended");
  } finally {
    places.giveBack();
  }
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (;;) {
      const { value } = (await reader?.read()) ?? {};
      if (!value) return;
      yield value;
    }
  } finally {
    void reader?.cancel().catch(() => undefined); // else the connection would stay open behind a bad picture
  }
}
