// The English texts of Mantel, as language packs translate them.

import "./css-text.js";
import "../../plugin-sdk/widget-testing/page.ts";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FieldSchema } from "../../host/dashboard/form/schema.ts";
import type { Table } from "../../host/dashboard/i18n/language.ts";

type Texts = Readonly<Record<string, string>>;

const ROOT = join(import.meta.dirname, "../..");
const DASHBOARD = join(ROOT, "host/dashboard");

/** The tables of the dashboard: their English texts, and the translations in the code by language. */
export async function dashboardTables(): Promise<
  ReadonlyMap<string, readonly [english: Table, translations: object]>
> {
  Object.assign(globalThis, { ICONS_URL: "/icons/" });
  const { tables } = await import("../../host/dashboard/i18n/language.ts");
  const files = await readdir(DASHBOARD, { recursive: true });
  for (const file of files.filter((each) => each.endsWith(".ts")).toSorted()) {
    const path = join(DASHBOARD, file);
    if (/ translated\("/.test(await readFile(path, "utf8"))) await import(path);
  }
  return tables;
}

/** The texts of the SDK for devices: English, with the German ones. */
export async function vocabulary(): Promise<Texts> {
  const { CONTROL_TEXTS_DE, KIND_WORDS } = await import("../../plugin-sdk/ui/control-words.ts");
  const { DEVICE_TEXTS_DE } = await import("../../plugin-sdk/ui/device-texts.ts");
  const kinds: Record<string, string> = Object.fromEntries(Object.values(KIND_WORDS));
  return { ...kinds, ...CONTROL_TEXTS_DE, ...DEVICE_TEXTS_DE };
}

/** A plugin that ships with Mantel. */
interface PluginTexts {
  readonly id: string;
  /** The folder with its language packs. */
  readonly folder: string;
  /** Its title, the names of what it finds, the titles of its options and the texts of its widget. */
  readonly english: ReadonlySet<string>;
  /** The German texts in the code of its widget. */
  readonly german: Texts;
}

/** The texts of all shipped plugins. Texts of the vocabulary are left out. */
export async function pluginTexts(): Promise<PluginTexts[]> {
  const shipped = JSON.parse(
    await readFile(join(ROOT, "plugins/shipped.json"), "utf8"),
  ) as string[];
  const common = await vocabulary();
  return Promise.all(
    shipped.map(async (id) => {
      const folder = join(ROOT, "plugins", id);
      const { mantel } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
        mantel: { title?: string; server?: string; widget?: string; finds?: { name: string }[] };
      };
      const widget =
        mantel.widget === undefined
          ? { english: [], german: {} }
          : await widgetTexts(join(folder, mantel.widget));
      const server =
        mantel.server === undefined ? [] : await optionTexts(join(folder, mantel.server));
      const found = (mantel.finds ?? []).map(({ name }) => name);
      const own = [mantel.title ?? id, ...found, ...server, ...widget.english];
      const { german } = widget;
      const english = new Set(own.filter((text) => !Object.hasOwn(common, text)));
      return { id, folder: join(folder, "languages"), english, german };
    }),
  );
}

async function widgetTexts(file: string): Promise<{ english: string[]; german: Texts }> {
  const { default: widget } = (await import(file)) as {
    default: { name: string; settings?: Record<string, FieldSchema>; texts?: { de?: Texts } };
  };
  const german = widget.texts?.de ?? {};
  const titles = Object.values(widget.settings ?? {}).flatMap(({ title, items }) => [
    title,
    items?.title,
  ]);
  const english = [widget.name, ...titles, ...Object.keys(german)];
  return { english: english.filter((text) => text !== undefined), german };
}

async function optionTexts(file: string): Promise<string[]> {
  const { translatedSchema } = await import("../../host/dashboard/form/schema.ts");
  const { default: plugin } = (await import(file)) as { default: { options?: FieldSchema } };
  const found: string[] = [];
  if (plugin.options) translatedSchema(plugin.options, (text) => (found.push(text), text));
  return found;
}
