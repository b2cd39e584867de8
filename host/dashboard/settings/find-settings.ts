import type { ModuleView } from "../../api/module.ts";
import type { Result } from "../find/home-results.ts";
import { fitOf, folded } from "../find/match.ts";
import { addressOf } from "./page.ts";
import { type PageEntry, pagesOf, type PageVisit } from "./pages.ts";
import { words } from "./words.ts";

type TextKey = {
  [K in keyof typeof words.value]: (typeof words.value)[K] extends string ? K : never;
}[keyof typeof words.value];

/** Single settings: their page, the row on it, and the keys of the texts by which they are found. */
const SETTINGS: readonly (readonly [page: string, row: string, ...texts: TextKey[]])[] = [
  ["general", "language", "language"],
  ["general", "time-zone", "timeZone", "timeZoneHint"],
  ["general", "week-start", "weekStart"],
  ["general", "units", "units", "unitsHint"],
  ["general", "theme", "theme", "themeDark", "themeLight"],
  ["general", "night", "atNight", "atNightHint", "themeNight"],
  ["general", "accent", "accent", "accentHint"],
  ["general", "wallpaper", "wallpaper", "wallpaperHint"],
  ["general", "idle", "nobodyNear", "nobodyNearHint"],
  ["general", "screensaver", "screensaver", "screensaverHint"],
  ["place", "town", "town", "townHint"],
  ["calendars", "", "sources", "feeds"],
  ["access", "", "newToken", "people", "thisBrowser", "signOut"],
  ["displays", "", "pairDisplay", "addDisplay", "kiosk", "turnsPages"],
  ["scenes", "", "newScene"],
  ["photos", "", "addPhotos"],
  ["backup", "", "createBackup", "restore"],
  ["advanced", "modules", "modules", "modulesHint", "log"],
  ["advanced", "plugins", "plugins", "pluginsHint"],
  ["advanced", "bridges", "bridges", "bridgesHint"],
  ["advanced", "api", "apiDocs", "apiHint"],
  ["advanced", "about", "about", "aboutHint"],
];

/** The rows that only visits with full access see. */
const FULL_ACCESS_ROWS: readonly string[] = ["accent", "wallpaper", "screensaver", "plugins"];

/** The settings pages, single settings and modules with a text in their names, as far as the visit sees them. */
export function findSettings(text: string, visit: PageVisit): readonly Result[] {
  const sought = folded(text.trim());
  if (sought === "") return [];
  const pages = pagesOf(visit);
  const fits = (name: string): boolean => fitOf(name, sought) !== undefined;
  return [
    ...pages.filter(({ title }) => fits(words.value[title])).map(resultOfPage),
    ...settingsThat(fits, pages, visit),
    ...visit.store
      .modules()
      .value.filter(({ name }) => fits(name))
      .map(resultOfModule),
  ];
}

function resultOfPage({ id, title, icon }: PageEntry): Result {
  const address = addressOf(id);
  return { title: words.value[title], place: words.value.settings, icon, opens: { address } };
}

function settingsThat(
  fits: (text: string) => boolean,
  pages: readonly PageEntry[],
  { mayAdminister }: PageVisit,
): readonly Result[] {
  const texts = words.value;
  return SETTINGS.flatMap(([page, row, ...keys]) => {
    const found = keys.find((key) => fits(texts[key]));
    const entry = pages.find(({ id }) => id === page);
    if (found === undefined || !entry) return [];
    if (!mayAdminister && FULL_ACCESS_ROWS.includes(row)) return [];
    const [first = found] = keys;
    const title = row === "" ? texts[found] : texts[first];
    const opens = { address: addressOf(page), row };
    return [{ title, place: texts[entry.title], icon: entry.icon, opens }];
  });
}

function resultOfModule({ id, name }: ModuleView): Result {
  const texts = words.value;
  const place = `${texts.advanced}, ${texts.modules}`;
  const opens = { address: addressOf("modules", id) };
  return { title: name, place, icon: "mdi:puzzle-outline", opens };
}
