import { spokenLocale } from "../i18n/language.ts";

/** Bytes as MiB; a dash if unknown. */
export function sizeOf(bytes: number | null): string {
  return bytes === null ? "–" : `${numberOf(bytes / 2 ** 20)} MiB`;
}

/** Percent; a dash if unknown. */
export function shareOf(percent: number | null): string {
  return percent === null
    ? "–"
    : numberOf(percent / 100, { style: "percent", maximumFractionDigits: 1 });
}

/** Milliseconds; a dash if unknown. */
export function spanOf(ms: number | null): string {
  return ms === null ? "–" : `${numberOf(ms)} ms`;
}

/** An instant (ISO 8601) as a local date and time; a dash if unknown. */
export function instantOf(at: string | null): string {
  if (at === null) return "–";
  const options = { dateStyle: "medium", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat(spokenLocale.value, options).format(new Date(at));
}

const WHOLE: Intl.NumberFormatOptions = { maximumFractionDigits: 0 };

function numberOf(value: number, options = WHOLE): string {
  return new Intl.NumberFormat(spokenLocale.value, options).format(value);
}
