import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { type PluginPackage, readManifest } from "../modules/manifest/manifest.ts";

const MAX_README_BYTES = 256 * 2 ** 10;
const MAX_ICON_BYTES = 256 * 2 ** 10;
const MAX_PACKAGE_BYTES = 256 * 2 ** 10;
const MAX_LOCK_BYTES = 16 * 2 ** 20;
const MAX_TEXT = 500;
const README = /^readme(\.(md|markdown|txt))?$/i;
const ICON_TYPES: Readonly<Record<string, string>> = {
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webp": "image/webp",
};

/** The facts about a package in its folder. */
export interface PackageFacts {
  /** Absent if the folder is not a valid plugin now. */
  readonly manifest: Manifest | undefined;
  readonly description: string;
  /** File names; `undefined` without one. */
  readonly readme: string | undefined;
  readonly icon: string | undefined;
  /** Names of dependencies that have install scripts. */
  readonly scripts: readonly string[];
}

/** Reads the facts about a package; all of them are missing for a folder that does not exist. */
export async function readFacts(folder: string): Promise<PackageFacts> {
  const names = (await readdir(folder).catch((): string[] => [])).toSorted();
  const icon = names.find((name) => name.startsWith("icon.") && typeOfIcon(name) !== undefined);
  const content = await readJson(join(folder, "package.json"), MAX_PACKAGE_BYTES);
  const { description } = content as { description?: unknown };
  const plugin: PluginPackage | undefined = await readManifest(folder).catch(() => undefined);
  return {
    manifest: plugin?.manifest,
    description: typeof description === "string" ? description.slice(0, MAX_TEXT) : "",
    readme: names.find((name) => README.test(name)),
    icon,
    scripts: await readScripts(folder),
  };
}

/** The README as text. @throws MantelError `not_found` without one */
export async function readReadme(folder: string): Promise<string> {
  const name = (await readdir(folder).catch(() => [])).find((each) => README.test(each));
  const bytes =
    name === undefined ? undefined : await readFileAt(join(folder, name), MAX_README_BYTES);
  if (bytes) return bytes.toString("utf8");
  throw new MantelError(
    "not_found",
    `the plugin has no README of at most ${MAX_README_BYTES} bytes`,
  );
}

/** The icon: `icon.svg`, `icon.png` or `icon.webp`. @throws MantelError `not_found` without one */
export async function readIcon(folder: string): Promise<{ type: string; bytes: Buffer }> {
  const { icon = "" } = await readFacts(folder);
  const bytes = icon === "" ? undefined : await readFileAt(join(folder, icon), MAX_ICON_BYTES);
  const type = typeOfIcon(icon);
  if (bytes && type !== undefined) return { type, bytes };
  throw new MantelError("not_found", `the plugin has no icon of at most ${MAX_ICON_BYTES} bytes`);
}

function typeOfIcon(name: string): string | undefined {
  const end = extname(name);
  return Object.hasOwn(ICON_TYPES, end) ? ICON_TYPES[end] : undefined;
}

/** npm notes in its own lock file which packages have install scripts. */
async function readScripts(folder: string): Promise<string[]> {
  const lock = await readJson(join(folder, "node_modules/.package-lock.json"), MAX_LOCK_BYTES);
  const { packages } = lock as {
    packages?: Readonly<Record<string, { hasInstallScript?: boolean }>>;
  };
  const withScripts = Object.entries(packages ?? {}).filter(([, each]) => each.hasInstallScript);
  const names = withScripts.map(([path]) => path.slice(path.lastIndexOf("node_modules/") + 13));
  return [...new Set(names)].toSorted();
}

async function readJson(file: string, maxBytes: number): Promise<object> {
  try {
    const value = JSON.parse(
      (await readFileAt(file, maxBytes))?.toString("utf8") ?? "{}",
    ) as unknown;
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** The bytes of a plain file; `undefined` if it is missing, a link or too large. */
async function readFileAt(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (!file) return undefined;
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= maxBytes ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
