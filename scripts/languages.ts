// npm run languages: names what the language packs that ship with Mantel lack, and their faults.
// npm run languages -- --faults: only the faults, as in `npm run check`: a new text may stay English for a while.
// npm run languages -- data/languages/sv.json: checks one pack of the data folder, and prints what it lacks.

import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Value } from "typebox/value";
import type { Table } from "../host/dashboard/i18n/language.ts";
import { LanguagePack } from "../host/languages/language-pack.ts";
import { checkTexts } from "./languages/check-texts.ts";
import { dashboardTables, pluginTexts, vocabulary } from "./languages/own-texts.ts";

type Texts = Readonly<Record<string, string>>;

const ROOT = join(import.meta.dirname, "..");
const DASHBOARD = join(ROOT, "host/dashboard/languages");
const VOCABULARY = join(ROOT, "plugin-sdk/languages");

const [argument] = process.argv.slice(2);
const isWhole = argument !== "--faults";
const faults = argument === undefined || !isWhole ? await checkShipped() : await checkOne(argument);
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exitCode = 1;
}

async function checkShipped(): Promise<string[]> {
  const languages = (await readdir(DASHBOARD)).map((name) => basename(name, ".json"));
  const checked = await Promise.all(languages.map(checkLanguage));
  return checked.flat();
}

async function checkLanguage(language: string): Promise<string[]> {
  const name = `${language}.json`;
  const { dashboard = {} } = (await readJson(join(DASHBOARD, name))) as LanguagePack;
  // German is in the code, apart from the texts that only its pack has.
  const words = language === "de" ? undefined : await readJson(join(VOCABULARY, name));
  const found = [
    ...(await checkDashboard(dashboard, language)),
    ...(words
      ? checkTexts(tableOf(Object.keys(await vocabulary())), words as Texts, { isWhole })
      : []),
  ];
  for (const { id, folder, english, german } of await pluginTexts()) {
    const texts = (await readJson(join(folder, name))) as Texts;
    const reference = (await readJson(join(folder, "de.json"))) as Texts;
    const own = [...english, ...Object.keys(reference)];
    const inCode = language === "de" ? german : {};
    const needed = own.filter((text) => !Object.hasOwn(inCode, text));
    found.push(
      ...checkTexts(tableOf(needed), texts, { isWhole }).map((fault) => `${id}: ${fault}`),
    );
  }
  return found.map((fault) => `${language}: ${fault}`);
}

async function checkDashboard(
  dashboard: Readonly<Record<string, Texts>>,
  language: string,
): Promise<string[]> {
  const tables = await dashboardTables();
  const unknown = Object.keys(dashboard).filter((name) => !tables.has(name));
  const found = [...tables].flatMap(([name, [english, translations]]) => {
    const inCode = Object.entries(translations).find(([each]) => each === language)?.[1] as
      | Table
      | undefined;
    const needed = Object.entries(english).filter(
      ([key]) => !inCode || !Object.hasOwn(inCode, key),
    );
    const texts = Object.hasOwn(dashboard, name) ? (dashboard[name] ?? {}) : {};
    return checkTexts(Object.fromEntries(needed), texts, {
      isWhole: isWhole && inCode === undefined,
    }).map((fault) => `${name}: ${fault}`);
  });
  return [...found, ...unknown.map((name) => `${name}: this table is unknown`)];
}

/** The faults of a pack of a data folder. Its texts of plugins are not checked: they may be of any plugin. */
async function checkOne(path: string): Promise<string[]> {
  const pack = await readJson(path);
  if (!Value.Check(LanguagePack, pack)) return [`${path} is not a language pack`];
  const { dashboard = {}, vocabulary: words = {} } = pack;
  const found = [
    ...(await checkDashboard(dashboard, basename(path, ".json"))),
    ...checkTexts(tableOf(Object.keys(await vocabulary())), words).map(
      (fault) => `vocabulary: ${fault}`,
    ),
  ];
  return found;
}

function tableOf(texts: Iterable<string>): Table {
  return Object.fromEntries([...texts].map((text) => [text, text]));
}

async function readJson(path: string): Promise<object> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as object;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
