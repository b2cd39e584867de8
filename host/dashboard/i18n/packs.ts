import type { Api } from "../api.ts";
import type { LanguagePack, Table } from "./language.ts";
import { formatMessage, type Message, type MessageValue, parseMessage } from "./message.ts";

type Texts = Readonly<Record<string, string>>;

/** The texts of a language pack as the host sends them. */
export interface PackTexts {
  /** By table and key. */
  readonly dashboard?: Readonly<Record<string, Texts>>;
  readonly vocabulary?: Texts;
  /** By plugin and English text. */
  readonly plugins?: Readonly<Record<string, Texts>>;
}

/** The page is drawn without the pack after that. */
const DEADLINE_MS = 2_000;

/**
 * Reads the language pack of a locale (BCP 47). The texts of plugins need somebody who is signed in.
 * Returns `undefined` if the host does not answer.
 */
export async function loadPack(
  api: Pick<Api, "address">,
  locale: string,
  isSignedIn: boolean,
): Promise<LanguagePack | undefined> {
  const tag = locale.replace(/-[a-z0-9]-.*$/i, ""); // without extensions, such as the first day of the week
  const path = `/languages/${encodeURIComponent(tag)}`;
  const [texts, plugins] = await Promise.all([
    read(api.address(path)),
    isSignedIn ? read(api.address(`${path}/plugins`)) : {},
  ]);
  return texts && createPack({ ...texts, ...plugins }, locale);
}

/** Reads without `Api`, which reloads the page when a session has expired. */
async function read(url: string): Promise<PackTexts | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) });
    return response.ok ? ((await response.json()) as PackTexts) : undefined;
  } catch (error) {
    console.warn("could not read the language pack", error);
    return undefined;
  }
}

/** Makes a language pack usable. Texts whose placeholders are not valid stay English. */
export function createPack(
  { dashboard = {}, vocabulary = {}, plugins = {} }: PackTexts,
  locale: string,
): LanguagePack {
  const known = supported(locale);
  return {
    isTranslated: Object.keys(dashboard).length > 0,
    vocabulary,
    plugins,
    table: <T extends Table>(name: string, english: T) =>
      tableOf(english, Object.hasOwn(dashboard, name) ? dashboard[name] : {}, known) as Partial<T>,
    fill(text, values) {
      if (!text.includes("{")) return text;
      try {
        const value = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
        return formatMessage(parseMessage(text), value, known);
      } catch {
        return text;
      }
    },
  };
}

function tableOf(english: Table, texts: Texts = {}, locale: string): Table {
  const said: Record<string, string | ((...values: MessageValue[]) => string)> = {};
  for (const [key, text] of Object.entries(texts)) {
    if (!Object.hasOwn(english, key)) continue;
    if (typeof english[key] === "string") said[key] = text;
    else {
      const message = parsed(key, text);
      if (message) {
        said[key] = (...values) => formatMessage(message, (name) => values[Number(name)], locale);
      }
    }
  }
  return said;
}

function parsed(key: string, text: string): Message | undefined {
  try {
    return parseMessage(text);
  } catch (error) {
    console.warn(`invalid text ${key} in the language pack; it stays English`, error);
    return undefined;
  }
}

/** The locale if the browser knows its plurals and numbers, otherwise English. */
function supported(locale: string): string {
  try {
    return Intl.PluralRules.supportedLocalesOf(locale)[0] ?? "en";
  } catch {
    return "en";
  }
}
