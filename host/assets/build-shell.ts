import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build as bundle, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import type { Built } from "../built.ts";
import { appFiles } from "./app-files.ts";
import { type Asset, ICONS, TYPES } from "./asset.ts";

const DASHBOARD = fileURLToPath(new URL("../dashboard/", import.meta.url));
const PAGE = join(DASHBOARD, "index.html");
const MAIN = /^main\..*\.js$/;

/** Something of the shell as it is kept on the disk. */
interface ShellFile {
  readonly path: string;
  readonly base64: string;
  /** Code that the page's script needs before it can start. */
  readonly needed: boolean;
}

/**
 * Builds the dashboard's shell, or gives what an earlier host made of the very same files: the page,
 * and its scripts, style sheet and fonts under names that change with their content. What the code
 * imports by `import()` is a script of its own, loaded when it is used. Keys are paths, such as `/`
 * and `/assets/main.3f2a….js`.
 */
export async function buildShell(built: Built): Promise<Map<string, Asset>> {
  const files = await built.orMake("shell", PAGE, compile);
  const assets = new Map(files.map(({ path, base64 }) => [path, immutable(path, base64)]));
  const body = await page(files);
  return assets.set("/", { body, type: "text/html; charset=utf-8", immutable: false });
}

async function compile(): Promise<{ value: ShellFile[]; inputs: string[] }> {
  const entries = [join(DASHBOARD, "main.ts"), join(DASHBOARD, "shell.css")];
  const [shell, early, app] = await Promise.all([
    bundle({ ...OPTIONS, entryPoints: entries, format: "esm", splitting: true }),
    bundle({ ...OPTIONS, entryPoints: [join(DASHBOARD, "early.ts")], format: "iife" }),
    appFiles(DASHBOARD),
  ]);
  const outputFiles = [...shell.outputFiles, ...early.outputFiles];
  const needed = neededBy(MAIN, shell.metafile.outputs);
  const value = [
    ...outputFiles.map(({ path, contents }) => ({
      path,
      base64: toBase64(contents),
      needed: needed.includes(basename(path)),
    })),
    ...app.files.map((file) => ({ ...file, needed: false })),
  ];
  const sources = { ...shell.metafile.inputs, ...early.metafile.inputs };
  const inputs = Object.keys(sources).map((path) =>
    resolve(DASHBOARD, path.replace(/^css-text:/, "")),
  );
  return { value, inputs: [...inputs, ...app.inputs, import.meta.filename] };
}

/** The names of the scripts that a script imports before it runs: what it shares with later ones. */
function neededBy(main: RegExp, outputs: Metafile["outputs"]): string[] {
  const [, script] = Object.entries(outputs).find(([path]) => main.test(basename(path))) ?? [];
  const imports = script?.imports.filter(({ kind }) => kind === "import-statement") ?? [];
  return imports.map(({ path }) => basename(path));
}

/** Style sheets that code imports are its text; those that style sheets import are bundled. */
const cssText: Plugin = {
  name: "css-text",
  setup(build) {
    build.onResolve({ filter: /\.css$/ }, ({ kind, path, importer }) =>
      kind === "import-statement"
        ? { path: createRequire(importer).resolve(path), namespace: "css-text" }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "css-text" }, async ({ path }) => ({
      contents: await readFile(path, "utf8"),
      loader: "text",
    }));
  },
};

const OPTIONS = {
  absWorkingDir: DASHBOARD,
  outdir: "/assets",
  write: false,
  bundle: true,
  minify: true,
  platform: "browser",
  target: "es2022",
  entryNames: "[name].[hash]",
  chunkNames: "[name].[hash]",
  assetNames: "[name].[hash]",
  loader: { ".woff2": "file", ".svg": "file" },
  define: { ICONS_URL: JSON.stringify(ICONS) },
  plugins: [cssText],
  metafile: true,
  legalComments: "none",
  logLevel: "silent",
} as const satisfies BuildOptions;

async function page(files: readonly ShellFile[]): Promise<string> {
  const template = await readFile(PAGE, "utf8");
  const named = (pattern: RegExp): string =>
    files.find(({ path }) => pattern.test(basename(path)))?.path ?? "";
  const needed = files.filter((file) => file.needed);
  const ahead = needed.map(({ path }) => `<link rel="modulepreload" href="${path}" />`);
  return template
    .replace("{{needed}}", ahead.join(""))
    .replace("{{early}}", named(/^early\./))
    .replace("{{script}}", named(MAIN))
    .replace("{{styles}}", named(/^shell\..*\.css$/))
    .replace("{{font}}", named(/^figtree-latin-wght-normal\./))
    .replace("{{icon}}", named(/^icon\./))
    .replace("{{appIcon}}", named(/^app-icon\./))
    .replace("{{manifest}}", named(/^app\./));
}

function immutable(path: string, base64: string): Asset {
  const type = TYPES[extname(path)] ?? "application/octet-stream";
  return { body: Buffer.from(base64, "base64"), type, immutable: true };
}

function toBase64(contents: Uint8Array): string {
  return Buffer.from(contents).toString("base64");
}
