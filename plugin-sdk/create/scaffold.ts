// Writes new plugins: into Mantel's repository, or as packages of their own.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { PLUGIN_ID } from "../plugin-id.ts";

/** The kinds of plugins that can be written. */
export const KINDS = ["bridge", "service", "widget", "automation", "all"] as const;
export type Kind = (typeof KINDS)[number];

/** Versions of packages by name. */
export type Versions = Readonly<Record<string, string>>;

/** Texts of files by path. */
export type Files = Readonly<Record<string, string>>;

/** The packages that a new plugin of its own needs, besides the SDK. */
export const TOOLS = ["@types/node", "oxlint", "tsx", "typescript"];
/** Those that one with a widget needs as well. */
export const WIDGET_TOOLS = ["happy-dom", "lit"];

/** A new plugin. */
export interface NewPlugin {
  readonly id: string;
  readonly kind: Kind;
  /** The folder with the templates. */
  readonly templates: string;
  /** The version of the SDK. */
  readonly sdk: string;
}

/** A new plugin in a folder of its own. */
export interface NewPackage extends NewPlugin {
  /** The versions of `TOOLS` and `WIDGET_TOOLS`. */
  readonly versions: Versions;
  /** Another source of the SDK than the registry, such as `file:vendor/mantel-plugin-sdk-0.1.0.tgz`. */
  readonly sdkSource?: string;
}

interface Described {
  readonly description: string;
  readonly mantel: { readonly widget?: string };
}

const SDK = "@mantel/plugin-sdk";
const SUFFIX = ".template";
/** npm leaves out files with their own names, so templates have others. */
const FINAL_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^gitignore$/, ".gitignore"],
  [/^oxlintrc\.json$/, ".oxlintrc.json"],
  [/^github\//, ".github/"],
  [/^vscode\//, ".vscode/"],
];

/** The compiler settings of the repository tell tests that need the types of a browser by their name. */
const TEST_NAMES: Files = { "test/widget.test.ts": "drawing.test.ts" };

/** @throws Error with a sentence for the user */
export function checkId(id: string): void {
  if (new RegExp(PLUGIN_ID).test(id) && id.length <= 64) return;
  throw new Error(`invalid id "${id}": use lower-case words joined by hyphens`);
}

/** @throws Error with a sentence for the user */
export function checkKind(kind: string): Kind {
  const found = KINDS.find((each) => each === kind);
  if (found) return found;
  throw new Error(`unknown kind ${kind}; use one of ${KINDS.join(", ")}`);
}

/** The files of a plugin in Mantel's repository, and of its tests, which are in another folder. */
export async function repositoryFiles(plugin: NewPlugin): Promise<{ own: Files; tests: Files }> {
  const { id, sdk } = plugin;
  const { described, files } = await readKind(plugin, `../../../plugins/${id}`);
  const { description, mantel } = described;
  const dependencies = { [SDK]: sdk };
  const manifest = {
    ...{ name: `@mantel/${id}`, version: "0.1.0", private: true, description },
    ...{ license: "MIT", type: "module", dependencies, mantel },
  };
  const isTest = (path: string) => path.startsWith("test/");
  const tests = Object.entries(files).filter(([path]) => isTest(path));
  return {
    own: {
      ...Object.fromEntries(Object.entries(files).filter(([path]) => !isTest(path))),
      "package.json": toJson(manifest),
    },
    tests: Object.fromEntries(
      tests.map(([path, text]) => [TEST_NAMES[path] ?? basename(path), text]),
    ),
  };
}

/** The files of a plugin in a folder of its own. */
async function packageFiles(plugin: NewPackage): Promise<Files> {
  const { described, files } = await readKind(plugin, "..");
  const { "DEVELOP.md": develop = "", ...common } = await readTemplates(
    join(plugin.templates, "package"),
    placeholders(plugin, ".."),
  );
  return {
    ...common,
    ...files,
    "README.md": `${files["README.md"]}${develop}`,
    "package.json": toJson(packageManifest(plugin, described)),
  };
}

/** Writes files below a folder. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/**
 * Writes a plugin into a folder that is empty or does not exist, as a Git repository unless it is inside one.
 * @throws Error with a sentence for the user
 */
export async function createPackage(
  folder: string,
  plugin: Omit<NewPackage, "id">,
): Promise<string> {
  const id = basename(folder);
  checkId(id);
  const existing = await readdir(folder).catch(() => []);
  if (existing.length > 0) throw new Error(`${folder} already exists and is not empty`);
  await writeFiles(folder, await packageFiles({ ...plugin, id }));
  await initRepository(folder);
  return id;
}

async function initRepository(folder: string): Promise<void> {
  for (let above = folder; above !== dirname(above); above = dirname(above)) {
    if (existsSync(join(above, ".git"))) return;
  }
  // Git is optional: without it the plugin is not a repository.
  await promisify(execFile)("git", ["init", "--quiet"], { cwd: folder }).catch(() => undefined);
}

function packageManifest(
  { id, sdk, sdkSource, versions }: NewPackage,
  { description, mantel }: Described,
): object {
  const tools = mantel.widget === undefined ? TOOLS : [...TOOLS, ...WIDGET_TOOLS];
  const packages = tools.map((name) => [name, versions[name] ?? "*"] as const);
  const own = sdkSource === undefined ? [] : [[SDK, sdkSource] as const];
  return {
    name: packageName(id),
    version: "0.1.0",
    description,
    keywords: ["mantel-plugin"],
    license: "MIT",
    type: "module",
    engines: { mantel: `>=${sdk}`, node: ">=20.19" },
    files: ["*.ts", "README.md", "icon.svg"],
    scripts: {
      check: "tsc && oxlint",
      test: `npm run check && node --import tsx --import ${SDK}/widget-testing/assets --test test/*.test.ts`,
    },
    peerDependencies: { [SDK]: `^${sdk}` },
    devDependencies: Object.fromEntries([...own, ...packages]),
    mantel,
  };
}

const packageName = (id: string): string => `mantel-plugin-${id}`;

const toJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

async function readKind(
  plugin: NewPlugin,
  root: string,
): Promise<{ described: Described; files: Files }> {
  const folder = join(plugin.templates, plugin.kind);
  const { "mantel.json": described = "{}", ...files } = await readTemplates(
    folder,
    placeholders(plugin, root),
  );
  return { described: JSON.parse(described) as Described, files };
}

async function readTemplates(folder: string, values: Files): Promise<Files> {
  const names = await readdir(folder, { recursive: true });
  const templates = names.filter((name) => name.endsWith(SUFFIX));
  const read = templates.map(async (name) => {
    const text = await readFile(join(folder, name), "utf8");
    const path = name.slice(0, -SUFFIX.length).replaceAll("\\", "/");
    const final = FINAL_NAMES.reduce((given, [from, to]) => given.replace(from, to), path);
    return [final, text.replace(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? "")] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** `root` is the way from a test to the plugin's folder. */
function placeholders({ id }: NewPlugin, root: string): Files {
  const words = id.replaceAll("-", " ");
  return {
    id,
    root,
    name: packageName(id),
    title: words.charAt(0).toUpperCase() + words.slice(1),
    /** One word, for the bridge kind in device ids. */
    word: id
      .replace(/-bridge$/, "")
      .replaceAll("-", "")
      .slice(0, 31),
  };
}
