import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { widgetAssets } from "@mantel/plugin-sdk/widget-assets";
import type { Plugin } from "esbuild";
import { build, transform } from "../build-service.ts";
import { toReloadFailure } from "../modules/build/compiler-errors.ts";
import { ownAliases, SDK_FOLDER } from "../modules/build/esbuild-plugin.ts";
import { refuseMissingEntry } from "../modules/build/missing-entry.ts";
import { readOwnTsconfig } from "../modules/build/own-tsconfig.ts";
import { sourceBoundary } from "../modules/build/source-boundary.ts";
import { WIDGET_ENTRY as ENTRY } from "../modules/lifecycle/widget-faults.ts";
import type { WidgetSource } from "../modules/lifecycle/widget.ts";
import type { WidgetBundle } from "../modules/versions/version.ts";
import { checkDefaultExport } from "./default-export.ts";
import { guardLoops } from "./guard-loops.ts";
import { LIT_ELEMENT } from "./lit-element.ts";
import { rejectOldNames } from "./old-widget-names.ts";
import { parseScript, type WidgetScript } from "./script-tree.ts";

/** The modules that the shell provides to widgets; host/dashboard/widget-loader.ts is the other end. */
const SHARED = ["lit/directives/repeat.js", "@preact/signals-core", "@mantel/plugin-sdk/widget"];

/** Globals that a widget's code gets as the tile's own versions, which end with the tile or can end it. */
const SCOPED = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "requestAnimationFrame",
  "cancelAnimationFrame",
  "fetch",
  "addEventListener",
  "removeEventListener",
  "mantelLoop",
];

/** Replaces the SDK's main entry, which needs Node, by the part of it that definitions in shared files use. */
const SHARED_DEFINITIONS: Plugin = {
  name: "shared-definitions",
  setup: (built) =>
    built.onResolve({ filter: /^@mantel\/plugin-sdk$/ }, () => ({
      path: join(SDK_FOLDER, "in-widget.ts"),
    })),
};

/** Reports imports of Node's modules; esbuild's own message would suggest its settings. */
const BROWSER_ONLY: Plugin = {
  name: "browser-only",
  setup: (built) =>
    built.onResolve({ filter: /^node:/ }, ({ path }) => {
      const text = `a widget runs in the browser, which has no ${path}: use it in the plugin's server side`;
      return { errors: [{ text }] };
    }),
};

/** A placeholder of the hash's length, used while the code is hashed. */
const NO_HASH = "0".repeat(16);

/**
 * Builds a widget into one classic script, `mantelDefine(id, hash, factory)`: a browser can release
 * a factory, but never an imported module. The source map shows the author's TypeScript.
 *
 * @throws MantelError `reload_failed`, with the location in the source
 */
export async function buildWidget(widget: WidgetSource): Promise<WidgetBundle> {
  const { id, folder } = widget;
  const entry = join(folder, widget.entry);
  refuseMissingEntry("widget", entry, folder);
  const allowsLinks = () => widget.allowsLinks === true;
  const { compilerOptions, file: tsconfig } = readOwnTsconfig(folder);
  const styleInputs = new Set<string>();
  const boundary = sourceBoundary(folder, allowsLinks);
  const built = await build({
    // an entry of its own, because one with exports would need helper functions in each widget
    stdin: {
      contents: `import * as widget from ${JSON.stringify(entry)};module.exports.default=widget.default`,
      resolveDir: folder,
      sourcefile: ENTRY,
    },
    logOverride: { "import-is-undefined": "silent", "commonjs-variable-in-esm": "silent" },
    outfile: "widget.js",
    write: false,
    bundle: true,
    format: "cjs",
    platform: "browser",
    target: "es2022",
    external: SHARED,
    sourcemap: "inline",
    metafile: true,
    legalComments: "none",
    logLevel: "silent",
    tsconfigRaw: { compilerOptions },
    plugins: [
      LIT_ELEMENT,
      boundary,
      SHARED_DEFINITIONS,
      BROWSER_ONLY,
      ownAliases(folder),
      widgetAssets({ folder, build, plugins: [boundary], inputs: styleInputs }),
    ],
  }).catch((error: unknown) => {
    throw toReloadFailure(error, folder);
  });
  const script = await checkedScript(built.outputFiles[0]?.text ?? "", folder);
  const { code, map } = await transform(guardLoops(script), {
    format: "cjs",
    target: "es2022",
    sourcemap: "external",
    minify: true,
    banner: opening(id),
    footer: "return module.exports});",
  });
  const hash = createHash("sha256").update(code).digest("hex").slice(0, NO_HASH.length);
  const files = Object.keys(built.metafile.inputs).filter(
    (path) => !path.endsWith(ENTRY) && !path.startsWith("lit:"),
  );
  const sources = [...files, ...styleInputs].map((path) => resolve(path));
  return {
    hash,
    code: `${code.replace(NO_HASH, hash)}//# sourceMappingURL=${id}.${hash}.js.map\n`,
    map,
    inputs: [...new Set([...sources, ...(tsconfig === undefined ? [] : [tsconfig])])],
  };
}

async function checkedScript(code: string, folder: string): Promise<WidgetScript> {
  const script = await parseScript(code, folder);
  checkDefaultExport(script);
  rejectOldNames(script);
  return script;
}

function opening(id: string): string {
  const scoped = `{${SCOPED.join(",")}}`;
  return `mantelDefine(${JSON.stringify(id)},"${NO_HASH}",(require,${scoped})=>{const module={exports:{}};`;
}
