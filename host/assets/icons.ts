import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * The Material Design icons by name. The package's one file stays a buffer outside the heap and is
 * searched, because seven thousand paths as strings would cost the host more memory than its routes.
 */
export class Icons {
  readonly #source: Buffer;
  readonly #found = new Map<string, string>();

  private constructor(source: Buffer) {
    this.#source = source;
  }

  static async open(): Promise<Icons> {
    return new Icons(await readFile(require.resolve("@mdi/js")));
  }

  /** The icon as an SVG document, such as for `sofa` or `movie-open`. */
  find(name: string): string | undefined {
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const path = this.#pathOf(name);
    if (path === undefined) return undefined;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="${path}"/></svg>`;
    this.#found.set(name, svg);
    return svg;
  }

  #pathOf(name: string): string | undefined {
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return undefined;
    const camel = name.replace(/(^|-)([a-z0-9])/g, (_, __, letter: string) => letter.toUpperCase());
    const opening = `mdi${camel} = "`;
    const at = this.#source.indexOf(opening);
    if (at === -1) return undefined;
    const start = at + opening.length;
    return this.#source.toString("latin1", start, this.#source.indexOf('"', start));
  }
}
