import { SourceMap } from "node:module";
import { relative, resolve, sep } from "node:path";
import type { CodeLocation } from "@mantel/plugin-sdk/errors";
import type { ModuleFault } from "../../api/module.ts";
import { codeFrame } from "../errors/code-frame.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { ModuleLog } from "../state/logs.ts";
import type { ModuleStatus } from "../state/status.ts";
import type { WidgetBundle } from "../versions/version.ts";

/** The first source of each widget's script, which is not the author's. */
export const WIDGET_ENTRY = "mantel-widget-entry.js";
/** The faults of one version that are recorded; a widget may throw in every frame that a browser draws. */
const MOST = 20;
/** The frames of a stack that are read. */
const MAX_FRAMES = 50;

/** An error of a widget's code, as a browser reports it. Untrusted text. */
export interface ReportedFault {
  /** The hash of the code that threw. */
  readonly hash: string;
  readonly message: string;
  /** The browser's stack, with places in the built script. */
  readonly stack?: string | undefined;
}

/** The served code of a widget, and the plugin it was built from. */
export interface ServedCode {
  readonly plugin: PluginPackage;
  readonly bundle: WidgetBundle;
}

/** The faults that browsers report of one module's widget, in its log and its state. */
export class WidgetFaults {
  readonly #status: ModuleStatus;
  readonly #log: ModuleLog;
  #hash = "";
  readonly #known = new Set<string>();

  constructor({ status, log }: { readonly status: ModuleStatus; readonly log: ModuleLog }) {
    this.#status = status;
    this.#log = log;
  }

  /** Records a fault of the served code. Faults of other code, and those that are known, are ignored. */
  record({ plugin, bundle }: ServedCode, { hash, message, stack = "" }: ReportedFault): void {
    if (hash !== bundle.hash) return;
    if (hash !== this.#hash) this.#known.clear();
    this.#hash = hash;
    const location = placeInWidget(stack, { plugin, bundle });
    const key = `${location?.file}:${location?.line} ${message}`;
    if (this.#known.has(key) || this.#known.size >= MOST) return;
    this.#known.add(key);
    const fault: ModuleFault = {
      message: `the widget failed in a browser: ${message}`,
      ...location,
    };
    this.#log.fault("the widget failed in a browser", { ...fault, message });
    this.#status.widgetFailed(fault);
  }

  /** Forgets the faults of replaced code, and of code that is loaded again. */
  forget(hash?: string): void {
    if (hash === this.#hash) return;
    this.#hash = "";
    this.#known.clear();
    this.#status.widgetFailed(undefined);
  }
}

/** The place of a script's line in a browser's stack: `at mount (https://home/x.js:1:20)` or `mount@blob:x:1:20`. */
const SCRIPT_PLACE = /(?:^|[\s(@])((?:https?|blob):[^\s()]{1,500}):(\d{1,9}):(\d{1,9})\)?$/;

/** The first place of a stack that is in the widget's own source. */
export function placeInWidget(
  stack: string,
  { plugin, bundle }: ServedCode,
): CodeLocation | undefined {
  const name = `/${plugin.id}.${bundle.hash}.js`;
  const places = stack.split("\n", MAX_FRAMES).flatMap((line) => {
    const [, script = "", row, column] = SCRIPT_PLACE.exec(line.slice(0, 1_000).trim()) ?? [];
    const isWidget = script.startsWith("blob:") || script.endsWith(name); // a frame has no other blob
    return isWidget ? [{ row: Number(row) - 1, column: Number(column) - 1 }] : [];
  });
  return sourcePlace(places, { map: bundle.map, folder: plugin.folder });
}

/** The first of these places in a built script, counted from 0, that is in the author's source. */
export function sourcePlace(
  places: readonly { readonly row: number; readonly column: number }[],
  { map: json, folder }: { readonly map: string; readonly folder: string },
): CodeLocation | undefined {
  if (places.length === 0) return undefined;
  const map = new SourceMap(JSON.parse(json) as ConstructorParameters<typeof SourceMap>[0]);
  for (const { row, column } of places) {
    const found = map.findEntry(row, column);
    if (!("originalSource" in found)) continue;
    const file = resolve(found.originalSource);
    if (file.endsWith(WIDGET_ENTRY)) continue;
    if (!file.startsWith(folder + sep) || file.includes(`${sep}node_modules${sep}`)) continue;
    const { sources, sourcesContent } = map.payload;
    const source = sourcesContent[sources.indexOf(found.originalSource)] ?? "";
    const place = { line: found.originalLine + 1, column: found.originalColumn + 1 };
    return { file: relative(folder, file), ...place, frame: codeFrame(source, place) };
  }
  return undefined;
}
