import type { FieldSchema } from "../form/schema.ts";
import { Scope } from "../scope.ts";
import type { Store } from "../store.ts";
import type { AnyWidget, WidgetLoader } from "../widget-loader.ts";

/** What widgets say of themselves: name, sizes, settings. Their code is loaded for it and let go. */
export class Definitions {
  readonly #store: Store;
  readonly #loader: WidgetLoader;
  readonly #known = new Map<string, Promise<AnyWidget>>();

  constructor(store: Store, loader: WidgetLoader) {
    this.#store = store;
    this.#loader = loader;
  }

  /** `undefined` for a module that is gone or has no widget. Rejects when its code does not run. */
  find(moduleId: string): Promise<AnyWidget> | undefined {
    const url = this.#store.module(moduleId).peek()?.widget?.url;
    if (url === undefined) return undefined;
    const known = this.#known.get(url) ?? this.#read(url);
    this.#known.set(url, known);
    return known;
  }

  async #read(url: string): Promise<AnyWidget> {
    const scope = new Scope();
    try {
      const code = await this.#loader.acquire(url);
      return code.instantiate(scope.globals);
    } finally {
      scope.end();
      this.#loader.release(url);
    }
  }
}

/** A widget's settings as the schema of a form. */
export function schemaOf({ settings = {} }: Pick<AnyWidget, "settings">): FieldSchema {
  const fields = Object.entries<{ readonly schema: FieldSchema }>(settings);
  const properties = Object.fromEntries(fields.map(([key, { schema }]) => [key, schema]));
  return { type: "object", properties };
}
