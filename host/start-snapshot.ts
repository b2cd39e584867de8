// The program of a snapshot of the host's process (`node --build-snapshot`): loads the compiled host. A process that
// begins with the snapshot has its code loaded, and only begins.
import crypto from "node:crypto";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { startupSnapshot } from "node:v8";
import { mapStacks } from "./compiled-stacks.ts";
import { loadCompiled, sourcesOf } from "./load-compiled.ts";
import { begunFile, takeNodeInUse } from "./snapshot.ts";
import { compiledName } from "./source-fingerprint.js";

const base = __filename.replace(/\.snapshot\.cjs$/, "");

startupSnapshot.setDeserializeMainFunction(
  beginWith(withoutRandomness(() => loadCompiled(base).main)),
);

function beginWith(main: { begin(): void }): () => void {
  return () => {
    rmSync(begunFile(base), { force: true });
    const isCurrent = base.endsWith(compiledName());
    if (!isCurrent) return createRequire(import.meta.url)("./start-from-files.cjs");
    takeNodeInUse();
    mapStacks(sourcesOf(base));
    return main.begin();
  };
}

/** Runs code that may not draw random bytes: they, and those that Node draws ahead, would be the same in each process. */
function withoutRandomness<T>(work: () => T): T {
  const names = Object.keys(crypto).filter((name) => name.startsWith("random"));
  const drawing = Object.fromEntries(names.map((name) => [name, Reflect.get(crypto, name)]));
  const refuse = () => {
    throw new Error("code that draws random bytes while it is loaded is not part of a snapshot");
  };
  for (const name of names) Reflect.set(crypto, name, refuse);
  try {
    return work();
  } finally {
    Object.assign(crypto, drawing);
  }
}
