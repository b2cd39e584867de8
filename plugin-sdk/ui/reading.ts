import type { FormatUnit, I18n } from "../i18n.ts";

/** One measured value with its time in epoch milliseconds. It is valid until the next reading. */
export interface Reading {
  readonly at: number;
  readonly value: number;
}

/** Units that depend on the home's settings or on the size of the value. */
const FORMATS: Readonly<Record<string, FormatUnit>> = {
  "°C": "temperature",
  W: "power",
  kWh: "energy",
};

/** Formats a measured value, with its unit as a separate text where the tile shows it separately. */
export function shownReading(
  value: number,
  { unit = "", step = 1 }: { readonly unit?: string; readonly step?: number },
  { fmt }: Pick<I18n, "fmt">,
): { readonly value: string; readonly unit?: string } {
  const format = FORMATS[unit];
  if (format === undefined) {
    return withUnit(fmt.number(value, { maximumFractionDigits: digitsOf(step) }), unit);
  }
  const text = fmt.unit(value, format);
  const blank = text.lastIndexOf(" ");
  return blank === -1 ? { value: text } : withUnit(text.slice(0, blank), text.slice(blank + 1));
}

function digitsOf(step: number): number {
  return step < 1 ? 1 : 0;
}

function withUnit(value: string, unit: string): { value: string; unit?: string } {
  return unit === "" ? { value } : { value, unit };
}

/** Formats a measured value as one text, such as `1.2 kW`. */
export function readingText(
  value: number,
  capability: { readonly unit?: string; readonly step?: number },
  i18n: Pick<I18n, "fmt">,
): string {
  const { unit, step = 1 } = capability;
  if (unit === "%") {
    return i18n.fmt.unit(value, "percent", { maximumFractionDigits: digitsOf(step) });
  }
  const shown = shownReading(value, capability, i18n);
  return shown.unit === undefined ? shown.value : `${shown.value} ${shown.unit}`;
}
