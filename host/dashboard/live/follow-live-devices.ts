import { effect } from "@preact/signals-core";
import type { Session } from "../session.ts";

/** Loads the code for live pictures when the home has a device with one. */
export function followLiveDevices({ api, contexts }: Pick<Session, "api" | "contexts">): void {
  let isLoading = false;
  const stop = effect(() => {
    isLoading ||= contexts.allDevices.value.some(({ live }) => live);
    if (!isLoading) return;
    queueMicrotask(() => stop()); // there is nothing to stop in its first run
    void import("./live-picture.ts").then(({ defineLivePicture }) => defineLivePicture(api));
  });
}
