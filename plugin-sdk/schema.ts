import { type TSchema, Type } from "typebox";

/** A schema that also takes null, which stands for what is not known. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** For objects that have the fields that are named and no others. */
export const Strict = { additionalProperties: false } as const;
