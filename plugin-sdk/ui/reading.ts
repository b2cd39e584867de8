import type { FormatUnit, Speech } from "../speech.ts";

/** One measured value with its time in epoch milliseconds. It holds until the next one. */
export interface Reading {
  readonly at: number;
  readonly value: number;
}

/** Units that people choose in the settings of the house, or that grow with the value. */
const FORMATS: Readonly<Record<string, FormatUnit>> = {
  "°C": "temperature",
  W: "power",
  kWh: "energy",
};

/** A measured value as people read it, its unit apart where it stands apart. */
export function shownReading(
  value: number,
  { unit = "", step = 1 }: { readonly unit?: string; readonly step?: number },
  { fmt }: Pick<Speech, "fmt">,
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

/** A measured value in one text, such as `1.2 kW`. */
export function readingText(
  value: number,
  capability: { readonly unit?: string; readonly step?: number },
  speech: Pick<Speech, "fmt">,
): string {
  const { unit, step = 1 } = capability;
  if (unit === "%") {
    return speech.fmt.unit(value, "percent", { maximumFractionDigits: digitsOf(step) });
  }
  const shown = shownReading(value, capability, speech);
  return shown.unit === undefined ? shown.value : `${shown.value} ${shown.unit}`;
}
