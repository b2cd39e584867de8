import { type ReadonlySignal, signal } from "@preact/signals-core";
import type { WidgetView } from "../../api/module.ts";
import type { FieldSchema } from "../form/schema.ts";
import { readDefinition } from "../frames/read-definition.ts";
import { pluginText } from "../i18n/language.ts";
import { Scope } from "../scope.ts";
import type { Store } from "../store.ts";
import type { WidgetFacts, WidgetLoader } from "../widget-loader.ts";
import type { WidgetSize } from "./limits.ts";

/** Names, sizes and settings of widgets. Their code is loaded to read them and released again. */
export class Definitions {
  readonly #dashboard: Store;
  readonly #loader: WidgetLoader;
  readonly #definitions = new Map<string, Promise<WidgetFacts>>();
  readonly #sizes = signal<ReadonlyMap<string, WidgetSize>>(new Map());
  /** Recommended sizes by module, for widgets whose code has been loaded. */
  readonly sizes: ReadonlySignal<ReadonlyMap<string, WidgetSize>> = this.#sizes;

  constructor(dashboard: Store, loader: WidgetLoader) {
    this.#dashboard = dashboard;
    this.#loader = loader;
  }

  /** Reads the sizes of the widgets of these modules. Widgets whose code fails are left out. */
  async readSizes(moduleIds: Iterable<string>): Promise<void> {
    await Promise.allSettled([...new Set(moduleIds)].map(async (id) => this.find(id)));
  }

  /** `undefined` if the module or its widget does not exist. Rejects if its code fails. */
  find(moduleId: string): Promise<WidgetFacts> | undefined {
    const widget = this.#dashboard.module(moduleId).peek()?.widget;
    if (!widget) return undefined;
    const key = `${widget.runsIn} ${widget.url}`;
    const known = this.#definitions.get(key) ?? this.#read(moduleId, widget);
    this.#definitions.set(key, known);
    return known;
  }

  async #read(moduleId: string, { url, runsIn }: WidgetView): Promise<WidgetFacts> {
    const definition = await (runsIn === "page" ? this.#readInPage(url) : readDefinition(url));
    this.#sizes.value = new Map([...this.#sizes.peek(), [moduleId, definition.size]]);
    return definition;
  }

  async #readInPage(url: string): Promise<WidgetFacts> {
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

/** The settings of a module's widget as a form schema, in the current language if it is translated. */
export function schemaOf({ settings = {}, texts = {} }: WidgetFacts, module: string): FieldSchema {
  const fields = Object.entries<FieldSchema>(settings);
  const properties = fields.map(([key, schema]) => {
    const { title, items } = schema;
    const translatedTitle =
      title === undefined ? {} : { title: pluginText(module, title, { texts }) };
    const item =
      items?.title === undefined ? {} : { title: pluginText(module, items.title, { texts }) };
    return [
      key,
      { ...schema, ...translatedTitle, ...(items ? { items: { ...items, ...item } } : {}) },
    ] as const;
  });
  return { type: "object", properties: Object.fromEntries(properties) };
}
