import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { build } from "esbuild";
import { Built } from "../../built.ts";
import { hashOf } from "./compile.ts";
import { SDK_FOLDER } from "./own-sources.ts";

/**
 * Compiles the entry of plugin processes into one file, so that a process starts without a
 * TypeScript loader, and gives its path. Equal sources give an equal path.
 */
export async function compileRuntime(cacheFolder: string): Promise<string> {
  const entry = join(SDK_FOLDER, "runtime", "main.ts");
  const code = await new Built(cacheFolder).orMake("runtime", entry, () => compile(entry));
  const name = `runtime-${hashOf(code)}.cjs`;
  await mkdir(cacheFolder, { recursive: true });
  await removeOthers(cacheFolder, name);
  if (!existsSync(join(cacheFolder, name))) await writeDurably(join(cacheFolder, name), code);
  return join(cacheFolder, name);
}

async function compile(entry: string): Promise<{ value: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    minifySyntax: true,
    metafile: true,
    logLevel: "silent",
    tsconfigRaw: {},
  });
  const inputs = Object.keys(metafile.inputs).map((path) => resolve(path));
  return { value: outputFiles[0]?.text ?? "", inputs: [...inputs, import.meta.filename] };
}

async function removeOthers(folder: string, keep: string): Promise<void> {
  const stale = (await readdir(folder)).filter(
    (name) => name.startsWith("runtime-") && name !== keep,
  );
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
}
