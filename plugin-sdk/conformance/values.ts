import type { Capability, Color, StateValue } from "../device.ts";
import { toMired } from "../units.ts";
import type { CanonicalCapability } from "../vocabulary/index.ts";
import { canonicalCapability } from "../vocabulary/index.ts";
import type { DeviceFunction } from "./device-function.ts";

type Value = Exclude<StateValue, null>;
type Numeric = Extract<Capability, { type: "number" }>;

/** A capability that is commanded and reported, with values that the device has to accept. */
export interface Setting {
  readonly name: string;
  readonly capability: Capability;
  readonly values: readonly Value[];
}

/** More levels than this are sampled. */
const MOST_LEVELS = 101;
const TEXTS = ["one", "Zwei & drei"];
/** Colours that every colour light can show, the first two close together. */
const COLORS: readonly Color[] = [
  { hue: 120, saturation: 50 },
  { hue: 118, saturation: 50 },
  { hue: 30, saturation: 60 },
  { hue: 240, saturation: 40 },
];
/** Lights mix colours from few LEDs. Degrees, and percent of saturation. */
const NEAR_COLOR = 3;
const EXACT = 1e-6;

/** The settings of a function. A code has no state. `textsOf` returns the values of a text, by its path. */
export function settingsOf(
  { path, kind, capabilities }: DeviceFunction,
  textsOf: (path: string) => readonly string[] | undefined,
): Setting[] {
  return Object.entries(capabilities).flatMap(([name, capability]) => {
    const canonical = canonicalCapability(kind, name);
    if (capability.readOnly === true || canonical?.access === "command") return [];
    const values =
      capability.type === "text"
        ? (textsOf(`${path}${name}`) ?? canonical?.examples ?? TEXTS)
        : valuesOf(capability, canonical);
    return values.length > 0 ? [{ name, capability, values }] : [];
  });
}

function valuesOf(capability: Capability, canonical: CanonicalCapability | undefined): Value[] {
  switch (capability.type) {
    case "boolean":
      return [true, false];
    case "choice":
      return [...capability.values];
    case "color":
      return [...COLORS];
    case "number":
      return levelsOf(capability, canonical);
    default:
      return [];
  }
}

/** Each step from the lowest to the highest level, or some of very many. */
function levelsOf(capability: Numeric, canonical: CanonicalCapability | undefined): number[] {
  const min = capability.min ?? canonical?.min ?? 0;
  const max = capability.max ?? canonical?.max ?? 100;
  const step = capability.step ?? (capability.unit === "%" ? 1 : (max - min) / 10);
  const steps = Math.floor((max - min) / step + EXACT);
  const every = Math.ceil((steps + 1) / MOST_LEVELS);
  const levels: number[] = [];
  for (let at = 0; at <= steps; at += every) levels.push(Math.min(max, tidy(min + at * step)));
  return levels;
}

/** Without the tail of a sum such as 0.1 + 0.2. */
const tidy = (value: number): number => Number(value.toFixed(9));

/** True if a shown value is the requested one. */
export function isSame({ type, ...rest }: Capability, asked: StateValue, shown: unknown): boolean {
  if (type === "color") return isColor(asked) && isColor(shown) && isNear(asked, shown);
  if (typeof asked !== "number" || typeof shown !== "number") return asked === shown;
  // a light counts in mired
  const isKelvin = "unit" in rest && rest.unit === "K";
  return isKelvin
    ? Math.abs(toMired(asked) - toMired(shown)) <= 1
    : Math.abs(asked - shown) <= EXACT;
}

function isColor(value: unknown): value is Color {
  return typeof value === "object" && value !== null && "hue" in value;
}

function isNear(one: Color, other: Color): boolean {
  const turn = Math.abs(one.hue - other.hue) % 360;
  const saturation = Math.abs(one.saturation - other.saturation);
  return Math.min(turn, 360 - turn) <= NEAR_COLOR && saturation <= NEAR_COLOR;
}

/** A level and its neighbour in the middle, or two values. `undefined` if there is only one. */
export function neighbours({ values }: Setting): readonly [Value, Value] | undefined {
  const at = typeof values[0] === "number" ? Math.floor((values.length - 1) / 2) : 0;
  const [one, other] = values.slice(at);
  return one === undefined || other === undefined ? undefined : [one, other];
}
