import { type Fault, MantelError } from "@mantel/plugin-sdk/errors";
import type { TSchema } from "typebox";
import { pointerToken } from "../faults.ts";
import { invalid } from "../validate.ts";
import { isObject } from "./document.ts";

/** Schemas within schemas. */
const DEEPEST = 32;

/**
 * The schema that a plugin's process gives for its options, known to have the parts that are read here:
 * a broken one would otherwise break the config of the whole house. Keywords beyond those are for the
 * check of values, which copes with any.
 *
 * @throws MantelError `invalid`, with every fault
 */
export function optionSchema(given: unknown): TSchema | undefined {
  if (given === undefined) return undefined;
  const faults = faultsIn(given, "", DEEPEST);
  if (faults.length > 0) throw invalid("the schema of the options", faults);
  return given as TSchema;
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
