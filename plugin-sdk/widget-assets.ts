import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { build as Build, Loader, Plugin } from "esbuild";

/** The largest file that becomes part of a widget's script. */
const LARGEST = 512 * 2 ** 10;
const IMAGES = ["avif", "gif", "jpeg", "jpg", "png", "svg", "webp"];
const FONTS = ["otf", "ttf", "woff", "woff2"];
const IMAGE = new RegExp(`\\.(${IMAGES.join("|")})$`);
const FONT = new RegExp(`\\.(${FONTS.join("|")})$`);
const AS_DATA = Object.fromEntries(
  [...IMAGES, ...FONTS].map((name): [string, Loader] => [`.${name}`, "dataurl"]),
);

interface AssetOptions {
  /** The widget's folder. */
  readonly folder: string;
  readonly build: typeof Build;
  /** Plugins for the builds of style sheets. */
  readonly plugins?: readonly Plugin[];
  /** Receives the files that style sheets use. */
  readonly inputs?: Set<string>;
}

/**
 * Imports of a widget other than code become part of its script, so that nothing is fetched from elsewhere: an image
 * is a `data:` address, a font its bytes, a style sheet its text, and a CSS module its class names and its text as
 * `css`.
 */
export function widgetAssets({ folder, build, plugins = [], inputs }: AssetOptions): Plugin {
  return {
    name: "widget-assets",
    setup(bundle) {
      bundle.onLoad({ filter: IMAGE }, ({ path }) => loaded(path, "dataurl"));
      bundle.onLoad({ filter: FONT }, ({ path }) => loaded(path, "binary"));
      bundle.onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const isModule = path.endsWith(".module.css");
        const contents = isModule ? NAMES_OF(path) : `@import ${JSON.stringify(path)};`;
        const built = await build({
          stdin: {
            contents,
            resolveDir: folder,
            loader: isModule ? "js" : "css",
            sourcefile: ENTRY,
          },
          outfile: "styles.js",
          write: false,
          bundle: true,
          metafile: true,
          format: "esm",
          target: "es2022",
          minifySyntax: true,
          minifyWhitespace: true,
          logLevel: "silent",
          tsconfigRaw: {},
          loader: AS_DATA,
          plugins: [...plugins, BOUNDED],
        }).catch((error: { errors?: [] }) => ({ errors: error.errors ?? [], metafile: undefined }));
        if (!built.metafile) return { errors: built.errors };
        for (const input of Object.keys(built.metafile.inputs)) {
          if (basename(input) !== ENTRY) inputs?.add(input);
        }
        const textOf = (end: string) =>
          built.outputFiles.find((file) => file.path.endsWith(end))?.text.trimEnd() ?? "";
        if (!isModule) return { contents: textOf(".css") || textOf(".js"), loader: "text" };
        const css = `export const css=${JSON.stringify(textOf(".css"))};`;
        return { contents: `${textOf(".js")}\n${css}`, loader: "js" };
      });
    },
  };
}

const ENTRY = "mantel-styles";
const NAMES_OF = (path: string) => `export { default } from ${JSON.stringify(path)};`;

/** Checks the size of what style sheets use. */
const BOUNDED: Plugin = {
  name: "bounded",
  setup: (bundle) =>
    bundle.onLoad({ filter: new RegExp(`${IMAGE.source}|${FONT.source}`) }, ({ path }) =>
      loaded(path, "dataurl"),
    ),
};

async function loaded(path: string, loader: Loader) {
  const contents = await readFile(path);
  if (contents.length <= LARGEST) return { contents, loader };
  const text = `${basename(path)} has ${contents.length} bytes, and a widget may import files of at most ${LARGEST}; make it smaller, or let the plugin's server side give it`;
  return { errors: [{ text }] };
}
