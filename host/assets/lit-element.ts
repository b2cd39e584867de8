import { createRequire } from "node:module";
import type { Plugin } from "esbuild";
import { buildOnce as bundle } from "../build-service.ts";

const LIBRARY = createRequire(import.meta.url).resolve("lit-element/lit-element.js");

/** The exports of lit that the shell provides: those of its templates. Widgets share one copy of them. */
const PROVIDED = "html, svg, mathml, render, nothing, noChange";
/** The other exports of lit. They become part of the bundle that uses them, because few widgets do. */
const BUNDLED =
  "LitElement, ReactiveElement, css, unsafeCSS, CSSResult, adoptStyles, getCompatibleStyle, supportsAdoptingStyleSheets, defaultConverter, notEqual";

/** Splits the package `lit` into the templates, which are external, and `LitElement`, which is bundled where it is used. */
export const LIT_ELEMENT: Plugin = {
  name: "lit-element",
  setup(build) {
    build.onResolve({ filter: /^lit$/ }, ({ namespace }) =>
      namespace === "lit"
        ? { path: "lit", external: true }
        : { path: "lit", namespace: "lit", sideEffects: false },
    );
    build.onResolve({ filter: /^lit-element$/, namespace: "lit" }, () => ({
      path: "lit-element",
      namespace: "lit",
      sideEffects: false,
    }));
    build.onLoad({ filter: /^lit$/, namespace: "lit" }, () => ({
      contents: `export {${PROVIDED}} from "lit"; export {${BUNDLED}} from "lit-element"; export const isServer = false;`,
    }));
    build.onLoad({ filter: /^lit-element$/, namespace: "lit" }, async () => ({
      contents: await elementLibrary(),
    }));
  },
};

/** The code of `LitElement` as one module that imports the templates from `lit`. */
async function elementLibrary(): Promise<string> {
  const { outputFiles } = await bundle({
    entryPoints: [LIBRARY],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    plugins: [
      {
        name: "templates",
        setup: (build) =>
          build.onResolve({ filter: /^lit-html$/ }, () => ({ path: "lit", external: true })),
      },
    ],
  });
  return outputFiles[0]?.text ?? "";
}

/** Leaves `LitElement` out of a bundle. */
export const LIT_TEMPLATES: Plugin = {
  name: "lit-templates",
  setup: (build) =>
    build.onResolve({ filter: /^lit$/ }, ({ kind, resolveDir }) =>
      build.resolve("lit/html.js", { kind, resolveDir }),
    ),
};
