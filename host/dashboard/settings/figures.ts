import { spokenLocale } from "../words/language.ts";

/** Bytes as MiB; a dash when nothing is known. */
export function sizeOf(bytes: number | null): string {
  return bytes === null ? "–" : `${numberOf(bytes / 2 ** 20)} MiB`;
}

/** Percent; a dash when nothing is known. */
export function shareOf(percent: number | null): string {
  return percent === null
    ? "–"
    : numberOf(percent / 100, { style: "percent", maximumFractionDigits: 1 });
}

/** Milliseconds; a dash when nothing is known. */
export function spanOf(ms: number | null): string {
  return ms === null ? "–" : `${numberOf(ms)} ms`;
}

/** An instant (ISO 8601) as people read it; a dash when there is none. */
export function instantOf(at: string | null): string {
  if (at === null) return "–";
  const options = { dateStyle: "medium", timeStyle: "short" } as const;
  return new Intl.DateTimeFormat(spokenLocale.value, options).format(new Date(at));
}

const WHOLE: Intl.NumberFormatOptions = { maximumFractionDigits: 0 };

function numberOf(value: number, options = WHOLE): string {
  return new Intl.NumberFormat(spokenLocale.value, options).format(value);
}
