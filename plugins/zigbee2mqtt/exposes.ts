/** Bits of `access`: published in the state, settable, readable on request. */
export const ACCESS = { told: 1, settable: 2, gettable: 4 } as const;

const DEEPEST = 4;
const MOST = 200;

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
}

/** Parses untrusted `exposes`. Invalid entries are left out. */
export function parseExposes(input: unknown, depth = 0): Expose[] {
  if (!Array.isArray(input) || depth > DEEPEST) return [];
  return input.slice(0, MOST).flatMap((raw: unknown) => {
    if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return [];
    return [parseExpose(raw as Record<string, unknown>, depth)];
  });
}

function parseExpose(raw: Record<string, unknown>, depth: number): Expose {
  const name = textOf(raw["name"]) ?? textOf(raw["property"]) ?? "";
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
  };
}

function valuesOf(input: unknown): string[] {
  if (!Array.isArray(input)) return [];
  const texts = input.filter((value) => ["string", "number", "boolean"].includes(typeof value));
  return [...new Set(texts.slice(0, MOST).map(String))];
}

function textOf(input: unknown): string | undefined {
  return typeof input === "string" && input !== "" ? input.slice(0, 200) : undefined;
}

function numberOf(input: unknown): number | undefined {
  return typeof input === "number" && Number.isFinite(input) ? input : undefined;
}
