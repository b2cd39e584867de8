import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** An icon in the package's file: its name, such as MovieOpen, and its path. */
const DEFINITION = /\.mdi([A-Z]\w*) = "([^"]*)"/g;

/**
 * The Material Design icons by name. The package's one file, of 3 MB, is read when a page asks for an icon that no page
 * has asked for. The garbage collection frees it soon after.
 */
export class Icons {
  #all: WeakRef<ReadonlyMap<string, string>> | undefined;
  readonly #found = new Map<string, string>();

  /** The SVG paths of the icons, such as `sofa` or `movie-open`, in a square of 24 units. Unknown names are left out. */
  find(names: readonly string[]): Readonly<Record<string, string>> {
    const paths: Record<string, string> = {};
    for (const name of names) {
      const path = this.#found.get(name) ?? this.#pathOf(name);
      if (path !== undefined) paths[name] = path;
    }
    return paths;
  }

  #pathOf(name: string): string | undefined {
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return undefined;
    const exported = name.replace(/(^|-)([a-z0-9])/g, (_, __, letter: string) =>
      letter.toUpperCase(),
    );
    const part = this.#read().get(exported);
    if (part === undefined) return undefined;
    const path = Buffer.from(part).toString(); // a copy, because the part keeps the whole file in memory
    this.#found.set(name, path);
    return path;
  }

  #read(): ReadonlyMap<string, string> {
    const read = this.#all?.deref();
    if (read) return read;
    const text = readFileSync(require.resolve("@mdi/js"), "latin1");
    const all = new Map<string, string>();
    for (const [, exported = "", path = ""] of text.matchAll(DEFINITION)) all.set(exported, path);
    this.#all = new WeakRef(all);
    return all;
  }
}
