import { SerialQueue } from "@mantel/plugin-sdk";
import { callHistory, type History, historyThrough } from "./history.ts";
import { recorderWith } from "./plugin.ts";
import { PostgresStorage } from "./postgres.ts";
import { Recorder } from "./recorder.ts";
import { startWorkerHistory } from "./worker-history.ts";

/** Records the home in a file, or in PostgreSQL. */
export default recorderWith(({ file, retention, url, password }, notices) => {
  if (url === undefined) return startWorkerHistory(file, retention, notices);
  const config = { connectionString: url, ...(password === undefined ? {} : { password }) };
  return inOrder(new Recorder(() => PostgresStorage.open(config), retention, notices));
});

/** A history whose calls are done one after the other, as a worker thread does them. */
function inOrder(history: History): History {
  const queue = new SerialQueue();
  return historyThrough(
    <T>(method: keyof History, input?: unknown) =>
      queue.take(() => callHistory(history, method, input)) as Promise<T>,
  );
}
