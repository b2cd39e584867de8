import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { build } from "esbuild";
import { hashOf } from "./compile.ts";

/** The folder of the SDK, whose changes concern every module. */
export const SDK_FOLDER = dirname(fileURLToPath(import.meta.resolve("@mantel/plugin-sdk")));

/**
 * Compiles the entry of plugin processes into one file, so that a process starts without a
 * TypeScript loader, and gives its path. Equal sources give an equal path.
 */
export async function compileRuntime(cacheFolder: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(SDK_FOLDER, "runtime", "main.ts")],
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    outfile: join(cacheFolder, "runtime.cjs"),
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
    tsconfigRaw: {},
  });
  const code = outputFiles[0]?.text ?? "";
  const name = `runtime-${hashOf(code)}.cjs`;
  await mkdir(cacheFolder, { recursive: true });
  await removeOthers(cacheFolder, name);
  if (!existsSync(join(cacheFolder, name))) await writeDurably(join(cacheFolder, name), code);
  return join(cacheFolder, name);
}

async function removeOthers(folder: string, keep: string): Promise<void> {
  const stale = (await readdir(folder)).filter(
    (name) => name.startsWith("runtime-") && name !== keep,
  );
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true })));
}
