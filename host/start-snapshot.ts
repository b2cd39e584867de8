// The program of a snapshot of the host's process (`node --build-snapshot`): loads the compiled host. A process that
// begins with the snapshot has its code loaded, and only begins.
import crypto from "node:crypto";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { startupSnapshot } from "node:v8";
import { mapStacks } from "./compiled-stacks.ts";
import { loadCompiled, sourcesOf } from "./load-compiled.ts";
import type * as Main from "./main.ts";
import { startingFile, takeSnapshotFor } from "./snapshot.ts";
import { compiledName } from "./source-fingerprint.js";

const base = __filename.replace(/\.snapshot\.cjs$/, "");

void makeSnapshot();

async function makeSnapshot(): Promise<void> {
  const endLoading = refuseRandomness();
  const { main } = loadCompiled(base);
  await main.loadHost();
  endLoading();
  startupSnapshot.setDeserializeMainFunction(beginWith(main));
}

function beginWith(main: typeof Main): () => void {
  return () => {
    rmSync(startingFile(base), { force: true });
    const isCurrent = base.endsWith(compiledName());
    if (!isCurrent) return createRequire(import.meta.url)("./start-from-files.cjs");
    takeSnapshotFor();
    mapStacks(sourcesOf(base));
    return main.begin();
  };
}

/**
 * Refuses to draw random bytes until the returned function is called: what is drawn while code is loaded would be the
 * same in each process, and so would be the values that Node draws ahead.
 */
function refuseRandomness(): () => void {
  let isLoading = true;
  for (const name of Object.keys(crypto).filter((each) => each.startsWith("random"))) {
    const draw = Reflect.get(crypto, name) as (...args: unknown[]) => unknown;
    Reflect.set(crypto, name, (...args: unknown[]) => {
      if (isLoading) throw new Error(`${name} is called by code that is loaded into a snapshot`);
      return draw(...args);
    });
  }
  return () => (isLoading = false);
}
