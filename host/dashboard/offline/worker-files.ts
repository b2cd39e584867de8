/** The files of one build of the dashboard. */
export interface ShellBuild {
  /** Changes with each build. */
  readonly id: string;
  readonly files: readonly string[];
}

/** The parts of the worker's globals that it uses. */
export interface WorkerGlobals {
  readonly caches: Pick<CacheStorage, "open" | "keys" | "delete">;
  readonly fetch: (request: Request | string) => Promise<Response>;
  readonly origin: string;
  /** Resolves after this time. */
  readonly pause: (ms: number) => Promise<void>;
}

const SHELL = "mantel-shell-";
/** Widgets' code and icons, which are not files of a build. */
const FILES = "mantel-files";
const WIDGETS = "/assets/widgets/";
/** A build keeps the files of the one before it, for pages that still run that. */
const KEPT_BUILDS = 2;
/** Above this number, the oldest files are deleted. */
const MAX_FILES = 600;
/** A host that is off does not refuse connections, and browsers wait two minutes for it. */
const PATIENCE_MS = 3_000;
/** Answers of a proxy whose host is away. */
const AWAY: readonly number[] = [502, 503, 504];
/** Ignores how a file was compressed, and the query that chooses a display. */
const MATCH = { ignoreVary: true, ignoreSearch: true } as const;

/**
 * The dashboard's files in the browser's storage. All of them are public: no answer of the API that needs a session is
 * stored here.
 */
export class WorkerFiles {
  readonly #build: ShellBuild;
  readonly #globals: WorkerGlobals;

  constructor(build: ShellBuild, globals: WorkerGlobals) {
    this.#build = build;
    this.#globals = globals;
  }

  /** Stores the page and the files of this build. Rejects if storage is full or forbidden; the browser tries again. */
  async install(): Promise<void> {
    const cache = await this.#shell();
    await cache.addAll(["/", "/api", ...this.#build.files]);
  }

  /** Deletes the files of older builds, except the latest. */
  async activate(): Promise<void> {
    const { caches } = this.#globals;
    const own = SHELL + this.#build.id;
    const others = (await caches.keys()).filter((name) => name.startsWith(SHELL) && name !== own);
    const old = others.slice(0, Math.max(0, others.length - KEPT_BUILDS + 1));
    await Promise.all(old.map((name) => caches.delete(name)));
  }

  /** The answer to a request; `undefined` if the browser asks the host without this worker. */
  answer(request: Request): Promise<Response> | undefined {
    const { origin, pathname } = new URL(request.url);
    if (request.method !== "GET" || origin !== this.#globals.origin) return undefined;
    if (pathname === "/" || pathname === "/api") return this.#newest(request, pathname);
    return pathname.startsWith("/assets/") ? this.#stored(request) : undefined;
  }

  /** Stores the files that a page uses, and deletes the code of widgets that it does not. */
  async keep(urls: readonly string[]): Promise<void> {
    const cache = await this.#globals.caches.open(FILES);
    const wanted = new Set(urls.filter((url) => url.startsWith("/assets/")));
    const stored = await cache.keys();
    const paths = stored.map(({ url }) => new URL(url).pathname);
    const unused = paths.filter((path) => path.startsWith(WIDGETS) && !wanted.has(path));
    const surplus = paths.slice(0, Math.max(0, paths.length - MAX_FILES));
    await Promise.all([...new Set([...unused, ...surplus])].map((path) => cache.delete(path)));
    for (const path of wanted) await this.#keepFile(path);
  }

  async #keepFile(path: string): Promise<void> {
    if (await this.#find(path)) return;
    const response = await this.#globals.fetch(path);
    await this.#put(FILES, path, response);
  }

  /** The answer of the host, or the stored one while the host is away. */
  async #newest(request: Request, path: string): Promise<Response> {
    const { fetch, pause } = this.#globals;
    const asked = fetch(request).then(async (response) => {
      if (AWAY.includes(response.status)) return (await this.#find(path)) ?? response;
      // The stored page stays: it belongs to the stored files. A newer page comes with a newer worker.
      if (path === "/api") await this.#put(SHELL + this.#build.id, path, response.clone());
      return response;
    });
    asked.catch(() => undefined); // it may fail after the stored answer was given
    const late = pause(PATIENCE_MS).then(() => this.#find(path));
    try {
      return (await Promise.race([asked, late])) ?? (await asked);
    } catch (error) {
      const stored = await this.#find(path);
      if (stored) return stored;
      throw error;
    }
  }

  async #stored(request: Request): Promise<Response> {
    const found = await this.#find(new URL(request.url).pathname);
    if (found) return found;
    const response = await this.#globals.fetch(request);
    await this.#put(FILES, request.url, response.clone());
    return response;
  }

  /** Finds a stored file: of this build, of the build before it, or one that a page has used. */
  async #find(path: string): Promise<Response | undefined> {
    try {
      const { caches } = this.#globals;
      const names = (await caches.keys()).filter((name) => name.startsWith(SHELL));
      for (const name of [SHELL + this.#build.id, ...names.toReversed(), FILES]) {
        const found = await (await caches.open(name)).match(path, MATCH);
        if (found) return found;
      }
    } catch {
      // without storage, the host answers
    }
    return undefined;
  }

  /** Stores an answer, unless it is an error, or a file that may change. Without space for it, it is not stored. */
  async #put(name: string, path: string, response: Response): Promise<void> {
    const isLasting = response.headers.get("cache-control")?.includes("immutable") === true;
    if (!response.ok || (name === FILES && !isLasting)) return;
    try {
      await (await this.#globals.caches.open(name)).put(path, response);
    } catch {
      // full or forbidden
    }
  }

  #shell(): Promise<Cache> {
    return this.#globals.caches.open(SHELL + this.#build.id);
  }
}
