/** Checks a value. True only if the value is valid; false for an invalid one, and for a valid one of rare forms. */
type PlainCheck = (value: unknown) => boolean;

type Fields = Readonly<Record<string, unknown>>;

/** Keywords that only describe. */
const DESCRIBING = ["title", "description", "default", "examples"];
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties"],
  array: ["items", "minItems", "maxItems"],
  string: ["minLength", "maxLength", "enum", "const"],
  number: ["minimum", "maximum", "enum", "const"],
  integer: ["minimum", "maximum", "enum", "const"],
  boolean: ["enum", "const"],
  null: [],
};
const WITHOUT_TYPE = ["anyOf", "enum", "const"];
/** A text without characters that could be combined to one. */
const SIMPLE = /^[\x20-\x7e]*$/;

/**
 * A check by a plain JSON Schema that came from a plugin's process; `undefined` for a schema with other than the usual
 * keywords, or with references. It takes a hundredth of the time of the schema library, which interprets such schemas.
 */
export function plainCheck(schema: unknown): PlainCheck | undefined {
  if (!isFields(schema)) return undefined;
  const { type } = schema;
  if (type === undefined) return withoutType(schema);
  if (typeof type !== "string" || !Object.hasOwn(KEYWORDS, type)) return undefined;
  if (!hasOnly(schema, ["type", ...(KEYWORDS[type] ?? [])])) return undefined;
  return CHECKS[type]?.(schema);
}

const CHECKS: Readonly<Record<string, (schema: Fields) => PlainCheck | undefined>> = {
  object: objectCheck,
  array: arrayCheck,
  string: (schema) => both(stringCheck(schema), choiceCheck(schema)),
  number: (schema) => both(numberCheck(schema, Number.isFinite), choiceCheck(schema)),
  integer: (schema) => both(numberCheck(schema, Number.isInteger), choiceCheck(schema)),
  boolean: (schema) => both((value) => typeof value === "boolean", choiceCheck(schema)),
  null: () => (value) => value === null,
};

function withoutType(schema: Fields): PlainCheck | undefined {
  if (!hasOnly(schema, WITHOUT_TYPE)) return undefined;
  const { anyOf } = schema;
  if (anyOf === undefined) return choiceCheck(schema);
  if (!Array.isArray(anyOf)) return undefined;
  const checks = allOf(anyOf.map(plainCheck));
  const matches: PlainCheck | undefined =
    checks && ((value) => checks.some((check) => check(value)));
  return both(matches, choiceCheck(schema));
}

function objectCheck(schema: Fields): PlainCheck | undefined {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  if (!isFields(properties) || !Array.isArray(required)) return undefined;
  const names = Object.keys(properties);
  // The library finds properties of every object in a value, which has none of its own.
  if (names.some((name) => name in Object.prototype)) return undefined;
  const checks = allOf(Object.values(properties).map(plainCheck));
  const ofOthers =
    typeof additionalProperties === "boolean"
      ? () => additionalProperties
      : plainCheck(additionalProperties);
  if (!checks || !ofOthers) return undefined;
  const known = new Map(names.map((name, index) => [name, checks[index]]));
  const isOthersAllowed = additionalProperties === true;
  return (value) => {
    if (!isFields(value)) return false;
    for (const name of required) if (!Object.hasOwn(value, name as string)) return false;
    for (const [name, check] of known) {
      if (Object.hasOwn(value, name) && check?.(value[name]) !== true) return false;
    }
    if (isOthersAllowed) return true;
    return Object.keys(value).every((name) => known.has(name) || ofOthers(value[name]));
  };
}

function arrayCheck(schema: Fields): PlainCheck | undefined {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const check = items === undefined ? () => true : plainCheck(items);
  if (!check || typeof minItems !== "number" || typeof maxItems !== "number") return undefined;
  return (value) =>
    Array.isArray(value) &&
    value.length >= minItems &&
    value.length <= maxItems &&
    value.every(check);
}

/** Lengths are in characters, of which a text has at most as many as it has code units. */
function stringCheck(schema: Fields): PlainCheck | undefined {
  const { minLength = 0, maxLength = Infinity } = schema;
  if (typeof minLength !== "number" || typeof maxLength !== "number") return undefined;
  return (value) =>
    typeof value === "string" &&
    value.length <= maxLength &&
    (minLength === 0 || (value.length >= minLength && SIMPLE.test(value)));
}

function numberCheck(schema: Fields, isKind: (value: number) => boolean): PlainCheck | undefined {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (typeof minimum !== "number" || typeof maximum !== "number") return undefined;
  return (value) =>
    typeof value === "number" && isKind(value) && value >= minimum && value <= maximum;
}

/** Accepts the values of `enum` and `const`; every value without them. */
function choiceCheck(schema: Fields): PlainCheck | undefined {
  const lists = [
    ...(Object.hasOwn(schema, "enum") ? [schema["enum"]] : []),
    ...(Object.hasOwn(schema, "const") ? [[schema["const"]]] : []),
  ];
  const isPlain = lists.every((list) => Array.isArray(list) && list.every(isScalar));
  if (!isPlain) return undefined;
  return (value) => lists.every((list) => (list as readonly unknown[]).includes(value));
}

function both(a: PlainCheck | undefined, b: PlainCheck | undefined): PlainCheck | undefined {
  return a && b && ((value) => a(value) && b(value));
}

function allOf(checks: readonly (PlainCheck | undefined)[]): readonly PlainCheck[] | undefined {
  const found = checks.flatMap((check) => check ?? []);
  return found.length === checks.length ? found : undefined;
}

function hasOnly(schema: Fields, keywords: readonly string[]): boolean {
  return Object.keys(schema).every((key) => keywords.includes(key) || DESCRIBING.includes(key));
}

function isScalar(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
