import type { Formats, FormatUnit } from "./i18n.ts";

const DATE_STYLES = {
  day: { weekday: "long", day: "numeric", month: "long" },
  short: { day: "numeric", month: "short" },
  full: { weekday: "long", day: "numeric", month: "long", year: "numeric" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

interface FormatSettings {
  readonly locale: string;
  readonly timeZone: string;
  readonly units: "metric" | "imperial";
  /** The time of the home in epoch milliseconds; by default that of this machine. */
  readonly now?: () => number;
}

/** Formatters for the language, time zone and units of the home. */
export function createFormats({ locale, timeZone, units, now }: FormatSettings): Formats {
  const dates = cached(
    (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options),
  );
  const numbers = cached(
    (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options),
  );
  const relative = cached(
    (options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options),
  );
  const number: NumberFormat = (value, options = {}) => numbers(options).format(value);
  const written = units === "imperial" ? { ...METRIC, ...IMPERIAL } : METRIC;
  return {
    time: (at) => dates({ hour: "2-digit", minute: "2-digit", timeZone }).format(at),
    date: (at, style = "day") =>
      typeof at === "string"
        ? dates({ ...DATE_STYLES[style], timeZone: "UTC" }).format(Date.parse(at))
        : dates({ ...DATE_STYLES[style], timeZone }).format(at),
    relative: (at) =>
      relativeTo(relative({ numeric: "auto", style: "short" }), Number(at) - (now ?? Date.now)()),
    number,
    unit: (value, unit, options = {}) =>
      written[unit](value, (shown, usual) => number(shown, { ...usual, ...options })),
  };
}

/**
 * The formats of an API of `Intl` by their options. Creating one takes a hundred times as long as using it, so it is
 * created when it is first used, and kept: most widgets use one or two of them.
 */
function cached<Options, Format>(
  create: (options: Options) => Format,
): (options: Options) => Format {
  const formats = new Map<string, Format>();
  return (options) => {
    const key = JSON.stringify(options);
    const format = formats.get(key) ?? create(options);
    formats.set(key, format);
    return format;
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

type Written = (value: number, number: NumberFormat) => string;

const TENTH = { maximumFractionDigits: 1 } as const;

/** Units of the values: °C, W, kWh, km/h, mm, bytes and percent. */
const METRIC: Readonly<Record<FormatUnit, Written>> = {
  temperature: (value, number) => `${number(value, { minimumFractionDigits: 1, ...TENTH })}°`,
  power: scaled(["W", "kW", "MW"], 1000),
  energy: (value, number) => `${number(value, TENTH)} kWh`,
  speed: (value, number) => `${number(value, TENTH)} km/h`,
  rain: (value, number) => `${number(value, TENTH)} mm`,
  bytes: scaled(["B", "KiB", "MiB", "GiB", "TiB"], 1024),
  percent: (value, number) => number(value / 100, { style: "percent", maximumFractionDigits: 0 }),
};

const IMPERIAL = {
  temperature: (value, number) => METRIC.temperature(value * 1.8 + 32, number),
  speed: (value, number) => `${number(value / 1.609344, TENTH)} mph`,
  rain: (value, number) => `${number(value / 25.4, { maximumFractionDigits: 2 })} in`,
} satisfies Partial<Record<FormatUnit, Written>>;

/** The value in the largest unit in which it is at least 1. */
function scaled(units: readonly string[], base: number): Written {
  return (value, number) => {
    let step = 0;
    let left = value;
    for (; Math.abs(left) >= base && step < units.length - 1; step++) left /= base;
    return `${number(left, { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
  };
}
