import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Compile } from "typebox/schema"; // those of typebox/compile keep text in memory
import { Settings } from "typebox/system";
import { type Fault, MantelError } from "./errors.ts";
import type { ValueOf } from "./schema.ts";
import { toValidationErrors } from "./validation-errors.ts";

// The library's default limit is 8; documents list every fault.
Settings.Set({ maxErrors: 1000 });

/** The part of the library's validator that is used; to compare the whole takes the compiler seconds. */
interface Validator {
  Check(value: unknown): boolean;
  Errors(value: unknown): [boolean, TLocalizedValidationError[]];
}
const validators = new WeakMap<TSchema, Validator>();

/** All faults of a value by a schema that is made with `Type` in this process; empty if it is valid. */
export function faultsOf(schema: TSchema, value: unknown): Fault[] {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  if (validator.Check(value)) return []; // listing faults takes ten times as long
  return toValidationErrors(schema, value, validator.Errors(value)[1]);
}

/**
 * Returns the value if it is valid for a schema that is made with `Type` in this process.
 * @param what names the value in the message, such as `the layout`
 * @throws MantelError `invalid`, with every fault
 */
export function check<S extends TSchema>(schema: S, value: unknown, what: string): ValueOf<S> {
  const errors = faultsOf(schema, value);
  if (errors.length > 0) throw invalid(what, errors);
  return value as ValueOf<S>;
}

/** The error for a value with faults; its sentence names the first of them. */
export function invalid(what: string, errors: readonly Fault[]): MantelError {
  const [first] = errors;
  const place = first ? `: ${first.pointer || "the whole value"} ${first.detail}` : "";
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : "";
  return new MantelError("invalid", `${what} is invalid${place}${more}`, { errors });
}
