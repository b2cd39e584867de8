import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { compiledPath } from "@mantel/plugin-sdk/compiled-code";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { CODE, SAVE, SCHEMA_LIBRARY, START } from "@mantel/plugin-sdk/runtime-files";
import type { BuildOptions } from "esbuild";
import { BuildCache } from "../../build-cache.ts";
import { build } from "../../build-service.ts";
import { builtinsOnUse, isOnUse, ON_USE_FILE } from "../../builtins-on-use.js";
import { WRAPPED } from "../../package-bundle.js";
import { hashOf } from "./code-hash.ts";
import { SDK_FOLDER } from "./esbuild-plugin.ts";
import { isSdkOnUse, SCHEMA_LIBRARY_ENTRY, SDK_ON_USE_FILES, sdkOnUse } from "./sdk-on-use.ts";

/**
 * Few plugins hash or need random bytes, and many store nothing. The modules for it take half and a quarter of a megabyte,
 * and 4 and 1 ms of CPU, of each process.
 */
const BUILTINS_ON_USE = builtinsOnUse(["crypto", "fs/promises"]);

/** In sloppy mode a stack exposes the functions of other code (Error.prepareStackTrace, getFunction). */
const STRICT = '"use strict";';
/** The settings of files that `runCached` runs. */
const LOADED_CODE = { banner: { js: `${STRICT}${WRAPPED.banner.js}` }, footer: WRAPPED.footer };
const SAVE_DEADLINE_MS = 20_000;

/**
 * Compiles the code of plugin processes, so that a process starts without a TypeScript loader and without V8 compiling
 * it again, and returns the path of the first file. Equal sources give an equal path.
 */
export async function compileRuntime(cacheFolder: string): Promise<string> {
  const main = join(SDK_FOLDER, "runtime", "main.ts");
  const built = await new BuildCache(cacheFolder).orMake("runtime", main, async () => {
    const [code, library, first] = await Promise.all([
      compile(main, { ...LOADED_CODE, plugins: [BUILTINS_ON_USE, sdkOnUse] }),
      compile(SCHEMA_LIBRARY_ENTRY, LOADED_CODE),
      compile(join(SDK_FOLDER, "runtime", "start.ts")),
    ]);
    return {
      value: { start: first.value, code: code.value, library: library.value },
      inputs: [...code.inputs, ...library.inputs, ...first.inputs],
    };
  });
  const name = `runtime-${hashOf(built.start + built.code + built.library)}`;
  const folder = join(cacheFolder, name);
  await mkdir(folder, { recursive: true });
  await removeOthers(cacheFolder, { prefix: "runtime-", keep: name });
  for (const [file, text] of [
    [CODE, built.code],
    [SCHEMA_LIBRARY, built.library],
    [START, built.start],
  ] as const) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    if (!existsSync(join(folder, file))) await writeDurably(join(folder, file), text);
  }
  await saveCompiled(folder);
  return join(folder, START);
}

/** Runs the code once and saves what V8 compiled of it. Without that, processes start more slowly. */
async function saveCompiled(folder: string): Promise<void> {
  const files = [CODE, SCHEMA_LIBRARY].map((file) => join(folder, file));
  if (files.every((file) => existsSync(compiledPath(file, dirname(file))))) return;
  const child = spawn(process.execPath, [join(folder, START), SAVE], {
    stdio: ["ignore", "ignore", "ignore", "pipe"], // the fourth is the channel, on which nothing is sent
    env: {},
    timeout: SAVE_DEADLINE_MS,
  });
  await once(child, "exit").catch(() => undefined);
}

/** Compiles a program into one file `<name>-<hash>.cjs` and returns its path. Removes its previous versions. */
export async function compileEntry(
  cacheFolder: string,
  { name, entry }: { name: string; entry: string },
): Promise<string> {
  const code = await new BuildCache(cacheFolder).orMake(name, entry, () => compile(entry));
  const file = `${name}-${hashOf(code)}.cjs`;
  await mkdir(cacheFolder, { recursive: true });
  await removeOthers(cacheFolder, { prefix: `${name}-`, keep: file });
  if (!existsSync(join(cacheFolder, file))) await writeDurably(join(cacheFolder, file), code);
  return join(cacheFolder, file);
}

async function compile(
  entry: string,
  around: Pick<BuildOptions, "banner" | "footer" | "plugins"> = { banner: { js: STRICT } },
): Promise<{ value: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true, // each process keeps the text in memory
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
    tsconfigRaw: {},
    plugins: [BUILTINS_ON_USE],
    ...around,
  });
  const files = Object.keys(metafile.inputs).filter((path) => !isOnUse(path) && !isSdkOnUse(path));
  const inputs = files.map((path) => resolve(path));
  const own = [import.meta.filename, ...SDK_ON_USE_FILES, ON_USE_FILE];
  return { value: outputFiles[0]?.text ?? "", inputs: [...inputs, ...own] };
}

async function removeOthers(
  folder: string,
  { prefix, keep }: { prefix: string; keep: string },
): Promise<void> {
  const stale = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name !== keep);
  await Promise.all(stale.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}
