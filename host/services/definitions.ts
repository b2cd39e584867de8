import { isDeepStrictEqual } from "node:util";
import { MantelError, ServiceError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { isPublication } from "@mantel/plugin-sdk/manifest-rights";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { Strict } from "@mantel/plugin-sdk/schema";
import {
  normalServiceKey,
  PUBLICATIONS,
  SERVICE_ERROR_CODE,
  SERVICE_LIMITS,
  SERVICE_NAME,
  SERVICE_SCOPES,
  type ServiceDefinition,
  serviceKey,
} from "@mantel/plugin-sdk/service";
import * as ownServices from "@mantel/plugin-sdk/services";
import { type TSchema, Type } from "typebox";
import { requireSafeSchema } from "../config/option-schema.ts";
import { check, faultsOf } from "../validate.ts";

/** Characters of JSON of all definitions of one plugin. */
const LONGEST = 2 ** 19;

const UNDECLARED = "a service cannot be called, because the manifest does not declare it";

const MISSING = "a service cannot be called, because the plugin does not return it";

const Definition = Type.Object(
  {
    name: Type.String({ pattern: SERVICE_NAME, maxLength: SERVICE_LIMITS.nameLength }),
    version: Type.Integer({ minimum: 1, maximum: SERVICE_LIMITS.version }),
    title: Type.Optional(Type.String({ maxLength: SERVICE_LIMITS.titleLength })),
    input: Type.Unknown(),
    output: Type.Optional(Type.Unknown()),
    errors: Type.Optional(
      Type.Record(
        Type.String({ pattern: SERVICE_ERROR_CODE, maxLength: SERVICE_LIMITS.errorCodeLength }),
        Type.String({ maxLength: 500 }),
        { ...Strict, maxProperties: SERVICE_LIMITS.errors },
      ),
    ),
    deadlineMs: Type.Optional(Type.Integer({ minimum: 1, maximum: SERVICE_LIMITS.deadlineMs })),
    open: Type.Optional(Type.Enum([...SERVICE_SCOPES])),
    repeatable: Type.Optional(Type.Boolean()),
    providers: Type.Optional(Type.Enum(["many"])),
  },
  Strict,
);
const Definitions = Type.Array(Definition, { maxItems: SERVICE_LIMITS.services });

/** The definitions of one generation's services, by their keys. */
export type ServiceDefinitions = ReadonlyMap<string, ServiceDefinition>;

/** The definitions of the SDK. Their schemas are compiled, which those of other plugins never are. */
const OWN: ServiceDefinitions = new Map(
  Object.values(ownServices).flatMap((each) =>
    "input" in each ? [[serviceKey(each), each as ServiceDefinition] as const] : [],
  ),
);

/** The services and publications of the SDK that several plugins may provide, whatever their manifests say. */
export const SHARED_OF_SDK: ReadonlySet<string> = new Set([
  ...[...OWN].flatMap(([key, { providers }]) => (providers === "many" ? [key] : [])),
  ...Object.keys(PUBLICATIONS),
]);

/**
 * Checks the definitions that a plugin's process reported at its start. Those that the manifest does not name are
 * left out with a warning, and those that are missing are named in another.
 * @throws MantelError `invalid` for a wrong definition, and for a schema that would take long to check
 */
export function parseDefinitions(
  given: unknown,
  { id, provides = [], shares = [] }: Pick<Manifest, "id" | "provides" | "shares">,
  warn: (sentence: string, reason: string) => void,
): ServiceDefinitions {
  if ((JSON.stringify(given)?.length ?? 0) > LONGEST) {
    throw new MantelError("invalid", `the services of ${id} have more than ${LONGEST} characters`);
  }
  const declared = new Set(provides.map(normalServiceKey));
  const shared = new Set(shares.map(normalServiceKey));
  const parsed = new Map<string, ServiceDefinition>();
  for (const each of check(Definitions, given, `the list of services of ${id}`)) {
    const key = serviceKey(each);
    requireSafeSchema(each.input, `the schema of the input of ${key}`);
    if (each.output !== undefined) {
      requireSafeSchema(each.output, `the schema of the answer of ${key}`);
    }
    requireSameSharing(each, shared);
    if (declared.has(key)) parsed.set(key, compiledDefinition(each as ServiceDefinition));
    else warn(UNDECLARED, `add "${key}" to "mantel.provides" in its package.json`);
  }
  const missing = [...declared].filter((key) => !parsed.has(key) && !isPublication(key));
  if (missing.length > 0) {
    const names = missing.join(", ");
    const fix = `return ${names} under "services", or remove it from "mantel.provides" in the package.json`;
    warn(MISSING, fix);
  }
  return parsed;
}

/** The manifest says it before any code runs, and callers rely on the definition. */
function requireSameSharing(
  given: Pick<ServiceDefinition, "name" | "version" | "providers">,
  shared: ReadonlySet<string>,
): void {
  const key = serviceKey(given);
  if (SHARED_OF_SDK.has(key) || (given.providers === "many") === shared.has(key)) return;
  const fix = shared.has(key)
    ? `define ${key} with providers: "many", or remove it from "mantel.shares" in the package.json`
    : `${key} may have several providers; add "${key}" to "mantel.shares" in the package.json`;
  throw new MantelError("invalid", fix);
}

/** @throws MantelError `invalid`, with every fault */
export function checkInput(definition: ServiceDefinition, input: unknown): void {
  check(definition.input, input, `the input of ${serviceKey(definition)}`);
}

/**
 * The first fault of an answer as a phrase; `undefined` if it fits. An answer of a service without a schema for it
 * always fits, and is not passed on.
 */
export function answerFault({ output }: ServiceDefinition, answer: unknown): string | undefined {
  const [fault] = output ? faultsOf(output, answer) : [];
  return fault && `${fault.pointer || "the whole value"} ${fault.detail}`;
}

/** The error that callers get for one of the provider's: its own if the definition names the code. */
export function errorForCaller(definition: ServiceDefinition, error: unknown): unknown {
  const told = error instanceof RemoteFault ? error.serviceError : undefined;
  if (!told || !Object.hasOwn(definition.errors ?? {}, told.code)) return error;
  return new ServiceError(definition, told.code, told.message);
}

/** The definition of the SDK if it is the same. */
function compiledDefinition(given: ServiceDefinition): ServiceDefinition {
  const own = OWN.get(serviceKey(given));
  const isSame = (schema: TSchema | undefined, other: TSchema | undefined): boolean =>
    isDeepStrictEqual(plain(schema), other);
  return own && isSame(own.input, given.input) && isSame(own.output, given.output)
    ? { ...given, input: own.input, ...(own.output ? { output: own.output } : {}) }
    : given;
}

function plain(schema: TSchema | undefined): unknown {
  return schema && JSON.parse(JSON.stringify(schema));
}
