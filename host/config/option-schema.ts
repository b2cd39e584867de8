import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";
import type { TSchema } from "typebox";
import { invalid } from "../validate.ts";
import { isObject } from "./document.ts";
import { patternFaults } from "./pattern.ts";

/** The deepest nesting of schemas. */
const DEEPEST = 32;
const LONGEST = 2 ** 18;

/**
 * Checks the schema of a plugin's options, as far as the host reads it:
 * an invalid one would break the config of the whole home. The validator handles all other
 * keywords.
 *
 * @throws MantelError `invalid`, with every fault
 */
export function optionSchema(given: unknown): TSchema | undefined {
  if (given === undefined) return undefined;
  requireShort(given, "the schema of the options");
  const faults = [...faultsIn(given, "", DEEPEST), ...patternFaults(given)];
  if (faults.length > 0) throw invalid("the schema of the options", faults);
  return given as TSchema;
}

function requireShort(given: unknown, what: string): void {
  if ((JSON.stringify(given)?.length ?? 0) <= LONGEST) return;
  throw new MantelError("invalid", `${what} has more than ${LONGEST} characters of JSON`);
}

/**
 * @param what names the schema in the message, such as `the schema of the state`
 * @throws MantelError `invalid` if it is too long, or a pattern in it would take long for some texts
 */
export function requireSafeSchema(given: unknown, what: string): void {
  requireShort(given, what);
  const faults = patternFaults(given);
  if (faults.length > 0) throw invalid(what, faults);
}

function faultsIn(schema: unknown, pointer: string, depth: number): Fault[] {
  if (!isObject(schema)) return [{ pointer, detail: "must be an object with keywords" }];
  if (depth === 0) throw new MantelError("invalid", `the schema of the options is nested too deep`);
  const { items } = schema;
  return [
    ...namedFaults(schema["properties"], `${pointer}/properties`, depth),
    ...namedFaults(schema["patternProperties"], `${pointer}/patternProperties`, depth),
    ...(items === undefined ? [] : faultsIn(items, `${pointer}/items`, depth - 1)),
    ...unionFaults(schema["anyOf"], `${pointer}/anyOf`, depth),
    ...["required", "enum"].flatMap((name) =>
      schema[name] === undefined || Array.isArray(schema[name])
        ? []
        : [{ pointer: `${pointer}/${name}`, detail: "must be a list" }],
    ),
  ];
}

function unionFaults(schemas: unknown, pointer: string, depth: number): Fault[] {
  if (schemas === undefined) return [];
  if (!Array.isArray(schemas)) return [{ pointer, detail: "must be a list of schemas" }];
  return schemas.flatMap((schema, at) => faultsIn(schema, `${pointer}/${at}`, depth - 1));
}

function namedFaults(schemas: unknown, pointer: string, depth: number): Fault[] {
  if (schemas === undefined) return [];
  if (!isObject(schemas)) return [{ pointer, detail: "must be an object of schemas" }];
  return Object.entries(schemas).flatMap(([name, schema]) =>
    faultsIn(schema, `${pointer}/${pointerToken(name)}`, depth - 1),
  );
}
