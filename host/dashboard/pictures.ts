import type { CameraPicture } from "@mantel/plugin-sdk/widget";
import type { Signal } from "@preact/signals-core";

/** Time between two pictures of one camera, counted from the request. A slower answer delays the next request. */
const EVERY_MS = 10_000;

interface Home {
  readonly read: (path: string, signal: AbortSignal) => Promise<Response>;
  /** The time of the home in epoch milliseconds. */
  readonly now: () => number;
}

/** The earliest time of the next request by device, in epoch milliseconds, so that tiles that come and go do not add any. */
const nextAt = new Map<string, number>();

/** Refreshes the picture of a device now and every ten seconds. Returns a function that stops this. */
export function refreshPicture(id: string, picture: Signal<CameraPicture>, home: Home): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    timer = setTimeout(() => void load(), Math.max(0, (nextAt.get(id) ?? 0) - Date.now()));
  };
  const load = async (): Promise<void> => {
    nextAt.set(id, Date.now() + EVERY_MS);
    const before = picture.peek();
    const next = await loadPicture(id, before, { ...home, signal });
    if (signal.aborted) {
      nextAt.delete(id); // the one that was asked for never came
      return;
    }
    picture.value = next;
    if (before.bitmap !== next.bitmap) before.bitmap?.close();
    wait();
  };
  wait();
  return () => {
    clearTimeout(timer);
    ended.abort();
  };
}

async function loadPicture(
  id: string,
  before: CameraPicture,
  { read, now, signal }: Home & { readonly signal: AbortSignal },
): Promise<CameraPicture> {
  try {
    const answer = await read(`/smart-home/devices/${encodeURIComponent(id)}/image`, signal);
    const bitmap = await createImageBitmap(await answer.blob());
    return { bitmap, takenAt: now(), failed: false };
  } catch {
    return { ...before, failed: true };
  }
}
