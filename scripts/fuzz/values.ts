import * as fc from "fast-check";
import type { Schema } from "./document.ts";

/** Texts in the formats that the API's schemas use. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  "date-time": ["2026-11-20T09:00:00Z", "1969-12-31T23:59:60+14:00", "9999-12-31T23:59:59.999Z"],
  "time-zone": ["UTC", "Europe/Berlin", "America/St_Johns"],
  locale: ["en-GB", "de", "ar-u-nu-latn"],
  network: ["10.0.0.0/8", "::1", "192.168.1.2"],
};
const LONGEST = 100;
const DEEPEST = 4;

/**
 * Any character. fast-check's own unit of that name first makes a table of all 1.1 million, for 1.3 s of CPU time
 * and 150 MB.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map(
    (code) => String.fromCodePoint(code),
    (character) => {
      const code = String(character).codePointAt(0) ?? 0;
      if (String.fromCodePoint(code) !== character) throw new Error("not one character");
      return code;
    },
  );

/** Difficult texts: control characters, line breaks, lone surrogates, markup, paths. */
export const oddText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.string({ maxLength: 30 }),
  fc.constantFrom(
    ...[
      "",
      "__proto__",
      "constructor",
      "toString",
      "null",
      "-1",
      "1e999",
      "NaN",
      "../../etc/passwd",
    ],
    ...[
      "\r\nSet-Cookie: a=b",
      "\u0000",
      "\ud800",
      "<script>",
      "${7*7}",
      "{{7*7}}",
      "%00",
      "\u2028",
    ],
    ...["a".repeat(300), "9".repeat(400), "[".repeat(200), "2026-02-30", "+275760-09-13T00:00:00Z"],
  ),
);

/** Any JSON value, unusual texts, and numbers such as NaN that JSON cannot represent. */
export const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 3 }), oddText, fc.double());

/** Values that match a JSON Schema, as far as its keywords are supported here. */
export function valuesFitting(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const {
    enum: values,
    const: only,
    anyOf,
    oneOf,
    type,
  } = schema as {
    enum?: unknown[];
    const?: unknown;
    anyOf?: Schema[];
    oneOf?: Schema[];
    type?: string | string[];
  };
  if ("const" in schema) return fc.constant(only);
  if (values) return fc.constantFrom(...values);
  const either =
    anyOf ??
    oneOf ??
    (Array.isArray(type) ? type.map((each) => ({ ...schema, type: each })) : undefined);
  if (either) return fc.oneof(...either.map((each) => valuesFitting(each, depth)));
  return (MAKERS[String(type)] ?? (() => fc.jsonValue({ maxDepth: 2 })))(schema, depth);
}

const MAKERS: Readonly<Record<string, (schema: Schema, depth: number) => fc.Arbitrary<unknown>>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: (schema) => fc.integer(range(schema)),
  number: (schema) =>
    fc.oneof(fc.integer(range(schema)), fc.double({ ...range(schema), noNaN: true })),
  string: (schema) => text(schema),
  array: (schema, depth) =>
    fc.array(valuesFitting((schema["items"] ?? {}) as Schema, depth + 1), {
      minLength: Number(schema["minItems"] ?? 0),
      maxLength: depth > DEEPEST ? Number(schema["minItems"] ?? 0) : 4,
    }),
  object: (schema, depth) => object(schema, depth),
};

function range({ minimum, exclusiveMinimum, maximum }: Schema): { min: number; max: number } {
  const min = Number(
    minimum ?? (exclusiveMinimum === undefined ? -(2 ** 31) : Number(exclusiveMinimum) + 1),
  );
  return { min, max: Number(maximum ?? 2 ** 31 - 1) };
}

function text({ format, pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  const samples = FORMATS[String(format)];
  if (samples) return fc.constantFrom(...samples);
  const longest = Math.min(Number(maxLength ?? LONGEST), LONGEST);
  if (typeof pattern === "string") return matching(pattern).map((each) => each.slice(0, longest));
  return fc.string({ unit: "grapheme", minLength: Number(minLength ?? 0), maxLength: longest });
}

/** Texts that match a pattern. A pattern with look-ahead, which fast-check does not support, is replaced. */
function matching(pattern: string): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern));
  } catch {
    return fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/);
  }
}

function object(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const {
    properties = {},
    required = [],
    patternProperties = {},
    additionalProperties,
  } = schema as {
    properties?: Record<string, Schema>;
    required?: string[];
    patternProperties?: Record<string, Schema>;
    additionalProperties?: Schema | boolean;
  };
  const known = Object.entries(properties).filter(
    ([key]) => depth < DEEPEST || required.includes(key),
  );
  const own = fc.record(
    Object.fromEntries(known.map(([key, each]) => [key, valuesFitting(each, depth + 1)])),
    { requiredKeys: required },
  );
  const [[keys, values] = [undefined, undefined]] = Object.entries(patternProperties);
  const others =
    keys !== undefined && values
      ? fc.dictionary(matching(keys), valuesFitting(values, depth + 1), { maxKeys: 3 })
      : typeof additionalProperties === "object"
        ? fc.dictionary(
            fc.string({ maxLength: 10 }),
            valuesFitting(additionalProperties, depth + 1),
            {
              maxKeys: 3,
            },
          )
        : fc.constant({});
  return fc.tuple(own, others).map(([first, second]) => ({ ...second, ...first }));
}
