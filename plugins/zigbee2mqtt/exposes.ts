/** Bits of `access`: published in the state, settable, readable on request. */
export const ACCESS = { told: 1, settable: 2, gettable: 4 } as const;

const DEEPEST = 4;
const MOST_EXPOSES = 1_000;
const MOST_VALUES = 1_000;

/** One entry of a definition's `exposes`; fields of the wrong type are absent. */
export interface Expose {
  readonly type: string;
  readonly name: string;
  readonly property: string;
  readonly endpoint: string | undefined;
  readonly access: number;
  readonly unit: unknown;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly step: number | undefined;
  readonly values: readonly string[];
  readonly on: unknown;
  readonly off: unknown;
  readonly features: readonly Expose[];
  readonly category: "config" | "diagnostic" | undefined;
  /** Of a list: what each element is, and the permitted numbers of elements. */
  readonly item: Expose | undefined;
  readonly leastItems: number | undefined;
  readonly mostItems: number | undefined;
}

/** Parses untrusted `exposes`. Invalid entries are left out. */
export function parseExposes(input: unknown, depth = 0): Expose[] {
  if (!Array.isArray(input) || depth > DEEPEST) return [];
  return input.slice(0, MOST_EXPOSES).flatMap((raw: unknown) => {
    return isObject(raw) ? [parseExpose(raw, depth)] : [];
  });
}

function isObject(raw: unknown): raw is Record<string, unknown> {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw);
}

function parseExpose(raw: Record<string, unknown>, depth: number): Expose {
  const name = textOf(raw["name"]) ?? textOf(raw["property"]) ?? "";
  const { category, item_type: item } = raw;
  return {
    type: textOf(raw["type"]) ?? "",
    name,
    property: textOf(raw["property"]) ?? name,
    endpoint: textOf(raw["endpoint"]),
    access: numberOf(raw["access"]) ?? 0,
    unit: raw["unit"],
    min: numberOf(raw["value_min"]),
    max: numberOf(raw["value_max"]),
    step: numberOf(raw["value_step"]),
    values: valuesOf(raw["values"]),
    on: raw["value_on"],
    off: raw["value_off"],
    features: parseExposes(raw["features"], depth + 1),
    category: category === "config" || category === "diagnostic" ? category : undefined,
    item: isObject(item) && depth < DEEPEST ? parseExpose(item, depth + 1) : undefined,
    leastItems: numberOf(raw["length_min"]),
    mostItems: numberOf(raw["length_max"]),
  };
}

function valuesOf(input: unknown): string[] {
  if (!Array.isArray(input)) return [];
  const texts = input.filter((value) => ["string", "number", "boolean"].includes(typeof value));
  return [...new Set(texts.slice(0, MOST_VALUES).map(String))];
}

function textOf(input: unknown): string | undefined {
  return typeof input === "string" && input !== "" ? input.slice(0, 200) : undefined;
}

function numberOf(input: unknown): number | undefined {
  return typeof input === "number" && Number.isFinite(input) ? input : undefined;
}
