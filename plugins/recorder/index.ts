import { recorderWith } from "./plugin.ts";
import { startWorkerHistory } from "./worker-history.ts";

/** Records the home in a file. */
export default recorderWith(({ file, retention }, notices) =>
  startWorkerHistory(file, retention, notices),
);
