import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostLog } from "../log.ts";
import {
  LANGUAGE,
  LanguagePack,
  mergePacks,
  mergeTables,
  readTexts,
  Texts,
} from "./language-pack.ts";

const FOLDER = "languages";
const DASHBOARD = fileURLToPath(new URL("../dashboard/languages/", import.meta.url));
const VOCABULARY = fileURLToPath(new URL("../../plugin-sdk/languages/", import.meta.url));
/** More packs than these are not listed. */
const MOST = 100;

interface Dependencies {
  readonly dataFolder: string;
  readonly log: Pick<HostLog, "warn">;
  /** The folders of the plugins by id. */
  readonly pluginFolders: () => ReadonlyMap<string, string>;
}

/** A language that a pack offers. */
interface OfferedLanguage {
  /** BCP 47, such as `fr` or `pt-BR`. */
  readonly language: string;
  /** In its own words; absent if the pack does not say. */
  readonly name?: string;
}

/** A pack in the data folder that cannot be used. */
interface DamagedPack {
  readonly file: string;
  readonly detail: string;
}

/**
 * The language packs: those that ship with Mantel, those beside the manifests of plugins, and files in
 * `<data>/languages`, which add a language or change texts of one. Each is read when it is requested.
 */
export class Languages {
  readonly #parts: Dependencies;
  readonly #folder: string;
  /** Each is logged once: some reads are public. */
  readonly #faults = new Set<string>();

  private constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#folder = join(parts.dataFolder, FOLDER);
  }

  /** Creates the folder, so that users find it. */
  static async open(parts: Dependencies): Promise<Languages> {
    const languages = new Languages(parts);
    await mkdir(languages.#folder, { recursive: true, mode: 0o700 });
    return languages;
  }

  /** The languages that have a pack, by their codes. */
  async list(): Promise<{ languages: OfferedLanguage[]; damaged: DamagedPack[] }> {
    const damaged: DamagedPack[] = [];
    const names = new Map<string, string | undefined>();
    for (const folder of [DASHBOARD, this.#folder]) {
      for (const language of await packsIn(folder)) {
        const pack = await readTexts(LanguagePack, folder, `${language}.json`).catch(
          ({ message }: Error) => void damaged.push({ file: `${language}.json`, detail: message }),
        );
        if (pack) names.set(language, pack.name ?? names.get(language));
      }
    }
    const languages = [...names].map(([language, name]) => ({
      language,
      ...(name !== undefined && { name }),
    }));
    return {
      languages: languages.toSorted((a, b) => a.language.localeCompare(b.language)),
      damaged,
    };
  }

  /** The texts of the dashboard and of devices in a locale; those of `fr` and `fr-CA` for `fr-CA`. */
  async read(locale: string): Promise<LanguagePack> {
    let all: LanguagePack = {};
    for (const name of namesOf(locale)) {
      const dashboard = await this.#part(LanguagePack, DASHBOARD, name);
      const vocabulary = await this.#part(Texts, VOCABULARY, name);
      all = mergePacks(all, { ...dashboard, ...(vocabulary && { vocabulary }) });
      const { plugins: _, ...own } = (await this.#part(LanguagePack, this.#folder, name)) ?? {};
      all = mergePacks(all, own);
    }
    return all;
  }

  /** The texts of the plugins in a locale, by plugin and English text. */
  async readPlugins(locale: string): Promise<Record<string, Texts>> {
    const found = await Promise.all(
      [...this.#parts.pluginFolders()].map(async ([id, folder]) => {
        const texts: Texts = {};
        for (const name of namesOf(locale)) {
          Object.assign(texts, await this.#part(Texts, join(folder, FOLDER), name));
        }
        return [id, texts] as const;
      }),
    );
    let all = Object.fromEntries(found.filter(([, texts]) => Object.keys(texts).length > 0));
    for (const name of namesOf(locale)) {
      all = mergeTables(all, (await this.#part(LanguagePack, this.#folder, name))?.plugins);
    }
    return all;
  }

  /** A damaged pack is left out, so that the others are still read. */
  async #part<T extends typeof LanguagePack | typeof Texts>(
    schema: T,
    folder: string,
    name: string,
  ) {
    return readTexts(schema, folder, `${name}.json`).catch(({ message }: Error) => {
      const fault = `${folder} ${message}`;
      if (this.#faults.has(fault)) return;
      this.#faults.add(fault);
      this.#parts.log.warn("a language pack cannot be used", { folder, reason: message });
    });
  }
}

/** `pt`, then `pt-BR` for `pt-BR`: texts of the second win. */
function namesOf(locale: string): readonly string[] {
  const [language = "", ...rest] = locale.split("-");
  return rest.length === 0 ? [language] : [language, locale];
}

async function packsIn(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  return files
    .flatMap((file) => (file.endsWith(".json") ? [file.slice(0, -".json".length)] : []))
    .filter((name) => new RegExp(LANGUAGE).test(name))
    .toSorted()
    .slice(0, MOST);
}
