import type { Storage } from "@mantel/plugin-sdk";
import type { StoredAnnouncements } from "./announcements.ts";

const KEY = "announcements";
const SAVE_MS = 15_000;

/**
 * The announcements on disk, so that a start without the broker shows the known devices as
 * unavailable.
 */
export async function openDeviceCache(storage: Storage) {
  const stored = await storage.get(KEY);
  const kept = isKept(stored) ? stored : {};

  return {
    kept,
    /** Saves what is kept when its revision has grown: now and then, and at the end. */
    follow(
      current: () => { readonly revision: number; readonly kept: StoredAnnouncements },
    ): () => Promise<void> {
      let saved = current().revision;
      const save = async (): Promise<void> => {
        const { revision, kept: now } = current();
        if (revision === saved) return;
        await storage.set(KEY, now);
        saved = revision;
      };
      // A disk that is full now may not be so at the next time.
      const timer = setInterval(() => void save().catch(() => undefined), SAVE_MS);
      return async () => {
        clearInterval(timer);
        await save();
      };
    },
  };
}

function isKept(value: unknown): value is StoredAnnouncements {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (each: unknown) =>
        typeof each === "object" &&
        each !== null &&
        typeof (each as { text?: unknown }).text === "string" &&
        typeof (each as { retained?: unknown }).retained === "boolean",
    )
  );
}
