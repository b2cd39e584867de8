// node host/launch.js [flags]: starts the host from its compiled form, or from the sources if that
// cannot be written, for example in a read-only folder.

import { pathToFileURL } from "node:url";
import { compileHost } from "./compiled.js";

process.on("SIGUSR1", () => undefined); // as in main.ts, which is loaded later if much has to be compiled
const compiled = await compileHost().catch((error) => {
  process.stderr.write(`mantel starts from its sources, which takes longer: ${error.message}\n`);
});
if (compiled === undefined) {
  const { register } = await import("tsx/esm/api");
  register();
  (await import("./main.ts")).begin();
} else {
  await import(pathToFileURL(compiled).href);
}
