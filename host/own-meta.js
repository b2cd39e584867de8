// Part of bundling Mantel's own sources. Plain JavaScript, because the host is compiled before anything could load
// TypeScript.

import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

/** The expressions that esbuild replaces by the constants of `ownMeta`. */
export const OWN_META = {
  "import.meta.url": "__mantelUrl",
  "import.meta.filename": "__mantelFilename",
  "import.meta.dirname": "__mantelDirname",
};

/**
 * An esbuild plugin that keeps the `import.meta` of each source file, so that paths are relative to the source.
 *
 * @type {import("esbuild").Plugin}
 */
export const ownMeta = {
  name: "own-meta",
  setup(build) {
    build.onLoad({ filter: /\.(ts|m?js)$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!source.includes("import.meta")) return undefined;
      const values = { Url: pathToFileURL(path).href, Filename: path, Dirname: dirname(path) };
      const constants = Object.entries(values).map(
        ([name, value]) => `const __mantel${name}=${JSON.stringify(value)};`,
      );
      return { contents: constants.join("") + source, loader: path.endsWith(".ts") ? "ts" : "js" };
    });
  },
};
