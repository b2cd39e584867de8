import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * The Material Design icons by name. The package's one file, of 3 MB, is read and searched when a page asks for an icon
 * that no page has asked for. The garbage collection frees it soon after.
 */
export class Icons {
  #source: WeakRef<Buffer> | undefined;
  readonly #found = new Map<string, string>();

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
    const source = this.#read();
    const at = source.indexOf(opening);
    if (at === -1) return undefined;
    const start = at + opening.length;
    return source.toString("latin1", start, source.indexOf('"', start));
  }

  #read(): Buffer {
    const read = this.#source?.deref();
    if (read) return read;
    const source = readFileSync(require.resolve("@mdi/js"));
    this.#source = new WeakRef(source);
    return source;
  }
}
