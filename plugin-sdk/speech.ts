export type FormatUnit =
  | "temperature"
  | "power"
  | "energy"
  | "speed"
  | "rain"
  | "bytes"
  | "percent";

/** Dates, numbers and units as the house writes them. Instants are dates or epoch milliseconds. */
export interface Formats {
  time(at: Date | number): string;
  date(at: Date | number, style?: "day" | "short" | "full"): string;
  relative(at: Date | number): string;
  number(value: number, options?: Intl.NumberFormatOptions): string;
  /**
   * Takes °C, W, kWh, km/h, mm, bytes and percent; shows the units of the house. Options say what the
   * number looks like where the usual way does not fit.
   */
  unit(value: number, unit: FormatUnit, options?: Intl.NumberFormatOptions): string;
}

/** Translations by language (`de`), then by the English text. What is missing stays English. */
export type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** How a widget says things. */
export interface Speech {
  /**
   * A text in the house's language: its translation in the widget's `texts`, or the text itself.
   * `{name}` in it stands for `values.name`. Read in an effect, it draws again when the language
   * changes.
   */
  readonly t: (text: string, values?: Readonly<Record<string, string | number>>) => string;
  readonly fmt: Formats;
}
