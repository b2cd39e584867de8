import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { BuildCache } from "../../build-cache.ts";
import { build } from "../../build-service.ts";
import { hashOf } from "./code-hash.ts";
import { SDK_FOLDER } from "./esbuild-plugin.ts";

/**
 * Compiles the entry of plugin processes into one file, so that a process starts without a
 * TypeScript loader, and returns its path. Equal sources give an equal path.
 */
export function compileRuntime(cacheFolder: string): Promise<string> {
  const entry = join(SDK_FOLDER, "runtime", "main.ts");
  return compileEntry(cacheFolder, { name: "runtime", entry });
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

async function compile(entry: string): Promise<{ value: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    banner: { js: '"use strict";' }, // in sloppy mode a stack exposes the functions of other code (Error.prepareStackTrace, getFunction)
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true, // each process keeps the text in memory
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
    tsconfigRaw: {},
  });
  const inputs = Object.keys(metafile.inputs).map((path) => resolve(path));
  return { value: outputFiles[0]?.text ?? "", inputs: [...inputs, import.meta.filename] };
}

async function removeOthers(
  folder: string,
  { prefix, keep }: { prefix: string; keep: string },
): Promise<void> {
  const stale = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name !== keep);
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
}
