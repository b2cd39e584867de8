import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { BuildFailure } from "esbuild";
import { whileBuilding } from "../../build-service.ts";
import { bundlePackages, ON_DEMAND } from "../../package-bundle.js";
import { locationOfText } from "../errors/code-frame.ts";
import { toReloadFailure } from "./compiler-errors.ts";
import { NATIVE_PACKAGES } from "./native-packages.ts";
import { sourceBoundary } from "./source-boundary.ts";

/** Part of the name of each bundle: a change of how bundles are made makes them all again. */
const FORMAT = 4;

/** Bundles of npm packages, each built once and stored under the hash of its inputs. */
export class VendorCache {
  readonly #folder: string;
  /** Bundles being built: plugins that start together may need the same one. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** The files that each plugin uses or has just asked for. */
  readonly #used = new Map<string, Set<string>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The path of one file with all of `packages` (names as for `bundlePackages`, each with a file that imports it) as seen from
   * `from`, the folder of `id`. `undefined` if there are none, or if one of them cannot be bundled
   * and all are loaded from the folder instead.
   *
   * @throws MantelError `reload_failed` if a package is missing
   */
  async bundle(
    id: string,
    from: string,
    packages: ReadonlyMap<string, string>,
  ): Promise<string | undefined> {
    if (packages.size === 0) return undefined;
    const names = [...packages.keys()].toSorted();
    const file = join(this.#folder, `${await keyOf(from, names)}.cjs`);
    this.#usedBy(id).add(file); // before the file is looked up, so that no pruning removes it
    if (existsSync(file)) return file;
    try {
      await this.#makeOnce(file, from, names);
      return file;
    } catch (error) {
      this.#usedBy(id).delete(file);
      if (isNativeAddon(error)) return undefined;
      throw missing(error, from, packages);
    }
  }

  /** Sets the files that the plugin uses. Returns true if it stopped using others. */
  uses(id: string, files: readonly (string | undefined)[]): boolean {
    const before = this.#usedBy(id);
    const now = new Set(files.filter((file) => file !== undefined));
    this.#used.set(id, now);
    return [...before].some((file) => !now.has(file));
  }

  /** Removes the bundles that no plugin uses and that are not in `others`, with their compiled code. */
  async prune(others: readonly string[]): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const usedFiles = [...this.#used.values()].flatMap((files) => [...files]).concat(others);
    const keptNames = usedFiles.map((file) => basename(file));
    const stale = names.filter((name) => !keptNames.some((keptName) => name.startsWith(keptName)));
    await Promise.all(stale.map((name) => rm(join(this.#folder, name), { force: true })));
  }

  #usedBy(id: string): Set<string> {
    const files = this.#used.get(id) ?? new Set();
    this.#used.set(id, files);
    return files;
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
  const plugins = [NATIVE_PACKAGES, sourceBoundary(from, () => false)];
  const result = await whileBuilding(() => bundlePackages(from, names, [], plugins));
  await mkdir(dirname(file), { recursive: true });
  await writeDurably(file, result); // a truncated file would stay under its name for ever
}

/**
 * The cache key. It changes when the packages, or their installed versions, may have changed. Plugins
 * with the same packages installed share a bundle.
 */
async function keyOf(from: string, names: readonly string[]): Promise<string> {
  const hash = createHash("sha256").update(`${FORMAT}\n${process.version}\n${names.join("\n")}`);
  for (let folder = from; ; folder = dirname(folder)) {
    const packages = join(folder, "node_modules");
    if (existsSync(packages)) {
      const installed = await readFile(join(packages, ".package-lock.json")).catch(() => "");
      hash.update(`\n${realpathSync(packages)}\n`).update(installed);
    }
    if (folder === dirname(folder)) return hash.digest("hex").slice(0, 16);
  }
}

function isNativeAddon(error: unknown): boolean {
  return ((error as Partial<BuildFailure>).errors ?? []).some(({ text }) =>
    text.includes('No loader is configured for ".node" files'),
  );
}

/** The error for a missing package. Its location is the import; esbuild's own location is in a generated file. */
function missing(error: unknown, from: string, packages: ReadonlyMap<string, string>): Error {
  const failure = toReloadFailure(error, from);
  const [message] = (error as Partial<BuildFailure>).errors ?? [];
  const [, name] = /Could not resolve "([^"]+)"/.exec(message?.text ?? "") ?? [];
  if (name === undefined) return failure;
  const detail = `the package ${name} is not installed; name it under "dependencies" in the package.json in ${from}`;
  const importer = packages.get(name) ?? packages.get(ON_DEMAND + name) ?? "";
  const location = locationOfText(importer, name, from);
  return new MantelError("reload_failed", detail, {
    cause: error,
    ...(location ? { location } : {}),
  });
}
