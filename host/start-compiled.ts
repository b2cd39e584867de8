// The first of the files that the host is compiled to: runs the others, its packages and its sources.
import { fileURLToPath } from "node:url";
import { mapStacks } from "./compiled-stacks.ts";
import { loadCompiled, sourcesOf } from "./load-compiled.ts";
import { saveSnapshot, takeSnapshotFor } from "./snapshot.ts";

/** A start is over by then, and the first visit of the dashboard too. */
const SNAPSHOT_AFTER_MS = 30_000;

const base = fileURLToPath(import.meta.url).replace(/\.mjs$/, "");
const snapshotFor = takeSnapshotFor();
mapStacks(sourcesOf(base));
const { main, wasCompiled, save } = loadCompiled(base);
main.begin();
// Once the host is ready, because most of what a start runs is first called then.
void main.whenReady.then(() => {
  save();
  // Not at a first start, nor where no file is kept, such as in a container.
  if (snapshotFor === undefined || !wasCompiled) return;
  setTimeout(() => void saveSnapshot(base, snapshotFor), SNAPSHOT_AFTER_MS).unref();
});
