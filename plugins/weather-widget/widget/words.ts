import type { I18n } from "@mantel/plugin-sdk/i18n";
import type { WeatherCondition, WeatherHour } from "./forecast.ts";

export const NAMES: Readonly<Record<WeatherCondition, string>> = {
  clear: "Clear",
  "partly-cloudy": "Partly cloudy",
  cloudy: "Cloudy",
  fog: "Fog",
  "light-rain": "Light rain",
  rain: "Rain",
  sleet: "Sleet",
  snow: "Snow",
  thunderstorm: "Thunderstorm",
};

export const TEXTS_DE = {
  Weather: "Wetter",
  "Weather in {place}": "Wetter in {place}",
  "Hours shown": "Angezeigte Stunden",
  "Days shown if they fit": "Angezeigte Tage, sofern Platz ist",
  "Forecast by {source}": "Vorhersage von {source}",
  Hourly: "Stündlich",
  Daily: "Täglich",
  Clear: "Klar",
  "Partly cloudy": "Leicht bewölkt",
  Cloudy: "Bewölkt",
  Fog: "Nebel",
  "Light rain": "Leichter Regen",
  Rain: "Regen",
  Sleet: "Schneeregen",
  Snow: "Schnee",
  Thunderstorm: "Gewitter",
  "dry after {time}": "trocken ab {time}",
  "wet from {time}": "nass ab {time}",
  "low {temperature}": "Tief {temperature}",
  "high {temperature}": "Hoch {temperature}",
  "The weather is not set up yet": "Das Wetter ist noch nicht eingerichtet",
  "Add your town in the settings.": "Füge deinen Ort in den Einstellungen hinzu.",
  "No forecast available": "Keine Vorhersage verfügbar",
  "Loading the forecast …": "Vorhersage wird geladen …",
} as const;

const HOUR_MS = 3_600_000;
/** Hours of the outlook. */
const AHEAD = 13;
const WET: ReadonlySet<WeatherCondition> = new Set([
  "light-rain",
  "rain",
  "sleet",
  "snow",
  "thunderstorm",
]);

/** The hours from the current one on. */
export function fromCurrentHour(hours: readonly WeatherHour[], now: number): WeatherHour[] {
  return hours.filter(({ at }) => Date.parse(at) + HOUR_MS > now);
}

/** The outlook: when it becomes dry or wet, and the highest or lowest temperature. */
export function outlook(
  hours: readonly WeatherHour[],
  { t, fmt, degrees }: I18n & { readonly degrees: (celsius: number) => string },
): string {
  const [now, ...later] = hours.slice(0, AHEAD);
  if (!now || later.length === 0) return "";
  const isWet = WET.has(now.condition);
  const turn = later.find(({ condition }) => WET.has(condition) !== isWet);
  const time = turn && fmt.time(Date.parse(turn.at));
  const temperatures = later.map(({ temperatureC }) => temperatureC);
  const [low, high] = [Math.min(...temperatures), Math.max(...temperatures)];
  const falls = now.temperatureC - low >= high - now.temperatureC;
  return [
    time === undefined ? [] : t(isWet ? "dry after {time}" : "wet from {time}", { time }),
    falls
      ? t("low {temperature}", { temperature: degrees(low) })
      : t("high {temperature}", { temperature: degrees(high) }),
  ]
    .flat()
    .join(" · ");
}

/** A short weekday, such as "Sat". */
export function dayName(date: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { weekday: "short", timeZone: "UTC" }).format(
    Date.parse(date),
  );
}
