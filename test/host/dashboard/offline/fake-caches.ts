type Key = RequestInfo | URL;

const pathOf = (key: Key): string =>
  new URL(key instanceof Request ? key.url : String(key), "http://mantel.test/").pathname;

/** A browser's storage of answers, in memory. With a `fault`, nothing can be stored or read. */
export class FakeCaches {
  readonly stored = new Map<string, Map<string, Response>>();
  fault: Error | undefined;
  /** Answers `addAll`. */
  fetch: (path: string) => Promise<Response> = async () => new Response();

  async open(name: string): Promise<Cache> {
    if (this.fault) throw this.fault;
    const files = this.stored.get(name) ?? new Map<string, Response>();
    this.stored.set(name, files);
    const put = async (key: Key, response: Response): Promise<void> => {
      files.set(pathOf(key), response);
    };
    return {
      put,
      addAll: async (paths: string[]) => {
        const answers = await Promise.all(paths.map((path) => this.fetch(path)));
        if (!answers.every(({ ok }) => ok)) throw new TypeError("a file could not be stored");
        paths.forEach((path, index) => files.set(path, answers[index] ?? new Response()));
      },
      match: async (key: Key) => files.get(pathOf(key))?.clone(),
      keys: async () => [...files.keys()].map((path) => new Request(`http://mantel.test${path}`)),
      delete: async (key: Key) => files.delete(pathOf(key)),
    } as unknown as Cache;
  }

  async keys(): Promise<string[]> {
    if (this.fault) throw this.fault;
    return [...this.stored.keys()];
  }

  async delete(name: string): Promise<boolean> {
    if (this.fault) throw this.fault;
    return this.stored.delete(name);
  }

  /** The paths in a cache. */
  pathsIn(name: string): string[] {
    return [...(this.stored.get(name)?.keys() ?? [])];
  }
}
