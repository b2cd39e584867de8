import { isNativeError } from "node:util/types";
import { createContext, Script } from "node:vm";
import type { Fault } from "@mantel/plugin-sdk/errors";
import type { ValueOf } from "@mantel/plugin-sdk/schema";
import { faultsOf as faultsOfOwn, invalid } from "@mantel/plugin-sdk/validate";
import { toValidationErrors } from "@mantel/plugin-sdk/validation-errors";
import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { Check, Errors } from "typebox/schema";
import { patternFaults } from "./config/pattern.ts";
import { plainCheck } from "./plain-check.ts";

export { invalid };

/** The time limit of a check by a schema from a plugin's process, whose references may be circular. */
const FOREIGN_CHECK_MS = 250;

/** The most steps of a check without a time limit: parts of the value times those of the schema. */
const LIGHT_STEPS = 50_000;
/** Characters of a text that count as one part. */
const STRING_STEP = 16;

type Validate = (value: unknown) => TLocalizedValidationError[];
const validators = new WeakMap<TSchema, Validate>();

/**
 * All faults of a value by a schema; empty if it is valid. The schema is made with
 * `Type`, or is plain JSON Schema from a plugin's process.
 */
export function faultsOf(schema: TSchema, value: unknown): Fault[] {
  if (!isForeign(schema)) return faultsOfOwn(schema, value);
  let validate = validators.get(schema);
  if (!validate) {
    validate = interpreted(schema);
    validators.set(schema, validate);
  }
  const errors = validate(value);
  return errors.length === 0 ? [] : toValidationErrors(schema, value, errors);
}

/**
 * Returns the value if it is valid for the schema.
 * @param what names the value in the message, such as `the layout`
 * @throws MantelError `invalid`, with every fault
 */
export function check<S extends TSchema>(schema: S, value: unknown, what: string): ValueOf<S> {
  const errors = faultsOf(schema, value);
  if (errors.length > 0) throw invalid(what, errors);
  return value as ValueOf<S>;
}

/**
 * True for a schema from a plugin's process: `Type` marks its schemas with a non-enumerable property, which no
 * message can carry.
 */
function isForeign(schema: TSchema): boolean {
  return Object.getOwnPropertyDescriptor(schema, "~kind")?.enumerable !== false;
}

/**
 * Interprets a foreign schema and never compiles it, because compiling generates code from its texts. Its patterns
 * are checked first, and it runs under a time limit, because references may be circular. A schema that
 * exceeded its time does not run again.
 */
function interpreted(schema: TSchema): Validate {
  const [misfit] = patternFaults(schema);
  const weight = weightOf(schema);
  const isPlainlyValid = misfit ? undefined : plainCheck(schema);
  let unfit = misfit && [unusable(`${misfit.pointer} is ${misfit.detail}`)];
  let wastedMs = 0;
  const attempt = (value: unknown, isLast: boolean): TLocalizedValidationError[] => {
    const before = process.cpuUsage();
    try {
      return runLimited(() => Errors(schema, value)[1]);
    } catch (cause) {
      // On a busy machine the limit may pass without the check running.
      const takenMs = usedMs(before);
      if (isTimeout(cause)) wastedMs += takenMs;
      if (isTimeout(cause) && takenMs < FOREIGN_CHECK_MS / 2 && !isLast)
        return attempt(value, true);
      const found = [unusable(isNativeError(cause) ? cause.message : String(cause))];
      if (wastedMs >= FOREIGN_CHECK_MS / 2) unfit = found;
      return found;
    }
  };
  return (value) => {
    if (unfit) return unfit;
    if (!isLight(value, weight)) return attempt(value, false);
    return isPlainlyValid?.(value) || Check(schema, value) ? [] : attempt(value, false);
  };
}

/**
 * The number of values in a foreign schema, which bounds the steps of a check for each part of a value; infinite for
 * one with references, which may be circular.
 */
function weightOf(schema: unknown): number {
  if (typeof schema !== "object" || schema === null) return 1;
  let weight = 1;
  for (const [key, value] of Object.entries(schema)) {
    weight += /^\$.*ref$/i.test(key) ? Infinity : weightOf(value);
  }
  return weight;
}

/** True if a check of a value takes a few milliseconds at most, and so needs no time limit, which costs 50 µs. */
function isLight(value: unknown, weight: number): boolean {
  let left = LIGHT_STEPS / weight;
  const count = (part: unknown): void => {
    left -= typeof part === "string" ? 1 + part.length / STRING_STEP : 1;
    if (left < 0 || typeof part !== "object" || part === null) return;
    for (const key in part) {
      count((part as Record<string, unknown>)[key]);
      if (left < 0) return;
    }
  };
  count(value);
  return left >= 0;
}

function runLimited(work: NonNullable<Work>): TLocalizedValidationError[] {
  limited ??= new LimitedRun();
  return limited.run(work);
}

function usedMs(before: NodeJS.CpuUsage): number {
  return process.cpuUsage(before).user / 1_000;
}

function isTimeout(cause: unknown): boolean {
  return isNativeError(cause) && "code" in cause && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

type Work = (() => TLocalizedValidationError[]) | undefined;

/** The time limit of a script covers the functions it calls, in any context. */
class LimitedRun {
  readonly #script = new Script("work()");
  readonly #context = createContext({ work: undefined as Work });

  run(work: NonNullable<Work>): TLocalizedValidationError[] {
    try {
      this.#context["work"] = work;
      return this.#script.runInContext(this.#context, { timeout: FOREIGN_CHECK_MS });
    } finally {
      this.#context["work"] = undefined;
    }
  }
}

/** Made when it is first used. */
let limited: LimitedRun | undefined;

function unusable(reason: string): TLocalizedValidationError {
  const message = `cannot be checked, because its schema is invalid: ${reason}`;
  const params = { index: 0, message };
  return { keyword: "~refine", schemaPath: "#", instancePath: "", params, message };
}
