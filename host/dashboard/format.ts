import type { FormatUnit, WidgetContext } from "@mantel/plugin-sdk/widget";
import type { UiSettings } from "./store.ts";

type Formats = WidgetContext<never, never>["fmt"];

const DATE_STYLES = {
  day: { weekday: "long", day: "numeric", month: "long" },
  short: { day: "numeric", month: "short" },
  full: { weekday: "long", day: "numeric", month: "long", year: "numeric" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Words and numbers in the house's language, time zone and units. */
export function createFormats({ locale, timeZone, units }: Required<Pick<UiSettings, "locale" | "timeZone" | "units">>): Formats {
  const dates = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone });
  const time = dates({ hour: "2-digit", minute: "2-digit" });
  const styles = {
    day: dates(DATE_STYLES.day),
    short: dates(DATE_STYLES.short),
    full: dates(DATE_STYLES.full),
  };
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
  const number = (value: number, options: Intl.NumberFormatOptions = {}): string =>
    new Intl.NumberFormat(locale, options).format(value);
  return {
    time: (at) => time.format(at),
    date: (at, style = "day") => styles[style].format(at),
    relative: (at) => relativeTo(relative, Number(at) - Date.now()),
    number,
    unit: (value, unit) => withUnit(number, value, unit, units === "imperial"),
  };
}

const STEPS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

function relativeTo(format: Intl.RelativeTimeFormat, ms: number): string {
  const [unit, length] = STEPS.find(([, each]) => Math.abs(ms) >= each * 1.5) ?? ["minute", 60_000];
  return format.format(Math.round(ms / length), unit);
}

type NumberFormat = (value: number, options?: Intl.NumberFormatOptions) => string;

function withUnit(number: NumberFormat, value: number, unit: FormatUnit, imperial: boolean): string {
  const tenth = { maximumFractionDigits: 1 };
  switch (unit) {
    case "temperature":
      return `${number(imperial ? value * 1.8 + 32 : value, { minimumFractionDigits: 1, ...tenth })}°`;
    case "power":
      return scaled(number, value, ["W", "kW", "MW"], 1000);
    case "energy":
      return `${number(value, tenth)} kWh`;
    case "speed":
      return imperial ? `${number(value / 1.609, tenth)} mph` : `${number(value, tenth)} km/h`;
    case "rain":
      return imperial ? `${number(value / 25.4, tenth)} in` : `${number(value, tenth)} mm`;
    case "bytes":
      return scaled(number, value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
    case "percent":
      return `${number(value, { maximumFractionDigits: 0 })} %`;
  }
}

/** A value in the largest of its units that keeps it at 1 or more. */
function scaled(number: NumberFormat, value: number, units: readonly string[], base: number): string {
  let step = 0;
  let left = value;
  for (; Math.abs(left) >= base && step < units.length - 1; step++) left /= base;
  return `${number(left, { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
}
