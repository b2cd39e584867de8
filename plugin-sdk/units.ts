import { UNITS, type Unit } from "./device.ts";

/**
 * Converts a level from 0 to `max` (at least 1) to percent. Each level has its own percent value, and a whole
 * percent survives the round trip through `toLevel`, so repeated conversions do not drift. A level outside the
 * range gives a percent outside 0 to 100.
 */
export function toPercent(level: number, max: number): number {
  const exact = (level / max) * 100;
  const whole = Math.round(exact);
  return toLevel(whole, max) === level ? whole : Number(exact.toFixed(decimalsFor(max)));
}

/** Converts percent to a whole level from 0 to `max`. A percent above 0 never becomes 0, which would turn a light off. */
export function toLevel(percent: number, max: number): number {
  return percent > 0 ? Math.max(1, Math.round((percent / 100) * max)) : 0;
}

/** Converts a colour temperature from mired to whole kelvin. Values below 1 mired count as 1. */
export const toKelvin = (mired: number): number => Math.round(1e6 / Math.max(1, mired));

/** Converts a colour temperature from kelvin to whole mired. The formula is the same in both directions. */
export const toMired = (kelvin: number): number => toKelvin(kelvin);

/** The number of decimals that distinguishes neighbouring levels. */
function decimalsFor(max: number): number {
  return Math.max(0, Math.floor(Math.log10(max)) - 1);
}

/** The canonical unit for a unit of a bridge, and the conversions between them. */
export interface UnitConversion {
  /** Absent if the unit is not known: values then stay as they are. */
  readonly unit?: Unit;
  readonly toOurs: (value: number) => number;
  readonly toTheirs: (value: number) => number;
}

const UNCHANGED: UnitConversion = { toOurs: (value) => value, toTheirs: (value) => value };

const FAHRENHEIT: UnitConversion = {
  unit: "°C",
  toOurs: (value) => Number((((value - 32) * 5) / 9).toFixed(2)),
  toTheirs: (value) => Number(((value * 9) / 5 + 32).toFixed(2)),
};

/** Spellings and scales by canonical unit: the factor by which a value is multiplied. */
const SCALES: Readonly<Partial<Record<Unit, Readonly<Record<string, number>>>>> = {
  "%": { percent: 1, "% RH": 1, "%RH": 1 },
  "°C": { "℃": 1, "º C": 1, ºC: 1, C: 1, celsius: 1 },
  lx: { lux: 1, klx: 1_000, klux: 1_000 },
  W: { mW: 0.001, kW: 1_000, MW: 1e6, watt: 1 },
  kWh: {
    Wh: 0.001,
    MWh: 1_000,
    GWh: 1e6,
    J: 1 / 3.6e6,
    kJ: 1 / 3_600,
    MJ: 1 / 3.6,
    GJ: 1_000 / 3.6,
  },
  hPa: {
    mbar: 1,
    mBar: 1,
    cbar: 10,
    bar: 1_000,
    Pa: 0.01,
    kPa: 10,
    MPa: 10_000,
    psi: 68.947_573,
    inHg: 33.863_887,
    mmHg: 1.333_224,
  },
  "°": { deg: 1, degree: 1, degrees: 1 },
  V: { µV: 1e-6, mV: 0.001, kV: 1_000, volt: 1 },
  A: { µA: 1e-6, mA: 0.001, kA: 1_000, ampere: 1 },
  ppm: { "mg/L": 1, "mg/l": 1 },
  ppb: {},
  "µg/m³": { "µg/m3": 1, "ug/m3": 1, "ug/m³": 1, "mg/m³": 1_000, "mg/m3": 1_000, "ng/m³": 0.001 },
  s: { ms: 0.001, sec: 1, "sec.": 1, secs: 1, second: 1, seconds: 1 },
  min: {
    mins: 1,
    minute: 1,
    minutes: 1,
    h: 60,
    hr: 60,
    hrs: 60,
    hour: 60,
    Hr: 60,
    hours: 60,
    d: 1_440,
    day: 1_440,
    days: 1_440,
  },
  dB: { dBA: 1, "dB(A)": 1 },
  Hz: { mHz: 0.001, kHz: 1_000, MHz: 1e6, GHz: 1e9 },
  VA: { mVA: 0.001, kVA: 1_000 },
  var: { mvar: 0.001, kvar: 1_000, VAR: 1, kVAR: 1_000 },
  "m³": { m3: 1, CCF: 2.831_685, MCF: 28.316_847, "ft³": 0.028_316_847, ft3: 0.028_316_847 },
  L: { l: 1, mL: 0.001, ml: 0.001, gal: 3.785_412, "fl. oz.": 0.029_573_5 },
  "m³/h": {
    "m3/h": 1,
    "L/min": 0.06,
    "l/min": 0.06,
    "L/h": 0.001,
    "l/h": 0.001,
    "L/s": 3.6,
    "m³/min": 60,
    "m³/s": 3_600,
    "gal/min": 0.227_124_7,
    "ft³/min": 1.699_011,
  },
  mm: { cm: 10, in: 25.4 },
  "mm/h": { "mm/hr": 1, "in/h": 25.4, "mm/d": 1 / 24, "in/d": 25.4 / 24 },
  m: { meter: 1, meters: 1, metre: 1, metres: 1, ft: 0.3048, yd: 0.9144 },
  km: { mi: 1.609_344, nmi: 1.852 },
  "km/h": {
    kmh: 1,
    "m/s": 3.6,
    mph: 1.609_344,
    "mi/h": 1.609_344,
    kn: 1.852,
    "ft/s": 1.097_28,
    "mm/s": 0.0036,
  },
  kg: { g: 0.001, mg: 1e-6, lb: 0.453_592_37, oz: 0.028_349_523, st: 6.350_293_18 },
  "W/m²": { "W/m2": 1, "BTU/(h⋅ft²)": 3.154_591 },
  "µS/cm": { "uS/cm": 1, "mS/cm": 1_000, "S/cm": 1e6 },
};

/** Conversions between canonical units of one quantity. */
const BETWEEN: Readonly<Record<string, (value: number) => number>> = {
  "K °C": (value) => value - 273.15,
  "L m³": (value) => value / 1_000,
  "m³ L": (value) => value * 1_000,
  "km m": (value) => value * 1_000,
  "m km": (value) => value / 1_000,
  "mm m": (value) => value / 1_000,
  "m mm": (value) => value * 1_000,
  "ppm ppb": (value) => value * 1_000,
  "ppb ppm": (value) => value / 1_000,
  "s min": (value) => value / 60,
  "min s": (value) => value * 60,
};

/**
 * The conversion of values from a unit of a bridge to a canonical unit, also between canonical units of one quantity,
 * such as L and m³; `undefined` if the two measure different things.
 */
export function conversionTo(
  wanted: Unit | undefined,
  theirs: string,
): ((value: number) => number) | undefined {
  const { unit, toOurs } = toCanonicalUnit(theirs);
  if (unit === wanted) return toOurs;
  const convert = BETWEEN[`${unit ?? ""} ${wanted ?? ""}`];
  return convert && ((value) => Number(convert(toOurs(value)).toPrecision(12)));
}

const CONVERSIONS: ReadonlyMap<string, UnitConversion> = new Map([
  ...UNITS.flatMap((unit) => [
    [unit, { ...UNCHANGED, unit }] as const,
    ...Object.entries(SCALES[unit] ?? {}).map(
      ([theirs, factor]) => [theirs, scaled(unit, factor)] as const,
    ),
  ]),
  ...["°F", "℉", "F", "fahrenheit"].map((theirs) => [theirs, FAHRENHEIT] as const),
]);

/**
 * The canonical unit for what a bridge calls `unit`: `lux` becomes lx, `mbar` hPa, `°F` °C. Kelvin stays, because it is
 * the unit of colour temperatures.
 */
export function toCanonicalUnit(unit: string): UnitConversion {
  const text = unit.normalize("NFKC").replaceAll("μ", "µ").trim();
  return (
    CONVERSIONS.get(unit) ??
    CONVERSIONS.get(text) ??
    CONVERSIONS.get(text.toLowerCase()) ??
    UNCHANGED
  );
}

function scaled(unit: Unit, factor: number): UnitConversion {
  return {
    unit,
    toOurs: (value) => Number((value * factor).toPrecision(12)),
    toTheirs: (value) => Number((value / factor).toPrecision(12)),
  };
}
