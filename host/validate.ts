import { isNativeError } from "node:util/types";
import { Script, createContext } from "node:vm";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { Errors } from "typebox/schema";
import { Settings } from "typebox/system";
import { readableFaults } from "./faults.ts";

/** A check by a schema that came from a plugin's process ends after this, whatever its patterns do. */
const FOREIGN_CHECK_MS = 250;

type Validate = (value: unknown) => TLocalizedValidationError[];
const validators = new WeakMap<TSchema, Validate>();

// The library's own limit is 8, and every fault of a document is listed.
Settings.Set({ maxErrors: 1000 });

/**
 * Everything that keeps a value from fitting a schema; empty when it fits. The schema is made with
 * `Type`, or is plain JSON Schema that a plugin's process has sent.
 */
export function faultsOf(schema: TSchema, value: unknown): Fault[] {
  let validate = validators.get(schema);
  if (!validate) {
    validate = isForeign(schema) ? interpreted(schema) : compiled(schema);
    validators.set(schema, validate);
  }
  return readableFaults(schema, value, validate(value));
}

/**
 * The value, known to fit the schema.
 * @param what names the value in the message, such as `the layout`
 * @throws MantelError `invalid`, with every fault
 */
export function check<S extends TSchema>(schema: S, value: unknown, what: string): Static<S> {
  const errors = faultsOf(schema, value);
  if (errors.length > 0) throw invalid(what, errors);
  return value as Static<S>;
}

/** The error for a value with faults; its sentence names the first of them. */
export function invalid(what: string, errors: readonly Fault[]): MantelError {
  const [first] = errors;
  const place = first ? `: ${first.pointer || "the whole of it"} ${first.detail}` : "";
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : "";
  return new MantelError("invalid", `${what} is wrong${place}${more}`, { errors });
}

/**
 * A copy of a value in which properties that are absent have the `default` of their schema. Required
 * objects that are absent are made from the defaults inside them. Nothing is checked.
 */
export function withDefaults(schema: TSchema, value: unknown): unknown {
  const { properties, items, required } = schema as ObjectLike;
  if (Array.isArray(value)) {
    return items ? value.map((item) => withDefaults(items, item)) : structuredClone(value);
  }
  if (typeof value !== "object" || value === null) return value;
  const filled = new Map<string, unknown>(Object.entries(value));
  for (const [key, child] of Object.entries(properties ?? {})) {
    const start = filled.has(key) ? filled.get(key) : startOf(child, required?.includes(key));
    if (start !== undefined) filled.set(key, withDefaults(child, start));
  }
  return Object.fromEntries(filled);
}

interface ObjectLike {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly required?: readonly string[];
}

function startOf(schema: TSchema, required = false): unknown {
  const { default: fallback, type } = schema as { default?: unknown; type?: unknown };
  if (fallback !== undefined) return structuredClone(fallback);
  return required && type === "object" ? {} : undefined;
}

/** `Type` marks its schemas with a property that is not enumerable, which no message can carry. */
function isForeign(schema: TSchema): boolean {
  return Object.getOwnPropertyDescriptor(schema, "~kind")?.enumerable !== false;
}

function compiled(schema: TSchema): Validate {
  const validator = Compile(schema);
  return (value) => validator.Errors(value);
}

/**
 * A foreign schema is interpreted and never compiled, because compiling makes code of its texts. It
 * runs under a time limit, because a pattern may backtrack for ever and a reference may go in circles.
 */
function interpreted(schema: TSchema): Validate {
  const attempt = (value: unknown, isLast: boolean): TLocalizedValidationError[] => {
    const before = process.cpuUsage();
    try {
      return runLimited(() => Errors(schema, value)[1]);
    } catch (cause) {
      // The machine may have been busy with something else for as long as the limit is.
      const hasWaited = isTimeout(cause) && usedMs(before) < FOREIGN_CHECK_MS / 2;
      if (hasWaited && !isLast) return attempt(value, true);
      return [unusable(isNativeError(cause) ? cause.message : String(cause))];
    }
  };
  return (value) => attempt(value, false);
}

function runLimited(work: NonNullable<Work>): TLocalizedValidationError[] {
  try {
    limited.work = work;
    return limitedRun.runInContext(limited, { timeout: FOREIGN_CHECK_MS });
  } finally {
    limited.work = undefined;
  }
}

function usedMs(before: NodeJS.CpuUsage): number {
  return process.cpuUsage(before).user / 1_000;
}

function isTimeout(cause: unknown): boolean {
  return isNativeError(cause) && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

/** The time limit of a script covers what it calls, in whichever context that was made. */
const limitedRun = new Script("work()");
const limited = createContext({ work: undefined as Work });
type Work = (() => TLocalizedValidationError[]) | undefined;

function unusable(reason: string): TLocalizedValidationError {
  const message = `cannot be checked, because its schema is unusable: ${reason}`;
  const params = { index: 0, message };
  return { keyword: "~refine", schemaPath: "#", instancePath: "", params, message };
}
