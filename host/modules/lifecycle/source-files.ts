/** The source files of both sides of a module: the same set until other code runs. */
export class SourceFiles {
  #server: ReadonlySet<string> | undefined;
  #widget: readonly string[] = [];
  #both: ReadonlySet<string> = new Set();

  of(server: ReadonlySet<string> | undefined, widget: readonly string[]): ReadonlySet<string> {
    if (server === this.#server && widget === this.#widget) return this.#both;
    this.#server = server;
    this.#widget = widget;
    this.#both = new Set([...(server ?? []), ...widget]);
    return this.#both;
  }
}
