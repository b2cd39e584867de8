import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildOptions, Metafile } from "esbuild";
import type { BuildCache } from "../build-cache.ts";
import { buildOnce as bundle } from "../build-service.ts";
import { appFiles, withHashInName } from "./app-files.ts";
import { type Asset, ICONS, TYPES } from "./asset.ts";
import { buildWorker, WORKER } from "./build-worker.ts";
import { CSS_TEXT_IN_CODE } from "./css-text.ts";
import { LIT_TEMPLATES } from "./lit-element.ts";
import { buildPageScripts } from "./page-scripts.ts";

const DASHBOARD = fileURLToPath(new URL("../dashboard/", import.meta.url));
const PAGE = join(DASHBOARD, "index.html");
/** Every visit loads these, in this order. */
const SCRIPTS = [
  join(DASHBOARD, "main.ts"),
  join(DASHBOARD, "soon.ts"),
  join(DASHBOARD, "ready.ts"),
] as const;
const MAIN = /^main\..*\.js$/;

/** A cached file of the shell. */
interface ShellFile {
  readonly path: string;
  readonly base64: string;
  /** The content policy of a page that the dashboard frames. */
  readonly framedPolicy?: string;
}

/**
 * Builds the dashboard's shell, or returns the cached build of identical files: the page,
 * and its scripts, style sheet and fonts under names that change with their content. Code
 * imported by `import()` is a separate script, loaded when it is used. Keys are paths, such as `/`
 * and `/assets/main.3f2a….js`.
 */
export async function buildShell(built: BuildCache): Promise<Map<string, Asset>> {
  const files = await built.orMake("shell", PAGE, compile);
  const assets = new Map(files.map((file) => [file.path, assetOf(file)]));
  const body = await page(files);
  return assets.set("/", { body, type: "text/html; charset=utf-8", immutable: false });
}

async function compile(): Promise<{ value: ShellFile[]; inputs: string[] }> {
  const [scripts, styles, head, frame, app] = await Promise.all([
    buildPageScripts(SCRIPTS, OPTIONS),
    bundle({ ...OPTIONS, entryPoints: [join(DASHBOARD, "shell.css")] }),
    bundle({ ...OPTIONS, entryPoints: [join(DASHBOARD, "head-script.ts")], format: "iife" }),
    framePage(),
    appFiles(DASHBOARD),
  ]);
  const built = [...scripts.files, ...styles.outputFiles, ...head.outputFiles];
  const shellFiles = [
    ...built.map(({ path, contents }) => ({ path, base64: toBase64(contents) })),
    frame.file,
    ...app.files,
  ];
  const worker = await buildWorker(shellFiles.map(({ path }) => path).filter(isKept));
  const value = [...shellFiles, { path: WORKER, base64: toBase64(worker.script) }];
  const sources = [scripts.inputs, styles.metafile.inputs, head.metafile.inputs, frame.inputs];
  const inputs = sources
    .flatMap((each) => Object.keys(each))
    .map((path) => resolve(DASHBOARD, path.replace(/^css-text:/, "")));
  const ofWorker = Object.keys(worker.inputs).map((path) => resolve(DASHBOARD, "offline", path));
  return {
    value,
    inputs: [...inputs, ...ofWorker, ...app.inputs, ...BUILDERS],
  };
}

/** The code that builds the shell: when it changes, the shell is built again. */
const BUILDERS = ["build-shell.ts", "page-scripts.ts", "build-worker.ts"].map((file) =>
  fileURLToPath(new URL(file, import.meta.url)),
);

/** True for the files that browsers keep for a start without the host: all but those for installing the app. */
const isKept = (path: string): boolean => !/\/(app-icon|app)\./.test(path);

/**
 * The page of every widget in a frame: one inline script, because a page without an origin cannot
 * load its own. Its policy allows that script and, by `blob:`, the code of the widget;
 * it allows no network access.
 */
async function framePage(): Promise<{ file: ShellFile; inputs: Metafile["inputs"] }> {
  const entryPoints = [join(DASHBOARD, "frames/frame-page.ts")];
  const built = await bundle({ ...OPTIONS, entryPoints, format: "iife" });
  const script = (built.outputFiles[0]?.text ?? "").replaceAll("</script", "<\\/script").trim();
  const body = `<!doctype html><html><head><meta charset="utf-8"><title>Widget</title></head><body><script>${script}</script></body></html>`;
  const { path, base64 } = withHashInName("widget-frame.html", Buffer.from(body));
  const hash = createHash("sha256").update(script).digest("base64");
  const framedPolicy = [`script-src 'sha256-${hash}' blob:`, ...FRAME_POLICY].join("; ");
  return { file: { path, base64, framedPolicy }, inputs: built.metafile.inputs };
}

const FRAME_POLICY = [
  "default-src 'none'",
  "worker-src 'none'",
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "sandbox allow-scripts", // also applies if a user opens the page by its address
];

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
  plugins: [CSS_TEXT_IN_CODE, LIT_TEMPLATES],
  metafile: true,
  legalComments: "none",
  logLevel: "silent",
} as const satisfies BuildOptions;

async function page(files: readonly ShellFile[]): Promise<string> {
  const template = await readFile(PAGE, "utf8");
  const nameOf = (pattern: RegExp): string =>
    files.find(({ path }) => pattern.test(basename(path)))?.path ?? "";
  return template
    .replace("{{frame}}", nameOf(/^widget-frame\..*\.html$/))
    .replace("{{head-script}}", nameOf(/^head-script\./))
    .replace("{{script}}", nameOf(MAIN))
    .replace("{{styles}}", nameOf(/^shell\..*\.css$/))
    .replace("{{font}}", nameOf(/^figtree-latin-wght-normal\./))
    .replace("{{icon}}", nameOf(/^icon\./))
    .replace("{{appIcon}}", nameOf(/^app-icon\./))
    .replace("{{manifest}}", nameOf(/^app\./));
}

function assetOf({ path, base64, framedPolicy }: ShellFile): Asset {
  const type = TYPES[extname(path)] ?? "application/octet-stream";
  const policy = framedPolicy === undefined ? {} : { framedPolicy };
  const immutable = path !== WORKER;
  return { body: Buffer.from(base64, "base64"), type, immutable, ...policy };
}

function toBase64(contents: Uint8Array): string {
  return Buffer.from(contents).toString("base64");
}
