import { Router } from "@koa/router";

/** A row of a table: a method, a path with parameters as `:name`, and the value to find. */
export interface Row<T> {
  readonly method: string;
  readonly path: string;
  readonly value: T;
}

/** The row for a request, with the decoded parameters of its path. */
export interface Match<T> {
  readonly value: T;
  readonly params: Readonly<Record<string, string>>;
}

/** The rows of one path without parameters. `order` is the place of the first one. */
interface Fixed<T> {
  readonly order: number;
  readonly values: Map<string, T>;
}

/** A row with parameters. */
interface Pattern<T> extends Pick<Row<T>, "value"> {
  readonly order: number;
  readonly layer: Layer;
}
type Layer = Exclude<ReturnType<Router["register"]>, Router>;

const NO_PARAMS = {};

/**
 * Finds rows by method and path: one without parameters by a lookup, others among those with as many slashes, because
 * the router would try every row for each request. Of several rows that match the first one counts. Letter case and
 * a slash at the end make a difference. A row for GET is for HEAD too.
 */
export class RouteTable<T> {
  readonly #fixed = new Map<string, Fixed<T>>();
  /** By the number of slashes. */
  readonly #patterns = new Map<number, Pattern<T>[]>();

  constructor(rows: readonly Row<T>[]) {
    const router = new Router({ strict: true, sensitive: true });
    for (const [order, { method, path, value }] of rows.entries()) {
      const layer = router.register(path, [method], []) as Layer;
      if (path.includes(":")) this.#addPattern(path, { order, layer, value });
      else this.#addFixed(path, order, { methods: layer.methods, value });
    }
  }

  find(method: string, path: string): Match<T> | undefined {
    const fixed = this.#fixed.get(path);
    const value = fixed?.values.get(method);
    const before = fixed && value !== undefined ? fixed.order : Infinity;
    for (const { order, layer, value: found } of this.#patternsLike(path)) {
      if (order > before) break;
      const texts = layer.methods.includes(method) ? layer.regexp.exec(path) : null;
      if (texts) return { value: found, params: layer.params(path, texts.slice(1)) };
    }
    return value === undefined ? undefined : { value, params: NO_PARAMS };
  }

  /** The methods of all rows that match a path; empty for an unknown path. */
  methodsAt(path: string): string[] {
    const matching = this.#patternsLike(path).filter(({ layer }) => layer.match(path));
    const fixed = [...(this.#fixed.get(path)?.values.keys() ?? [])];
    return [...fixed, ...matching.flatMap(({ layer }) => layer.methods)];
  }

  #patternsLike(path: string): readonly Pattern<T>[] {
    return this.#patterns.get(slashesIn(path)) ?? [];
  }

  #addFixed(path: string, order: number, row: { methods: readonly string[]; value: T }): void {
    const { values } = this.#fixed.get(path) ?? { values: new Map<string, T>() };
    for (const method of row.methods) if (!values.has(method)) values.set(method, row.value);
    if (!this.#fixed.has(path)) this.#fixed.set(path, { order, values });
  }

  #addPattern(path: string, pattern: Pattern<T>): void {
    const slashes = slashesIn(path);
    const others = this.#patterns.get(slashes);
    if (others) others.push(pattern);
    else this.#patterns.set(slashes, [pattern]);
  }
}

function slashesIn(path: string): number {
  let slashes = 0;
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) slashes++;
  return slashes;
}
