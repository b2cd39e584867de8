import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { build, type Plugin, transform } from "esbuild";
import { toReloadFailure } from "../modules/code/code-frame.ts";
import type { WidgetBundle } from "../modules/code/version.ts";
import type { WidgetSource } from "../modules/widget-side.ts";
import { guardLoops } from "./guard-loops.ts";

/** What the shell hands to widgets; host/dashboard/widget-loader.ts holds the other end. */
const SHARED = [
  "lit",
  "lit/directives/repeat.js",
  "@preact/signals-core",
  "@mantel/plugin-sdk/widget",
];

/** Bare names in a widget's code that mean the tile's own, so that they end with the tile, or end it. */
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

/** Says of Node's modules what esbuild, which knows no widgets, would say of its own settings. */
const BROWSER_ONLY: Plugin = {
  name: "browser-only",
  setup: (built) =>
    built.onResolve({ filter: /^node:/ }, ({ path }) => {
      const text = `a widget runs in the browser, which has no ${path}: use it in the plugin's server side`;
      return { errors: [{ text }] };
    }),
};

/** Stands for the hash while the code that is hashed does not have it yet; as long as the hash is. */
const NO_HASH = "0".repeat(16);

/**
 * Builds a widget into one classic script, `mantelDefine(id, hash, factory)`: a browser can let go of
 * a factory, of an imported module never. The source map shows the author's TypeScript.
 *
 * @throws MantelError `reload_failed`, with the place in the source
 */
export async function buildWidget(widget: WidgetSource): Promise<WidgetBundle> {
  const { id, folder, entry } = widget;
  const built = await build({
    entryPoints: [join(folder, entry)],
    outfile: "widget.js",
    write: false,
    bundle: true,
    format: "cjs",
    platform: "browser",
    target: "es2022",
    external: SHARED,
    loader: { ".css": "text" },
    sourcemap: "inline",
    metafile: true,
    legalComments: "none",
    logLevel: "silent",
    plugins: [BROWSER_ONLY],
  }).catch((error: unknown) => {
    throw toReloadFailure(error, folder);
  });
  const { code, map } = await transform(guardLoops(built.outputFiles[0]?.text ?? ""), {
    format: "cjs",
    target: "es2022",
    sourcemap: "external",
    minify: true,
    banner: opening(id),
    footer: "return module.exports});",
  });
  const hash = createHash("sha256").update(code).digest("hex").slice(0, NO_HASH.length);
  return {
    hash,
    code: `${code.replace(NO_HASH, hash)}//# sourceMappingURL=${id}.${hash}.js.map\n`,
    map,
    inputs: Object.keys(built.metafile.inputs).map((path) => resolve(path)),
  };
}

function opening(id: string): string {
  const scoped = `{${SCOPED.join(",")}}`;
  return `mantelDefine(${JSON.stringify(id)},"${NO_HASH}",(require,${scoped})=>{const module={exports:{}};`;
}
