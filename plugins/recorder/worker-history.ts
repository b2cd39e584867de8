import { Worker } from "node:worker_threads";
import { type History, historyThrough, type Notices, type Retention } from "./history.ts";
import { StorageUnusable } from "./storage.ts";

/** A call of the worker thread. */
export interface ToWorker {
  readonly call: number;
  readonly method: keyof History;
  readonly input: unknown;
}

/** A message of the worker thread. */
export type FromWorker =
  | { readonly kind: "answer"; readonly call: number; readonly value: unknown }
  | {
      readonly kind: "failure";
      readonly call: number;
      readonly name: string;
      readonly message: string;
      readonly stack: string;
    }
  | { readonly kind: "warn"; readonly sentence: string; readonly fields: Record<string, unknown> }
  | { readonly kind: "degraded"; readonly reason: string | undefined };

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A history in a SQLite file, in a thread of its own: SQLite works synchronously. If the thread dies, so does the
 * plugin's process, and the host starts it again.
 */
export function startWorkerHistory(path: string, retention: Retention, notices: Notices): History {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: { path, retention },
  });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  worker.on("message", (message: FromWorker) => {
    if (message.kind === "warn") return notices.warn(message.sentence, message.fields);
    if (message.kind === "degraded") return notices.degraded(message.reason);
    const { resolve, reject } = waiting.get(message.call) ?? {};
    waiting.delete(message.call);
    if (message.kind === "answer") resolve?.(message.value as never);
    else reject?.(errorOf(message));
  });
  worker.on("error", (error) => {
    throw error;
  });
  const call = <T>(method: keyof History, input?: unknown): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
      worker.postMessage({ call: last, method, input } satisfies ToWorker);
    });
  return {
    ...historyThrough(call),
    async close() {
      await call("close");
      await worker.terminate();
    },
  };
}

function errorOf(failure: Extract<FromWorker, { kind: "failure" }>): Error {
  const { name, message, stack } = failure;
  if (name === "StorageUnusable") return new StorageUnusable(message);
  return Object.assign(new Error(message), { name, stack });
}
