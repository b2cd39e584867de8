import { inOrder } from "./in-order.ts";
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
