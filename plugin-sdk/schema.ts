import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";

/** A schema that also accepts null, which means unknown. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/**
 * The type that a schema describes, or `undefined` without a schema, where the schema is a type parameter. For
 * `Static<S>` the compiler would compare the library's own types, which takes it more than a second in each plugin.
 */
export type ValueOf<S> = { value: S } extends infer P extends TProperties
  ? Static<TObject<P>> extends { value?: infer V }
    ? V
    : never
  : undefined;

/** The schema option for objects without additional fields. */
export const Strict = { additionalProperties: false } as const;

/** A user-facing sentence that language packs can translate, as `sentence` makes it. */
export const SentenceSchema = Type.Object(
  {
    /** Stays the same when the text is reworded. */
    code: Type.String({ maxLength: 60 }),
    /** English, with placeholders such as `{host}`. */
    text: Type.String({ maxLength: 500 }),
    values: Type.Record(
      Type.String({ maxLength: 40 }),
      Type.Union([Type.String({ maxLength: 1_000 }), Type.Number()]),
      { maxProperties: 10 },
    ),
  },
  Strict,
);
