import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { BuildFailure } from "esbuild";
import { build } from "../../build-service.ts";
import { hashOf } from "./code-hash.ts";
import { type CompiledWorkers, importMeta, ownAliases, NO_SDK } from "./esbuild-plugin.ts";
import { NATIVE_PACKAGES } from "./native-packages.ts";
import { sourceBoundary } from "./source-boundary.ts";

/** `new Worker(new URL("./file.ts", import.meta.url)`, up to the end of the URL. */
const NEW_WORKER =
  /(\bnew\s+Worker\s*\(\s*)new\s+URL\(\s*(["'])(\.{1,2}\/[^"'\n]+\.[cm]?[jt]s)\2\s*,\s*import\.meta\.url\s*,?\s*\)/g;

/** The names of compiled worker threads in a bundle. */
export const WORKER_FILE = /[0-9a-f]{16}\.worker\.mjs/g;

interface Workers {
  readonly folder: string;
  /** The folder for the compiled files. */
  readonly outdir: string;
  /** Receives the plugin's own source files in worker threads. */
  readonly inputs: Set<string>;
}

/**
 * Compiles the files of worker threads that a source file starts, each with its packages into one file, and
 * returns the source with the addresses of those. Lines keep their numbers.
 */
export async function compileWorkers(
  path: string,
  source: string,
  workers: Workers,
): Promise<CompiledWorkers> {
  if (!/\bnew\s+Worker\b/.test(source)) return { source };
  const addresses = new Map<string, string>();
  for (const [text, opening = "", , file = ""] of source.matchAll(NEW_WORKER)) {
    const entry = resolve(dirname(path), file);
    if (!existsSync(entry))
      return { errors: [{ text: `the worker thread ${file} does not exist` }] };
    try {
      const lines = "\n".repeat(text.split("\n").length - opening.split("\n").length);
      const address = JSON.stringify(await compileWorker(entry, workers));
      addresses.set(text, `${opening}new URL(${address}${lines})`);
    } catch (error) {
      const { errors } = error as Partial<BuildFailure>;
      if (!errors) throw error;
      return { errors };
    }
  }
  return { source: source.replace(NEW_WORKER, (text) => addresses.get(text) ?? text) };
}

async function compileWorker(entry: string, { folder, outdir, inputs }: Workers): Promise<string> {
  const required = JSON.stringify(join(folder, "package.json"));
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    outdir,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
    tsconfigRaw: {},
    loader: { ".wasm": "binary" },
    banner: {
      js: `import { createRequire as mantelRequire } from "node:module"; const require = mantelRequire(${required});`,
    },
    define: {
      "import.meta.url": "__mantelUrl",
      "import.meta.filename": "__mantelFilename",
      "import.meta.dirname": "__mantelDirname",
    },
    plugins: [
      sourceBoundary(folder, () => false),
      NO_SDK,
      ownAliases(folder),
      NATIVE_PACKAGES,
      importMeta,
    ],
  });
  for (const input of Object.keys(metafile.inputs).map((path) => resolve(path))) {
    if (input.startsWith(folder + sep) && !input.includes(`${sep}node_modules${sep}`))
      inputs.add(input);
  }
  const code = outputFiles[0]?.text ?? "";
  const file = join(outdir, `${hashOf(code)}.worker.mjs`);
  await mkdir(outdir, { recursive: true });
  if ((await readFile(file, "utf8").catch(() => "")) !== code) await writeFile(file, code);
  return pathToFileURL(file).href;
}
