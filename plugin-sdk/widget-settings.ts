import type {
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TLiteral,
  TNumber,
  TString,
  TUnion,
} from "typebox";
import type { ValueOf } from "./schema.ts";

type SingleSetting = TString | TNumber | TInteger | TBoolean | TEnum | TUnion<TLiteral[]>;

/**
 * The TypeBox schema of a setting: text, a number, a switch, a choice, or a list of these. An absent or invalid value
 * becomes `default`; without one, the first choice, the smallest number, or an empty value. The formats `device`,
 * `room`, `date`, `color`, `icon`, `lines` and those of `s.named` select the input in the settings form.
 */
export type Setting = SingleSetting | TArray<SingleSetting>;
export type Settings = Readonly<Record<string, Setting>>;
export type SettingValues<S extends Settings> = { readonly [K in keyof S]: ValueOf<S[K]> };

interface Titled<T> {
  readonly title?: string;
  readonly default?: T;
}

interface Limits {
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
}

/**
 * A TypeBox schema is plain JSON Schema. Writing it as such keeps TypeBox itself out of the code of the page; its
 * types are all that widgets need.
 */
const schema = <S extends Setting>(keywords: object): S => {
  const given = Object.entries(keywords).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as S;
};
const text = (keywords: object) => schema<TString>({ type: "string", default: "", ...keywords });

/** A measured value such as `humidity`, a kind of devices, a group, or the id of a scene or calendar. */
export type NamedThing = "field" | "kind" | "group" | "scene" | "calendar";

/** Short forms of the TypeBox schemas of settings. Schemas made with `Type` from `typebox` work as well. */
export const s = {
  text: (o: Titled<string> = {}) => text(o),
  /** Text of several lines. */
  lines: (o: Titled<string> = {}) => text({ format: "lines", ...o }),
  number: ({ min, max, step, ...o }: Titled<number> & Limits = {}) =>
    schema<TNumber>({
      type: "number",
      default: min ?? 0,
      minimum: min,
      maximum: max,
      multipleOf: step,
      ...o,
    }),
  bool: (o: Titled<boolean> = {}) => schema<TBoolean>({ type: "boolean", default: false, ...o }),
  choice: <const T extends string>(values: readonly T[], o: Titled<T> = {}) =>
    schema<TEnum<T[]>>({ enum: values, default: values[0], ...o }),
  /** The id of a device, or an empty text. */
  device: ({ kind, ...o }: { kind?: string; title?: string } = {}) =>
    text({ format: "device", deviceKind: kind, ...o }),
  room: (o: { title?: string } = {}) => text({ format: "room", ...o }),
  /** The name or id of a thing of the home, which people choose from a list, or an empty text. */
  named: (format: NamedThing, o: Titled<string> = {}) => text({ format, ...o }),
  /** A date such as `2026-12-24`, or an empty text. */
  date: (o: Titled<string> = {}) => text({ format: "date", ...o }),
  color: (o: Titled<string> = {}) => text({ format: "color", ...o }),
  icon: (o: Titled<`mdi:${string}`> = {}) => text({ format: "icon", ...o }),
  list: <T extends SingleSetting>(items: T, { max }: { max?: number } = {}) =>
    schema<TArray<T>>({ type: "array", items, default: [], maxItems: max }),
} as const;
