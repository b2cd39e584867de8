// Makes the two packages for authors outside the repository: the SDK as JavaScript with types, and the scaffold.

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { TOOLS, type Versions, WIDGET_TOOLS } from "../../plugin-sdk/create/scaffold.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SDK = join(ROOT, "plugin-sdk");
const CREATE = join(SDK, "create");
const run = promisify(execFile);
/** The start of a reference of types, and its path. */
const REFERENCE = /^(\/\/\/ *<reference path=")([^"]+)/gm;

/** The parts of the SDK for authors. All others belong to the host. */
const PARTS = [
  ...[
    ".",
    "./widget",
    "./widget-settings",
    "./i18n",
    "./ui/*.css",
    "./ui/*",
    "./mqtt",
    "./joined-devices",
  ],
  ...["./vocabulary", "./time", "./services", "./calendar", "./channel", "./device", "./errors"],
  ...["./units", "./client"],
  ...[
    "./testing",
    "./widget-testing",
    "./widget-testing/chromium",
    "./widget-testing/assets",
    "./conformance",
  ],
];
/** Files that the parts reach at run time only. */
const UNSEEN = ["in-widget.ts", "widget-testing/in-page.ts"];

/** JavaScript, because it runs before TypeScript does. */
const ASSETS = "widget-testing/assets.js";

interface SdkManifest {
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Versions;
  readonly peerDependencies: Versions;
}

/** Packs the SDK into a `.tgz` file in `folder`, and returns its path. */
export function packSdk(folder: string): Promise<string> {
  return packed(folder, buildSdk);
}

/** Packs the scaffold, `create-mantel-plugin`, into a `.tgz` file in `folder`, and returns its path. */
export function packCreate(folder: string): Promise<string> {
  return packed(folder, buildCreate);
}

/** Writes the SDK's package into an empty folder, ready for `npm publish`. */
export async function buildSdk(folder: string): Promise<void> {
  const manifest = await readJson<SdkManifest>(join(SDK, "package.json"));
  const exported = Object.entries(manifest.exports).filter(([part]) => PARTS.includes(part));
  const modules = exported.map(([, file]) => file).filter((file) => /^[^*]+\.ts$/.test(file));
  const ui = (await readdir(join(SDK, "ui"))).map((name) => `ui/${name}`);
  await compile(folder, [...modules, ...UNSEEN, ...ui.filter((name) => name.endsWith(".ts"))]);
  const copied = [...ui.filter((each) => each.endsWith(".css")), "assets.d.ts", ASSETS];
  for (const name of copied) {
    await cp(join(SDK, name), join(folder, name));
  }
  await cp(join(SDK, "client/api-types.d.ts"), join(folder, "client/api-types.d.ts"));
  await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  await writeFile(join(folder, "README.md"), README);
  await writeJson(join(folder, "package.json"), publishedManifest(manifest, exported));
}

/** Writes the scaffold's package into an empty folder, ready for `npm publish`. */
export async function buildCreate(folder: string): Promise<void> {
  const { private: _, ...manifest } = await readJson<Record<string, unknown>>(
    join(CREATE, "package.json"),
  );
  const { version } = await readJson<SdkManifest>(join(SDK, "package.json"));
  await build({
    entryPoints: [join(CREATE, "main.ts")],
    outfile: join(folder, "create.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: "#!/usr/bin/env node" },
    define: { BUILT_FOR: JSON.stringify({ sdk: version, versions: await versionsOfTools() }) },
  });
  await cp(join(CREATE, "templates"), join(folder, "templates"), { recursive: true });
  await cp(join(CREATE, "README.md"), join(folder, "README.md"));
  await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  await writeJson(join(folder, "package.json"), { ...manifest, bin: "create.js" });
}

/** The versions of the packages that a new plugin needs, which are those of this repository. */
export async function versionsOfTools(): Promise<Versions> {
  const manifest = await readJson<Record<"dependencies" | "devDependencies", Versions>>(
    join(ROOT, "package.json"),
  );
  const known = { ...manifest.dependencies, ...manifest.devDependencies };
  return Object.fromEntries([...TOOLS, ...WIDGET_TOOLS].map((name) => [name, known[name] ?? "*"]));
}

async function packed(folder: string, write: (folder: string) => Promise<void>): Promise<string> {
  await mkdir(folder, { recursive: true });
  const staging = await mkdtemp(join(tmpdir(), "mantel-pack-"));
  try {
    await write(staging);
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", resolve(folder)];
    const { stdout } = await run("npm", args, { cwd: staging });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    return join(folder, filename);
  } finally {
    await rm(staging, { recursive: true });
  }
}

/** JavaScript and types of these files, and of all that they import, whose types `npm run check` has checked. */
async function compile(folder: string, files: readonly string[]): Promise<void> {
  const settings = await mkdtemp(join(tmpdir(), "mantel-tsc-"));
  const project = join(settings, "tsconfig.json");
  await writeJson(project, {
    extends: join(ROOT, "host/dashboard/tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      allowJs: false,
      rewriteRelativeImportExtensions: true,
      rootDir: SDK,
      outDir: folder,
      lib: ["ES2023", "ES2024.String", "DOM", "DOM.Iterable"],
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
      paths: {},
    },
    files: files.map((file) => join(SDK, file)),
    include: [],
  });
  try {
    await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", project, "--noCheck"]);
  } catch (error) {
    throw new Error(`the SDK does not compile:\n${(error as { stdout: string }).stdout}`, {
      cause: error,
    });
  } finally {
    await rm(settings, { recursive: true });
  }
  await referToPackage(folder);
}

/** Makes the types refer to files of the package, because the compiler refers to those of the repository. */
async function referToPackage(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((each) => each.endsWith(".d.ts"))) {
    const file = join(folder, name);
    const types = await readFile(file, "utf8");
    const inPackage = types.replaceAll(REFERENCE, (_, start: string, path: string) => {
      const source = relative(SDK, resolve(dirname(file), path));
      const target = relative(dirname(name), source).replaceAll(sep, "/");
      return start + (target.startsWith(".") ? target : `./${target}`);
    });
    if (inPackage !== types) await writeFile(file, inPackage);
  }
}

function publishedManifest(
  { version, dependencies, peerDependencies }: SdkManifest,
  exported: readonly (readonly [string, string])[],
): object {
  const entries = exported.map(([part, file]) => {
    const path = file.replace(/\.ts$/, "");
    const isCopied = !file.endsWith(".ts");
    return [part, isCopied ? file : { types: `${path}.d.ts`, default: `${path}.js` }];
  });
  const optional = Object.keys(peerDependencies).map((name) => [name, { optional: true }]);
  return {
    name: "@mantel/plugin-sdk",
    version,
    description: "Everything that a Mantel plugin imports, and its test kits",
    keywords: ["mantel"],
    license: "MIT",
    type: "module",
    engines: { node: ">=20.19" },
    exports: Object.fromEntries(entries),
    dependencies,
    peerDependencies,
    peerDependenciesMeta: Object.fromEntries(optional),
  };
}

const README = `# @mantel/plugin-sdk

Everything that a [Mantel](https://www.npmjs.com/search?q=keywords:mantel-plugin) plugin imports: types, schemas, and
test kits. The host brings its own copy, so a plugin names it under \`peerDependencies\`.

Start with \`npm create mantel-plugin my-plugin\`.
`;

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8")) as T;
}

async function writeJson(path: string, value: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
