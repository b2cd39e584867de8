import { type ReadonlySignal, signal } from "@preact/signals-core";
import type { FieldSchema } from "../form/schema.ts";
import { Scope } from "../scope.ts";
import type { Store } from "../store.ts";
import { translate } from "../translate.ts";
import type { AnyWidget, WidgetLoader } from "../widget-loader.ts";
import type { WidgetSize } from "./limits.ts";

/** What widgets say of themselves: name, sizes, settings. Their code is loaded for it and let go. */
export class Definitions {
  readonly #store: Store;
  readonly #loader: WidgetLoader;
  readonly #known = new Map<string, Promise<AnyWidget>>();
  readonly #sizes = signal<ReadonlyMap<string, WidgetSize>>(new Map());

  constructor(store: Store, loader: WidgetLoader) {
    this.#store = store;
    this.#loader = loader;
  }

  /** The sizes that widgets ask for, by module, as far as their code has been read. */
  get sizes(): ReadonlySignal<ReadonlyMap<string, WidgetSize>> {
    return this.#sizes;
  }

  /** Reads the sizes of these modules' widgets. One whose code does not run has none. */
  async readSizes(moduleIds: Iterable<string>): Promise<void> {
    await Promise.allSettled([...new Set(moduleIds)].map(async (id) => this.find(id)));
  }

  /** `undefined` for a module that is gone or has no widget. Rejects when its code does not run. */
  find(moduleId: string): Promise<AnyWidget> | undefined {
    const url = this.#store.module(moduleId).peek()?.widget?.url;
    if (url === undefined) return undefined;
    const known = this.#known.get(url) ?? this.#read(moduleId, url);
    this.#known.set(url, known);
    return known;
  }

  async #read(moduleId: string, url: string): Promise<AnyWidget> {
    const scope = new Scope();
    try {
      const code = await this.#loader.acquire(url);
      const definition = code.instantiate(scope.globals);
      this.#sizes.value = new Map([...this.#sizes.peek(), [moduleId, definition.size]]);
      return definition;
    } finally {
      scope.end();
      this.#loader.release(url);
    }
  }
}

/** A widget's settings as the schema of a form, in a language (BCP 47) that the widget may speak. */
export function schemaOf(
  { settings = {}, texts = {} }: Pick<AnyWidget, "settings" | "texts">,
  locale: string,
): FieldSchema {
  const fields = Object.entries<{ readonly schema: FieldSchema }>(settings);
  const properties = fields.map(([key, { schema }]) => {
    const { title, items } = schema;
    const said = title === undefined ? {} : { title: translate(title, { texts, locale }) };
    const item =
      items?.title === undefined ? {} : { title: translate(items.title, { texts, locale }) };
    return [
      key,
      { ...schema, ...said, ...(items ? { items: { ...items, ...item } } : {}) },
    ] as const;
  });
  return { type: "object", properties: Object.fromEntries(properties) };
}
