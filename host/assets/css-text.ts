import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Plugin, PluginBuild } from "esbuild";

/** Style sheets imported by code become minified text; those that import each other are bundled by esbuild. */
export const CSS_TEXT_IN_CODE: Plugin = {
  name: "css-text-in-code",
  setup(build) {
    build.onResolve({ filter: /\.css$/ }, ({ kind, path, importer }) =>
      kind === "import-statement"
        ? { path: createRequire(importer).resolve(path), namespace: "css-text" }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "css-text" }, ({ path }) => textOf(path, build));
  },
};

async function textOf(path: string, { esbuild }: PluginBuild) {
  const css = await readFile(path, "utf8");
  const { code } = await esbuild.transform(css, { loader: "css", minify: true });
  return { contents: code.trimEnd(), loader: "text" } as const;
}
