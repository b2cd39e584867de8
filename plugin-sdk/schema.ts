import { type TSchema, Type } from "typebox";

/** A schema that also accepts null, which means unknown. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** The schema option for objects without additional fields. */
export const Strict = { additionalProperties: false } as const;
