import { type TSchema, Type } from "typebox";

/** A schema that also accepts null, which means unknown. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

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
