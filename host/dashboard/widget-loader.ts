import { namedExports } from "@mantel/plugin-sdk/named-exports";
import * as sdk from "@mantel/plugin-sdk/widget";
import type { WidgetDefinition } from "@mantel/plugin-sdk/widget";
import * as signals from "@preact/signals-core";
import * as lit from "lit";
import * as repeat from "lit/directives/repeat.js";
import { CodeNotLoaded } from "./code-not-loaded.ts";
import type { ScopedGlobals } from "./scope.ts";

/**
 * Libraries that a widget may `require`. The list in host/assets/build-widget.ts leaves these out
 * of bundles.
 */
const librariesFor = (): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ["lit", { ...lit, html: apart(lit.html), svg: apart(lit.svg) }],
    ["lit/directives/repeat.js", repeat],
    ["@preact/signals-core", signals],
    ["@mantel/plugin-sdk/widget", namedExports("@mantel/plugin-sdk/widget", sdk)],
  ]);

/**
 * A lit tag whose templates can be released. lit keeps a template as long as the browser keeps the
 * strings in the code, and Chromium keeps those while the page is open, to record which functions
 * of a script were used. So this tag gives copies of the strings to lit.
 */
function apart<R>(
  tag: (strings: TemplateStringsArray, ...values: unknown[]) => R,
): (strings: TemplateStringsArray, ...values: unknown[]) => R {
  const copies = new Map<TemplateStringsArray, TemplateStringsArray>();
  return (strings, ...values) => {
    const copy = copies.get(strings) ?? Object.assign([...strings], { raw: strings.raw });
    copies.set(strings, copy);
    return tag(copy, ...values);
  };
}

export type AnyWidget = WidgetDefinition<Record<string, never>, unknown>;
/** Static data of a widget definition. */
export type WidgetFacts = Pick<
  AnyWidget,
  "name" | "icon" | "texts" | "settings" | "size" | "preview"
>;
type Factory = (
  require: (name: string) => unknown,
  globals: ScopedGlobals,
) => { default?: unknown };

/**
 * The loaded code of a widget at one version. Each call creates a fresh copy with its own globals.
 */
export interface WidgetCode {
  readonly hash: string;
  instantiate(globals: ScopedGlobals): AnyWidget;
}

declare global {
  /** Called by each widget's script, which is built as `mantelDefine(id, hash, factory)`. */
  var mantelDefine: (id: string, hash: string, factory: Factory) => void;
}

const defined = new WeakMap<Element, WidgetCode>();

globalThis.mantelDefine = (id, hash, factory) => {
  const script = document.currentScript;
  if (!script) return;
  const libraries = librariesFor();
  const requireLibrary = (name: string): unknown => {
    const library = libraries.get(name);
    if (library === undefined) throw new Error(`the dashboard has no library ${name}`);
    return library;
  };
  defined.set(script, {
    hash,
    instantiate(globals) {
      const widget = factory(requireLibrary, globals).default;
      if (isWidget(widget)) return widget;
      throw new Error(`${id} does not export a widget: make defineWidget({…}) its default export`);
    },
  });
};

function isWidget(value: unknown): value is AnyWidget {
  return typeof value === "object" && value !== null && "mount" in value;
}

/**
 * Loads widget code by its URL. Uses script factories, because a module could never be released.
 * Tiles share a factory by URL, and it is released when no tile needs it.
 */
export class WidgetLoader {
  readonly #codes = new Map<string, { readonly code: Promise<WidgetCode>; users: number }>();

  /** Each `acquire` needs one `release`, also when it rejects. */
  acquire(url: string): Promise<WidgetCode> {
    const known = this.#codes.get(url) ?? { code: runScript(url), users: 0 };
    known.users++;
    this.#codes.set(url, known);
    return known.code;
  }

  release(url: string): void {
    const known = this.#codes.get(url);
    if (known && --known.users === 0) this.#codes.delete(url);
  }
}

function runScript(url: string): Promise<WidgetCode> {
  const script = document.createElement("script");
  script.src = url;
  return new Promise<WidgetCode>((resolve, reject) => {
    script.onload = () => {
      const code = defined.get(script);
      if (code) resolve(code);
      else reject(new Error("the script defined no widget"));
    };
    script.onerror = () => reject(new CodeNotLoaded());
    document.head.append(script);
  }).finally(() => script.remove());
}
