import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { build, type BuildFailure } from "esbuild";
import { locationOfText, toReloadFailure } from "./code-frame.ts";

/** Makes of a CommonJS file a function that waits for its `require`, as the runtime calls it. */
export const WRAPPED = {
  banner: { js: "module.exports = function (require, module, exports) {" },
  footer: { js: "};" },
} as const;

/** Bundles of npm packages, each made once and kept under the hash of what it was made from. */
export class VendorCache {
  readonly #folder: string;
  /** Bundles being made: plugins that start together may want the same one. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The path of one file that holds all of `packages` (each with a file that imports it) as seen from
   * `from`, or `undefined` when there are none, or when one of them cannot be bundled and all are loaded
   * from the folder instead.
   *
   * @throws MantelError `reload_failed` when a package is missing
   */
  async bundle(from: string, packages: ReadonlyMap<string, string>): Promise<string | undefined> {
    if (packages.size === 0) return undefined;
    const names = [...packages.keys()].toSorted();
    const file = join(this.#folder, `${await keyOf(from, names)}.cjs`);
    if (existsSync(file)) return file;
    try {
      await this.#makeOnce(file, from, names);
      return file;
    } catch (error) {
      if (isNativeAddon(error)) return undefined;
      throw missing(error, from, packages);
    }
  }

  #makeOnce(file: string, from: string, names: readonly string[]): Promise<void> {
    const underWay = this.#underWay.get(file);
    if (underWay) return underWay;
    const making = make(file, from, names).finally(() => this.#underWay.delete(file));
    this.#underWay.set(file, making);
    return making;
  }
}

async function make(file: string, from: string, names: readonly string[]): Promise<void> {
  const result = await bundlePackages(from, names);
  await mkdir(dirname(file), { recursive: true });
  await writeDurably(file, result); // what was cut off would stay under its name for ever
}

async function bundlePackages(from: string, names: readonly string[]): Promise<string> {
  // A namespace has the exact defaults and names of Node; the mark keeps the plugin's bundle from
  // wrapping it again.
  const entry = names
    .flatMap((name, at) => [
      `import * as package${at} from ${JSON.stringify(name)};`,
      `const export${at} = { ...package${at}, __esModule: true };`,
      `export { export${at} as ${JSON.stringify(name)} };`,
    ])
    .join("\n");
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: from, sourcefile: "vendor.mjs", loader: "js" },
    bundle: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node20",
    mainFields: ["main", "module"],
    conditions: ["node", "import"],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
    define: { "import.meta.url": "__vendorUrl" },
    ...WRAPPED,
    banner: {
      js: `${WRAPPED.banner.js}const __vendorUrl = require("node:url").pathToFileURL(__filename).href;`,
    },
  });
  return outputFiles[0]?.text ?? "";
}

/**
 * Grows another key whenever the packages, or what is installed for the folder, may differ. Plugins
 * for which the same is installed share a bundle.
 */
async function keyOf(from: string, names: readonly string[]): Promise<string> {
  const hash = createHash("sha256").update(`${process.version}\n${names.join("\n")}`);
  for (let folder = from; ; folder = dirname(folder)) {
    const packages = join(folder, "node_modules");
    if (existsSync(packages)) {
      const installed = await readFile(join(packages, ".package-lock.json")).catch(() => "");
      hash.update(`\n${folder}\n`).update(installed);
    }
    if (folder === dirname(folder)) return hash.digest("hex").slice(0, 16);
  }
}

function isNativeAddon(error: unknown): boolean {
  return ((error as Partial<BuildFailure>).errors ?? []).some(({ text }) =>
    text.includes('No loader is configured for ".node" files'),
  );
}

/** The place is that of the import: the build's own is in a file that only it has. */
function missing(error: unknown, from: string, packages: ReadonlyMap<string, string>): Error {
  const failure = toReloadFailure(error, from);
  const [, name] = /Could not resolve "([^"]+)"/.exec(failure.message) ?? [];
  if (name === undefined) return failure;
  const detail = `the package ${name} is not installed; name it under "dependencies" in the package.json in ${from}`;
  const location = locationOfText(packages.get(name) ?? "", name, from);
  return new MantelError("reload_failed", detail, {
    cause: error,
    ...(location ? { location } : {}),
  });
}
