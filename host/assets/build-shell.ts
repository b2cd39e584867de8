import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as bundle, type Plugin } from "esbuild";
import { type Asset, ICONS, TYPES } from "./asset.ts";

const DASHBOARD = fileURLToPath(new URL("../dashboard/", import.meta.url));

/**
 * Builds the dashboard's shell: the page, and its script, style sheet and fonts under names that
 * change with their content. Keys are paths, such as `/` and `/assets/main.3f2a….js`.
 */
export async function buildShell(): Promise<Map<string, Asset>> {
  const { outputFiles } = await bundle({
    entryPoints: [join(DASHBOARD, "main.ts"), join(DASHBOARD, "shell.css")],
    absWorkingDir: DASHBOARD,
    outdir: "/assets",
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    entryNames: "[name].[hash]",
    assetNames: "[name].[hash]",
    loader: { ".woff2": "file", ".svg": "file" },
    define: { ICONS_URL: JSON.stringify(ICONS) },
    plugins: [cssText],
    legalComments: "none",
    logLevel: "silent",
  });
  const assets = new Map(
    outputFiles.map(({ path, contents }) => [path, immutable(path, contents)]),
  );
  const icon = await readFile(join(DASHBOARD, "icon.svg"));
  const iconPath = `/assets/icon.${hashOf(icon)}.svg`;
  assets.set(iconPath, immutable(iconPath, icon));
  assets.set("/", await page([...assets.keys()]));
  return assets;
}

/** Style sheets that code imports are its text; those that style sheets import are bundled. */
const cssText: Plugin = {
  name: "css-text",
  setup(build) {
    build.onResolve({ filter: /\.css$/ }, ({ kind, path, importer }) =>
      kind === "import-statement"
        ? { path: join(dirname(importer), path), namespace: "css-text" }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "css-text" }, async ({ path }) => ({
      contents: await readFile(path, "utf8"),
      loader: "text",
    }));
  },
};

async function page(paths: readonly string[]): Promise<Asset> {
  const template = await readFile(join(DASHBOARD, "index.html"), "utf8");
  const named = (pattern: RegExp): string =>
    paths.find((path) => pattern.test(basename(path))) ?? "";
  const body = template
    .replace("{{script}}", named(/^main\..*\.js$/))
    .replace("{{styles}}", named(/^shell\..*\.css$/))
    .replace("{{font}}", named(/^figtree-latin-wght-normal\./))
    .replace("{{icon}}", named(/^icon\./));
  return { body, type: "text/html; charset=utf-8", immutable: false };
}

function immutable(path: string, contents: Uint8Array): Asset {
  return {
    body: Buffer.from(contents),
    type: TYPES[extname(path)] ?? "application/octet-stream",
    immutable: true,
  };
}

function hashOf(contents: Buffer): string {
  return createHash("sha256").update(contents).digest("hex").slice(0, 8);
}
