import type { PageStorage } from "../page-storage.ts";

/** Maximum number of icons that are known at once; those used least recently are forgotten first. */
const MAX_KNOWN = 400;
/** Maximum number of icons in one request; the host answers up to 100. */
const MAX_OF_A_REQUEST = 50;
const RETRY_AFTER_MS = 5_000;
const STORED = "mantel.icons";
/** The icon shown instead of unknown ones. */
const HELP = "help";
/** Other names would change the address of a request. */
const NAME = /^[a-z0-9-]{1,60}$/;

/** SVG paths by the names of icons. */
type Paths = Readonly<Record<string, string>>;

interface Options {
  /** Path of the icons, which changes with their version. */
  readonly url: string;
  readonly storage: PageStorage;
}

/**
 * The Material Design icons that this browser has shown, kept in its storage. Missing ones are requested together, with
 * one request at a time, and again every five seconds while the host cannot be reached.
 */
export class IconStore {
  readonly #url: string;
  readonly #storage: PageStorage;
  /** SVG paths by name; those used last come last. */
  readonly #known: Map<string, string>;
  readonly #waiting = new Map<string, ((path: string) => void)[]>();
  #isAsking = false;

  constructor({ url, storage }: Options) {
    this.#url = url;
    this.#storage = storage;
    this.#known = storedPaths(storage.get(STORED), url);
  }

  /** The SVG path of an icon in a square of 24 units, if it is known. */
  find(name: string): string | undefined {
    const path = this.#known.get(name);
    if (path !== undefined) this.#remember(name, path);
    return path;
  }

  /** The path of an icon once the host has sent it. An unknown one is a question mark. */
  load(asked: string): Promise<string> {
    const name = NAME.test(asked) ? asked : HELP;
    const path = this.find(name);
    if (path !== undefined) return Promise.resolve(path);
    return new Promise((resolve) => {
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]);
      if (!this.#isAsking) this.#askAfter(0);
    });
  }

  #askAfter(ms: number): void {
    this.#isAsking = true;
    setTimeout(() => void this.#ask(), ms);
  }

  async #ask(): Promise<void> {
    const names = [...this.#waiting.keys()].slice(0, MAX_OF_A_REQUEST);
    const asked = this.#known.has(HELP) ? names : [...new Set([...names, HELP])];
    const paths = await fetchPaths(`${this.#url}${asked.toSorted().join(",")}.json`);
    const help = this.#known.get(HELP) ?? paths?.[HELP];
    const taken = paths && help !== undefined ? { ...paths, [HELP]: help } : undefined;
    if (taken) this.#take(names, taken);
    this.#isAsking = false;
    if (this.#waiting.size > 0) this.#askAfter(taken ? 0 : RETRY_AFTER_MS);
  }

  #take(names: readonly string[], paths: Paths & { readonly [HELP]: string }): void {
    for (const name of [HELP, ...names]) {
      const path = paths[name] ?? paths[HELP];
      this.#remember(name, path);
      for (const use of this.#waiting.get(name) ?? []) use(path);
      this.#waiting.delete(name);
    }
    this.#storage.set(STORED, JSON.stringify({ url: this.#url, paths: [...this.#known] }));
  }

  #remember(name: string, path: string): void {
    this.#known.delete(name);
    this.#known.set(name, path);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

async function fetchPaths(url: string): Promise<Paths | undefined> {
  try {
    const response = await fetch(url);
    return response.ok ? ((await response.json()) as Paths) : undefined;
  } catch {
    return undefined;
  }
}

/** The icons of this version that an earlier visit has stored. */
function storedPaths(text: string | null, url: string): Map<string, string> {
  try {
    const stored = JSON.parse(text ?? "{}") as { url?: string; paths: [string, string][] };
    return new Map(stored.url === url ? stored.paths : []);
  } catch {
    return new Map();
  }
}
