import { Worker } from "node:worker_threads";
import type { FromThread } from "./protocol.ts";
import type { StartThread } from "./thread.ts";

/** Heap of the thread for the code of all automations. */
const MEMORY_MIB = 64;

/** Starts the thread of automations as code. */
export const startWorker: StartThread = (running, events) =>
  attached(
    new Worker(new URL("./worker.ts", import.meta.url), {
      workerData: { running },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    }),
    events,
  );

/** Passes on the messages and the end of a thread. */
export function attached(
  worker: Worker,
  { message, ended }: Parameters<StartThread>[1],
): ReturnType<StartThread> {
  let reason = "its thread has ended, such as by process.exit()";
  worker.on("message", (sent: FromThread) => message(sent));
  worker.on("error", (error: NodeJS.ErrnoException) => {
    reason =
      error.code === "ERR_WORKER_OUT_OF_MEMORY"
        ? `the code of automations needs more than ${MEMORY_MIB} MiB`
        : `its code failed: ${error.message}`;
  });
  worker.once("exit", () => ended(reason));
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
    post: (sent) => worker.postMessage(sent),
    terminate: () => worker.terminate(),
  };
}
