import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import type { Fault } from "./errors.ts";

const SHOWN_LENGTH = 60;
/** The longest pointer to a fault, in characters: each fault below it repeats it, and nobody reads it. */
const LONGEST_WAY = 4_000;
const MOST_LISTED = 100;

/**
 * A validator's errors as user-facing faults: one for each wrong location, with the wrong value
 * and the expected one. Values of fields marked `writeOnly` are never shown.
 */
export function toValidationErrors(
  schema: TSchema,
  value: unknown,
  errors: readonly TLocalizedValidationError[],
): Fault[] {
  const faults = new Map<string, Fault>();
  const readable = errors.filter(isReadable);
  if (readable.length < errors.length) {
    faults.set("", { pointer: "", detail: "is invalid below a name that is too long" });
  }
  for (const error of settleUnions(readable)) {
    for (const fault of describe(error, schema, value)) {
      faults.set(`${fault.pointer}\n${fault.detail}`, fault);
    }
  }
  return [...faults.values()];
}

/** Compares lengths only: the texts themselves are not assembled yet. */
function isReadable({ instancePath, schemaPath }: TLocalizedValidationError): boolean {
  return instancePath.length <= LONGEST_WAY && schemaPath.length <= 2 * LONGEST_WAY;
}

/** One reference token of a JSON pointer (RFC 6901, section 3). */
export function pointerToken(key: string | number): string {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Reduces the errors of each union to those of the intended alternative, or to the union's own error
 * if that is unclear. The errors inside a union are reported right before its own.
 */
function settleUnions(
  errors: readonly TLocalizedValidationError[],
): readonly TLocalizedValidationError[] {
  const plain: TLocalizedValidationError[] = [];
  const settled: (readonly TLocalizedValidationError[])[] = [];
  for (let at = errors.length - 1; at >= 0; at--) {
    const error = errors[at];
    if (error?.keyword !== "anyOf") {
      if (error) plain.push(error);
      continue;
    }
    const end = at;
    const isInside = insideOf(error);
    for (let before = errors[at - 1]; before && isInside(before); before = errors[at - 1]) at--;
    const meant = meantAlternative(error, errors.slice(at, end));
    settled.push(meant ? settleUnions(meant) : [error]);
  }
  return [...plain.toReversed(), ...settled.toReversed().flat()];
}

function insideOf(union: TLocalizedValidationError): (error: TLocalizedValidationError) => boolean {
  const [schemaPath, place] = [`${union.schemaPath}/anyOf/`, `${union.instancePath}/`];
  return (error) =>
    error.schemaPath.startsWith(schemaPath) &&
    (error.instancePath === union.instancePath || error.instancePath.startsWith(place));
}

/** The alternative of the right type and with the right fixed values that has the fewest errors. */
function meantAlternative(
  union: TLocalizedValidationError,
  inside: readonly TLocalizedValidationError[],
): readonly TLocalizedValidationError[] | undefined {
  const from = `${union.schemaPath}/anyOf/`.length;
  const alternatives = new Map<string, TLocalizedValidationError[]>();
  for (const error of inside) {
    const index = error.schemaPath.slice(from).split("/", 1)[0] ?? "";
    const errors = alternatives.get(index);
    if (errors) errors.push(error);
    else alternatives.set(index, [error]);
  }
  const all = [...alternatives.values()];
  const [best, second] = all
    .filter((each) => !each.some((error) => isMismatch(error, union.instancePath)))
    .toSorted((a, b) => a.length - b.length);
  if (best) return best.length === second?.length ? undefined : best;
  const [only, ...others] = all.filter((each) => each.every((error) => isOfOne(error, union)));
  return others.length === 0 ? only : undefined;
}

/** True if the error does not point to another alternative. A wrong choice in a property does not. */
function isOfOne(error: TLocalizedValidationError, { instancePath }: TLocalizedValidationError) {
  if (error.keyword === "enum" && error.instancePath !== instancePath) return true;
  return !isMismatch(error, instancePath);
}

/** True if the error means that another alternative was intended: by the value, or by one property. */
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
  const all = Object.keys((owner as { properties?: object } | undefined)?.properties ?? {});
  const known = all.slice(0, MOST_LISTED).map((each) => beginningOf(each, SHOWN_LENGTH));
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

/** The text after "must". */
function demand(error: TLocalizedValidationError, schema: unknown): string {
  const { keyword, params, message } = error;
  if (keyword === "type") return `be of type ${[params.type].flat().join(" or ")}`;
  if (keyword === "anyOf") return `be ${alternativesOf(schema).join(", or ")}`;
  if (keyword === "const") return `be ${listed([params.allowedValue])}`;
  if (keyword === "enum") return `be one of ${listed(params.allowedValues)}`;
  const limit = LIMITS.get(keyword);
  if (limit !== undefined && "limit" in params) return `be ${limit} ${params.limit}`;
  return formOf(keyword, schema) ?? message.replace(/^must /, "");
}

/** The description of a text field, which explains its form better than its pattern. */
function formOf(keyword: string, schema: unknown): string | undefined {
  const { description } = (schema ?? {}) as { description?: unknown };
  const isOfForm = keyword === "pattern" || keyword === "format";
  return isOfForm && typeof description === "string" ? `be ${description}` : undefined;
}

function listed(values: readonly unknown[]): string {
  const some = values
    .slice(0, MOST_LISTED)
    .map((each) => shortened(JSON.stringify(each), MOST_LISTED));
  return `${some.join(", ")}${values.length > MOST_LISTED ? " …" : ""}`;
}

/** A short description of each alternative of a union. */
function alternativesOf(union: unknown): string[] {
  const { anyOf = [] } = (union ?? {}) as { anyOf?: Alternative[] };
  return [...new Set(anyOf.slice(0, MOST_LISTED).map(alternative))];
}

interface Alternative {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Alternative>>;
  readonly required?: readonly string[];
}

function alternative(schema: Alternative): string {
  if (schema.const !== undefined) return listed([schema.const]);
  if (schema.enum) return listed(schema.enum);
  if (schema.type !== "object" || !schema.required) return `of type ${schema.type ?? "any"}`;
  const keys = schema.required.map((key) => {
    const fixed = schema.properties?.[key]?.const;
    return fixed === undefined ? key : `${key} ${JSON.stringify(fixed)}`;
  });
  return `an object with ${keys.join(", ")}`;
}

/** The value at the end of a JSON pointer, and true for `secret` if a schema on the way is write-only. */
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
  if (typeof value === "number") return String(value); // JSON has neither NaN nor Infinity
  const text = JSON.stringify(value).replace(/\/\/[^/@]*@/, "//…@"); // hides the password of a URL
  return shortened(text, SHOWN_LENGTH);
}

/** A text that is at most `length` UTF-16 units long, or its beginning and an ellipsis. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${beginningOf(text, length)}…` : text;
}

/** At most `length` UTF-16 units of a text. Cuts between code points, never within a surrogate pair. */
export function beginningOf(text: string, length: number): string {
  const isPairCut = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, isPairCut ? length - 1 : length);
}
