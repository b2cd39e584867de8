import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { type Exports, runCached } from "./compiled-code.ts";
import { SAVE, SCHEMA_LIBRARY } from "./files.ts";

let loaded: Exports | undefined;

/** The exports of `schema-library.ts`, whose file is beside the one that contains this code. */
export function loadSchemaLibrary(): Exports {
  loaded ??= load(join(__dirname, SCHEMA_LIBRARY));
  return loaded;
}

function load(file: string): Exports {
  const run = runCached(file, dirname(file), createRequire(file));
  if (argv[2] === SAVE) process.once("exit", () => run.save()); // with all functions that the SDK uses
  return run.exports;
}
