import { currentLocale } from "../i18n/language.ts";

/** Bytes as MiB; a dash if unknown. */
export function formatSize(bytes: number | null): string {
  return bytes === null ? "–" : `${numberOf(bytes / 2 ** 20)} MiB`;
}

/** Percent; a dash if unknown. */
export function formatPercent(percent: number | null): string {
  return percent === null
    ? "–"
    : numberOf(percent / 100, { style: "percent", maximumFractionDigits: 1 });
}

/** Milliseconds; a dash if unknown. */
export function formatMs(ms: number | null): string {
  return ms === null ? "–" : `${numberOf(ms)} ms`;
}

/** An instant (ISO 8601) as a local date and time; a dash if unknown. */
export function formatInstant(at: string | null): string {
  if (at === null) return "–";
  const options = { dateStyle: "medium", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat(currentLocale.value, options).format(new Date(at));
}

const WHOLE: Intl.NumberFormatOptions = { maximumFractionDigits: 0 };

function numberOf(value: number, options = WHOLE): string {
  return new Intl.NumberFormat(currentLocale.value, options).format(value);
}
