export type FormatUnit =
  | "temperature"
  | "power"
  | "energy"
  | "speed"
  | "rain"
  | "bytes"
  | "percent";

/** Formats dates, numbers and units in the home's locale. Instants are `Date`s or epoch milliseconds. */
export interface Formats {
  time(at: Date | number): string;
  /** Formats the day of an instant in the home's time zone, or a date such as `2026-11-20`, which is in no zone. */
  date(at: Date | number | string, style?: "day" | "short" | "full"): string;
  relative(at: Date | number): string;
  number(value: number, options?: Intl.NumberFormatOptions): string;
  /**
   * Formats a `temperature` (given in °C), `power` (W), `energy` (kWh), `speed` (km/h), `rain` (mm), `bytes` or
   * `percent` (0 to 100), in the units of the home. `options` override the default number format.
   */
  unit(value: number, unit: FormatUnit, options?: Intl.NumberFormatOptions): string;
}

/** Translations by language (`de`), then by the English text. A missing translation falls back to English. */
export type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Translation and formatting for a widget. */
export interface I18n {
  /**
   * Translates an English text with the widget's `texts`; returns the text itself without a translation.
   * `{name}` is replaced by `values.name`. An effect that calls `t` runs again when the language changes.
   */
  readonly t: (text: string, values?: Readonly<Record<string, string | number>>) => string;
  readonly fmt: Formats;
}
