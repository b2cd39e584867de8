import type { Fault } from "@mantel/plugin-sdk/errors";
import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";

const SHOWN_LENGTH = 60;

/**
 * A validator's errors as faults for people: one for each wrong place, with the value that is wrong
 * and what it must be. Values of fields marked `writeOnly` are never shown.
 */
export function readableFaults(
  schema: TSchema,
  value: unknown,
  errors: readonly TLocalizedValidationError[],
): Fault[] {
  const faults = new Map<string, Fault>();
  for (const error of settleUnions(errors)) {
    for (const fault of describe(error, schema, value)) {
      faults.set(`${fault.pointer}\n${fault.detail}`, fault);
    }
  }
  return [...faults.values()];
}

/** One reference token of a JSON pointer (RFC 6901, section 3). */
export function pointerToken(key: string | number): string {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Leaves of each union the errors of the one alternative that was meant, or the union's own error
 * when that is not plain. An outer union is reported after the unions inside it.
 */
function settleUnions(
  errors: readonly TLocalizedValidationError[],
): readonly TLocalizedValidationError[] {
  const union = errors.findLast(({ keyword }) => keyword === "anyOf");
  if (!union) return errors;
  const inside = errors.filter((error) => isInside(error, union));
  const outside = errors.filter((error) => error !== union && !inside.includes(error));
  const meant = meantAlternative(union, inside);
  return [...settleUnions(outside), ...(meant ? settleUnions(meant) : [union])];
}

function isInside(error: TLocalizedValidationError, union: TLocalizedValidationError): boolean {
  return (
    error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`) &&
    `${error.instancePath}/`.startsWith(`${union.instancePath}/`)
  );
}

/** The alternative of the right type and with the right fixed values that lacks least to fit. */
function meantAlternative(
  union: TLocalizedValidationError,
  inside: readonly TLocalizedValidationError[],
): readonly TLocalizedValidationError[] | undefined {
  const from = `${union.schemaPath}/anyOf/`.length;
  const alternatives = new Map<string, TLocalizedValidationError[]>();
  for (const error of inside) {
    const index = error.schemaPath.slice(from).split("/", 1)[0] ?? "";
    alternatives.set(index, [...(alternatives.get(index) ?? []), error]);
  }
  const all = [...alternatives.values()];
  const [best, second] = all
    .filter((each) => !each.some((error) => isMismatch(error, union.instancePath)))
    .toSorted((a, b) => a.length - b.length);
  if (best) return best.length === second?.length ? undefined : best;
  const [only, ...others] = all.filter((each) => each.every((error) => isOfOne(error, union)));
  return others.length === 0 ? only : undefined;
}

/** A wrong choice in a property is no sign of another alternative where only one is left without it. */
function isOfOne(error: TLocalizedValidationError, { instancePath }: TLocalizedValidationError) {
  if (error.keyword === "enum" && error.instancePath !== instancePath) return true;
  return !isMismatch(error, instancePath);
}

/** True when the error says that another alternative was meant: of the value, or of one property. */
function isMismatch({ keyword, instancePath }: TLocalizedValidationError, at: string): boolean {
  if (keyword === "type") return instancePath === at;
  return (
    (keyword === "const" || keyword === "enum") &&
    instancePath.slice(at.length).lastIndexOf("/") <= 0
  );
}

function describe(error: TLocalizedValidationError, schema: TSchema, value: unknown): Fault[] {
  const { keyword, schemaPath, instancePath: pointer } = error;
  if (keyword === "additionalProperties") return []; // each such property has an error of its own
  if (keyword === "required") {
    return error.params.requiredProperties.map((key) => ({
      pointer: `${pointer}/${pointerToken(key)}`,
      detail: "is missing",
    }));
  }
  if (keyword === "boolean") {
    const owner = follow(schema, schemaPath.slice(1).replace(/\/additionalProperties$/, ""));
    return [{ pointer, detail: unknownKey(owner.end) }];
  }
  const place = follow(schema, schemaPath.slice(1));
  if (keyword === "~refine") return [{ pointer, detail: error.message }];
  const found = place.secret ? "" : `is ${shown(follow(value, pointer).end)}; it `;
  return [{ pointer, detail: `${found}must ${demand(error, place.end)}` }];
}

function unknownKey(owner: unknown): string {
  const known = Object.keys((owner as { properties?: object } | undefined)?.properties ?? {});
  return known.length === 0
    ? "is not a known key"
    : `is not a known key; the known ones are ${known.join(", ")}`;
}

const LIMITS = new Map<string, string>([
  ["minimum", "at least"],
  ["maximum", "at most"],
  ["exclusiveMinimum", "above"],
  ["exclusiveMaximum", "below"],
]);

/** What comes after "must". */
function demand(error: TLocalizedValidationError, schema: unknown): string {
  const { keyword, params, message } = error;
  if (keyword === "type") return `be of type ${[params.type].flat().join(" or ")}`;
  if (keyword === "anyOf") return `be ${alternativesOf(schema).join(", or ")}`;
  if (keyword === "const") return `be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === "enum") return `be one of ${listed(params.allowedValues)}`;
  const limit = LIMITS.get(keyword);
  if (limit !== undefined && "limit" in params) return `be ${limit} ${params.limit}`;
  return formOf(keyword, schema) ?? message.replace(/^must /, "");
}

/** The description of a text says more of its form than its pattern does. */
function formOf(keyword: string, schema: unknown): string | undefined {
  const { description } = (schema ?? {}) as { description?: unknown };
  const isOfForm = keyword === "pattern" || keyword === "format";
  return isOfForm && typeof description === "string" ? `be ${description}` : undefined;
}

function listed(values: readonly unknown[]): string {
  return values.map((each) => JSON.stringify(each)).join(", ");
}

/** What each alternative of a union asks for, in a few words. */
function alternativesOf(union: unknown): string[] {
  const { anyOf = [] } = (union ?? {}) as { anyOf?: Alternative[] };
  return [...new Set(anyOf.map(alternative))];
}

interface Alternative {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Alternative>>;
  readonly required?: readonly string[];
}

function alternative(schema: Alternative): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return listed(schema.enum);
  if (schema.type !== "object" || !schema.required) return `of type ${schema.type ?? "any"}`;
  const keys = schema.required.map((key) => {
    const fixed = schema.properties?.[key]?.const;
    return fixed === undefined ? key : `${key} ${JSON.stringify(fixed)}`;
  });
  return `an object with ${keys.join(", ")}`;
}

/** The value at the end of a JSON pointer, and whether a schema on the way is of a secret. */
function follow(from: unknown, pointer: string): { end: unknown; secret: boolean } {
  let end = from;
  let secret = isSecret(from);
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof end !== "object" || end === null || !Object.hasOwn(end, key)) {
      return { end: undefined, secret };
    }
    end = (end as Record<string, unknown>)[key];
    secret ||= isSecret(end);
  }
  return { end, secret };
}

function isSecret(schema: unknown): boolean {
  return (schema as { writeOnly?: unknown } | null | undefined)?.writeOnly === true;
}

function shown(value: unknown): string {
  if (value === undefined) return "absent";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value).replace(/\/\/[^/@]*@/, "//…@"); // the password of an address
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}
