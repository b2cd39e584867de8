import { parentPort, workerData } from "node:worker_threads";
import { callHistory, type Notices, type Retention } from "./history.ts";
import { Recorder } from "./recorder.ts";
import { SqliteStorage } from "./sqlite.ts";
import type { FromWorker, ToWorker } from "./worker-history.ts";

// The thread of the database: one call after the other.
const { path, retention } = workerData as { path: string; retention: Retention };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is not a window
const send = (message: FromWorker): void => parentPort?.postMessage(message);
const notices: Notices = {
  warn: (sentence, fields = {}) => send({ kind: "warn", sentence, fields }),
  degraded: (reason) => send({ kind: "degraded", reason }),
};
const recorder = new Recorder(() => SqliteStorage.open(path), retention, notices);

let turn: Promise<unknown> = Promise.resolve();
parentPort?.on("message", (message: ToWorker) => {
  turn = turn.then(() => answer(message));
});

async function answer({ call, method, input }: ToWorker): Promise<void> {
  try {
    const value = await callHistory(recorder, method, input);
    send({ kind: "answer", call, value });
  } catch (error) {
    const { name, message, stack = "" } = error as Error;
    send({ kind: "failure", call, name, message, stack });
  }
}
