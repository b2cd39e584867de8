import type { TSchema } from "typebox";
import type { CalendarWindow } from "./calendar.ts";
import { MantelError } from "./errors.ts";
import type { ValueOf } from "./schema.ts";

const WORDS = "[a-z][a-z0-9-]*(\\.[a-z][a-z0-9-]*)+";

/** The pattern of service names without a version: lower-case words joined by dots, such as `acme.news.items`. */
export const SERVICE_NAME = `^${WORDS}$`;
/** The pattern of a service in a manifest: the name, and after `@` a version other than 1. */
export const SERVICE_KEY = `^${WORDS}(@[1-9][0-9]{0,3})?$`;
/** The pattern of a provider's own error codes. */
export const SERVICE_ERROR_CODE = "^[a-z][a-z0-9_]*$";

/** Limits of a service. */
export const SERVICE_LIMITS = {
  nameLength: 100,
  version: 9_999,
  deadlineMs: 60_000,
  titleLength: 100,
  errors: 50,
  errorCodeLength: 60,
  /** The services of one plugin. */
  services: 100,
  /** The most services that call each other in a row. */
  chain: 8,
} as const;

/** The scopes of tokens with which clients and widgets can call a service. */
export const SERVICE_SCOPES = ["read", "control", "edit", "admin"] as const;
export type ServiceScope = (typeof SERVICE_SCOPES)[number];

/** The argument of `defineService`. */
export interface ServiceOptions<
  Input extends TSchema,
  Output extends TSchema | undefined,
  Code extends string,
> {
  /** Absent means 1. Raise it when old callers would not understand the service any more. */
  readonly version?: number;
  readonly input: Input;
  /** Absent for a service without an answer. */
  readonly output?: Output;
  /** The error codes that its provider throws as `ServiceError`, each with its meaning. */
  readonly errors?: Readonly<Record<Code, string>>;
  /** The time limit of a call, at most 60,000; absent means `limits.callMs` of the provider. */
  readonly deadlineMs?: number;
  /** The scope with which clients and widgets can call it; absent for a service that only plugins can call. */
  readonly open?: ServiceScope;
  /** True for a read-only service: a call whose outcome is unknown, because a process ended, is repeated. */
  readonly repeatable?: boolean;
  /**
   * For a service that several plugins may provide; their manifests list it under `shares`. One call then reaches all of
   * them: answers that are lists are joined; of other answers the caller gets the first; without an answer the call
   * fails if it failed anywhere.
   */
  readonly providers?: "many";
  /** The user-facing name. */
  readonly title?: string;
}

/** A typed function that one plugin provides and others call: a result of `defineService`. */
export interface ServiceDefinition<
  Input extends TSchema = TSchema,
  Output extends TSchema | undefined = TSchema | undefined,
  Code extends string = string,
> extends ServiceOptions<Input, Output, Code> {
  readonly name: string;
  readonly version: number;
}

/** The type of a service's input. */
export type ServiceInput<D extends ServiceDefinition> = ValueOf<D["input"]>;
/** The type of a service's answer. */
export type ServiceOutput<D extends ServiceDefinition> = [NonNullable<D["output"]>] extends [never]
  ? void
  : ValueOf<NonNullable<D["output"]>>;

/** The provider's function of a service. */
export type ServiceHandler<D extends ServiceDefinition> = (
  input: ServiceInput<D>,
) => ServiceOutput<D> | Promise<ServiceOutput<D>>;

/** A definition with its handler: a result of `provide`. */
export interface ProvidedService {
  readonly definition: ServiceDefinition;
  readonly handler: (input: never) => unknown;
}

/**
 * Defines a service. Export it from a file that provider and callers import. Its name begins with a name of the
 * author's own, such as `acme.news.items`.
 * @throws MantelError `invalid` for a name, version or limit that the host would refuse
 */
export function defineService<
  Input extends TSchema,
  Output extends TSchema | undefined = undefined,
  Code extends string = never,
>(
  name: string,
  options: ServiceOptions<Input, Output, Code>,
): ServiceDefinition<Input, Output, Code> {
  const definition = { ...options, name, version: options.version ?? 1 };
  const fault = faultOf(definition);
  if (fault === undefined) return definition;
  throw new MantelError("invalid", `invalid service "${name}": ${fault}`);
}

/** Connects a definition with its handler. `start` returns a list of these under `services`. */
export function provide<D extends ServiceDefinition>(
  definition: D,
  handler: ServiceHandler<D>,
): ProvidedService {
  return { definition, handler };
}

/** The service as manifests name it: `acme.news.items`, or `acme.news.items@2` for another version than 1. */
export function serviceKey({ name, version }: Pick<ServiceDefinition, "name" | "version">): string {
  return version === 1 ? name : `${name}@${version}`;
}

/** The key of a service in a manifest, which may name version 1. */
export function normalServiceKey(key: string): string {
  return key.endsWith("@1") ? key.slice(0, -2) : key;
}

/** The reason why the host would refuse a definition, as the rest of a sentence. */
function faultOf({ name, version, input, deadlineMs = 1, errors = {} }: ServiceDefinition) {
  const { nameLength, version: lastVersion, deadlineMs: mostMs } = SERVICE_LIMITS;
  if (!new RegExp(SERVICE_NAME).test(name) || name.length > nameLength)
    return `a name is lower-case words joined by dots, such as acme.news.items, of at most ${nameLength} characters`;
  if (!isWhole(version, lastVersion)) return `a version is a whole number from 1 to ${lastVersion}`;
  if (!isWhole(deadlineMs, mostMs)) return `deadlineMs is a whole number from 1 to ${mostMs}`;
  if (typeof input !== "object" || input === null) return "it has no schema for its input";
  const codes = Object.keys(errors);
  const misnamed = codes.find((code) => !new RegExp(SERVICE_ERROR_CODE).test(code));
  return (
    misnamed && `the error code "${misnamed}" must have lower-case words joined by underscores`
  );
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

/**
 * The values that plugins can publish, by name. The host serves the last published value and never calls the plugin for
 * it. The manifest lists a publication under `provides`, like a service. Several plugins may publish one; the host merges
 * them.
 */
export interface Publications {
  readonly "calendar.window": CalendarWindow;
}
export type PublicationName = keyof Publications;
export const PUBLICATIONS: readonly PublicationName[] = ["calendar.window"];
