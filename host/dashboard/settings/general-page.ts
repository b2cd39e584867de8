import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { now } from "../home-time.ts";
import { currentLocale, languageOf } from "../i18n/language.ts";
import { listPhotos, type Photo } from "../photos.ts";
import type { UiSettings } from "../store.ts";
import { LazyPictures } from "./lazy-pictures.ts";
import { accentView, wallpaperView } from "./look-view.ts";
import { type OpenSettingsPage, restNeedsFullAccess, type SettingsDependencies } from "./page.ts";
import { selectRow, settingRow, switchInput } from "./setting-row.ts";
import { words } from "./words.ts";

/** Locales that are offered, besides the stored one. */
const LOCALES = ["en-GB", "en-US", "de-DE", "de-AT", "de-CH", "fr-FR", "es-ES", "it-IT", "nl-NL"];
const THEME_ICONS = {
  auto: "mdi:theme-light-dark",
  light: "mdi:weather-sunny",
  dark: "mdi:moon-waning-crescent",
  night: "mdi:sleep",
} as const;
/** The days on which a week may start, with a date of November 2026 that is one. */
const WEEK_STARTS = [
  ["mon", 2],
  ["sat", 7],
  ["sun", 1],
] as const;
const EXTENSION = /-u-.*$/;
const FIRST_DAY = /-u-(?:.*-)?fw-([a-z]{3})/;

/** The language packs of the host, and its files that are none. */
interface Packs {
  readonly languages: readonly { readonly language: string; readonly name?: string }[];
  readonly damaged: readonly { readonly file: string; readonly detail: string }[];
}

/** Seconds after which a display returns to its first page; 0 means never. */
const IDLE_SECONDS = [60, 120, 300, 600, 1_800, 0];
const NIGHT = { from: "22:30", to: "06:30" };

/** Settings of the whole home in household words. Each is saved at once. */
export function generalPage(parts: SettingsDependencies): OpenSettingsPage {
  const packs = signal<Packs>({ languages: [], damaged: [] });
  const photos = signal<readonly Photo[]>([]);
  const pictures = new LazyPictures(parts.api);
  const closed = new AbortController();
  void listPhotos(parts.api, closed.signal).then((all) => (photos.value = all));
  parts.api.get("/languages").then(
    (answer) => (packs.value = answer),
    (error: unknown) => parts.formAction.fail(error),
  );
  return {
    view() {
      const ui = parts.store.ui.value;
      const set = (patch: object): void => save(parts, { ui: patch });
      pictures.watchSoon();
      return html`${languageView(parts, ui, packs.value)} ${themeView(parts, ui)}
      ${parts.mayAdminister ? [accentView(ui, set), wallpaperView(ui, photos.value, set)] : nothing}
      ${idleView(parts, ui, photos.value.length > 0)} ${restNeedsFullAccess(parts)}`;
    },
    close() {
      closed.abort();
      pictures.close();
    },
  };
}

function save({ api, formAction }: SettingsDependencies, patch: object): void {
  void formAction.run(() => api.send("PATCH", "/config", patch), words.peek().saved);
}

function languageView(
  parts: SettingsDependencies,
  ui: UiSettings,
  { languages, damaged }: Packs,
): TemplateResult {
  const texts = words.value;
  const { locale = "en-GB", timeZone = "", units = "metric" } = ui;
  const tag = locale.replace(EXTENSION, "");
  const [, weekStart = ""] = FIRST_DAY.exec(locale) ?? [];
  const sample = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" });
  return html`<section class="panel setting-rows">
    ${selectRow({
      id: "language",
      title: texts.language,
      hint: sample.format(now()),
      value: tag,
      options: offeredLanguages(tag, languages),
      onChange: (next) => save(parts, { ui: { locale: localeOf(next, weekStart) } }),
    })}
    ${damaged.map(({ detail }) => html`<p class="said failed">${texts.damagedPack(detail)}</p>`)}
    ${selectRow({
      id: "time-zone",
      title: texts.timeZone,
      hint: texts.timeZoneHint,
      value: timeZone,
      options: zonesWith(timeZone).map((zone) => [zone, zone.replaceAll("_", " ")]),
      onChange: (zone) => save(parts, { ui: { timeZone: zone } }),
    })}
    ${selectRow({
      id: "week-start",
      title: texts.weekStart,
      value: weekStart,
      options: [
        ["", texts.weekStartUsual],
        ...WEEK_STARTS.map(([day, at]) => [day, weekdayName(at)] as const),
      ],
      onChange: (day) => save(parts, { ui: { locale: localeOf(tag, day) } }),
    })}
    ${selectRow({
      id: "units",
      title: texts.units,
      hint: texts.unitsHint,
      value: units,
      options: [
        ["metric", texts.metric],
        ["imperial", texts.imperial],
      ],
      onChange: (next) => save(parts, { ui: { units: next } }),
    })}
  </section>`;
}

/** The locale with the first day of the week (Unicode extension `fw`); `""` is the usual one of the locale. */
function localeOf(tag: string, weekStart: string): string {
  return weekStart === "" ? tag : `${tag}-u-fw-${weekStart}`;
}

/** `at` is a day of November 2026, whose first is a Sunday. */
function weekdayName(at: number): string {
  const format = new Intl.DateTimeFormat(currentLocale.value, { weekday: "long", timeZone: "UTC" });
  return format.format(Date.UTC(2026, 10, at));
}

/** The built-in locales, those of further language packs, and the stored one, each in its own words. */
function offeredLanguages(
  stored: string,
  packs: Packs["languages"],
): readonly (readonly [tag: string, name: string])[] {
  const known = new Set(LOCALES.map(languageOf));
  const added = packs.filter(({ language }) => !known.has(language));
  const named = new Map(added.map(({ language, name }) => [language, name]));
  const tags = new Set([...LOCALES, ...named.keys(), stored]);
  return [...tags].map((tag) => [tag, named.get(tag) ?? ownName(tag)]);
}

/** The name of a language in that language; the tag itself for one that the browser does not know. */
function ownName(tag: string): string {
  const name = new Intl.DisplayNames([tag, "en"], { type: "language" }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

function zonesWith(current: string): readonly string[] {
  const zones = Intl.supportedValuesOf("timeZone");
  return zones.includes(current) ? zones : [current, ...zones];
}

function themeView(parts: SettingsDependencies, ui: UiSettings): TemplateResult {
  const texts = words.value;
  const { theme = "auto", night = null } = ui;
  const labels = {
    auto: texts.themeAuto,
    light: texts.themeLight,
    dark: texts.themeDark,
    night: texts.themeNight,
  };
  return html`<section class="panel setting-rows">
    <fieldset class="theme-choice" data-setting="theme">
      <legend>${texts.theme}</legend>
      ${(["auto", "light", "dark", "night"] as const).map(
        (each) =>
          html`<label class="theme-${each}">
            <input
              type="radio"
              name="theme"
              value=${each}
              .checked=${each === theme}
              @change=${() => save(parts, { ui: { theme: each } })}
            />
            <span class="theme-sample"><mantel-icon name=${THEME_ICONS[each]}></mantel-icon></span>
            ${labels[each]}
          </label>`,
      )}
    </fieldset>
    ${settingRow({
      id: "night",
      title: texts.atNight,
      hint: texts.atNightHint,
      input: switchInput("night", night !== null, (isOn) =>
        save(parts, { ui: { night: isOn ? NIGHT : null } }),
      ),
    })}
    ${night === null ? nothing : nightTimes(parts, night)}
  </section>`;
}

function nightTimes(
  parts: SettingsDependencies,
  night: { readonly from: string; readonly to: string },
): TemplateResult {
  const texts = words.value;
  const time = (key: "from" | "to", label: string): TemplateResult =>
    html`<label
      >${label}
      <input
        type="time"
        required
        .value=${night[key]}
        @change=${({ currentTarget }: Event) => {
          const input = currentTarget as HTMLInputElement;
          if (input.reportValidity())
            save(parts, { ui: { night: { ...night, [key]: input.value } } });
        }}
      />
    </label>`;
  return html`<div class="setting-row times" data-setting="night-times">
    ${time("from", texts.nightFrom)} ${time("to", texts.nightTo)}
  </div>`;
}

function idleView(parts: SettingsDependencies, ui: UiSettings, hasPhotos: boolean): TemplateResult {
  const texts = words.value;
  const { idleSeconds = 300, screensaver = "" } = ui;
  const offered = IDLE_SECONDS.includes(idleSeconds)
    ? IDLE_SECONDS
    : [idleSeconds, ...IDLE_SECONDS];
  const format = new Intl.NumberFormat(currentLocale.value, {
    style: "unit",
    unit: "minute",
    unitDisplay: "long",
    maximumFractionDigits: 1,
  });
  return html`<section class="panel setting-rows">
    ${selectRow({
      id: "idle",
      title: texts.nobodyNear,
      hint: texts.nobodyNearHint,
      value: `${idleSeconds}`,
      options: offered.map((seconds) => [
        `${seconds}`,
        seconds === 0 ? texts.never : format.format(seconds / 60),
      ]),
      onChange: (seconds) => save(parts, { ui: { idleSeconds: Number(seconds) } }),
    })}
    ${
      idleSeconds === 0 || !parts.mayAdminister
        ? nothing
        : selectRow({
            id: "screensaver",
            title: texts.screensaver,
            hint: texts.screensaverHint,
            value: screensaver,
            options: [
              ["", texts.screensaverNone],
              ["clock", texts.screensaverClock],
              ...(hasPhotos || screensaver === "photos"
                ? [["photos", texts.screensaverPhotos] as const]
                : []),
            ],
            onChange: (choice) => save(parts, { ui: { screensaver: choice || null } }),
          })
    }
  </section>`;
}
