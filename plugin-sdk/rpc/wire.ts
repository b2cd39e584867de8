import {
  type CodeLocation,
  type ErrorCode,
  type ErrorExtras,
  type Fault,
  isErrorCode,
  MantelError,
  ServiceError,
} from "../errors.ts";
import { isSentence } from "../sentence.ts";

/** A call, an answer, or a notification (a call without `call`). */
export type Message =
  | {
      readonly kind: "call";
      readonly call?: number;
      readonly method: string;
      readonly input: unknown;
    }
  /** The work of a call begins. */
  | { readonly kind: "begun"; readonly call: number }
  | { readonly kind: "answer"; readonly call: number; readonly value?: unknown }
  | { readonly kind: "failure"; readonly call: number; readonly error: WireError };

/** An error as plain data, because a cloned error loses its class and its code. */
export interface WireError {
  readonly code?: string;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly extras?: ErrorExtras;
}

/** An unexpected error in the other end's code. Its message is for the log only. */
export class RemoteFault extends Error {
  override readonly name = "RemoteFault";
  readonly remoteStack: string;
  /** The code and message of a `ServiceError`; the service's definition says which codes callers get. */
  readonly serviceError: { readonly code: string; readonly message: string } | undefined;
  location?: CodeLocation;

  constructor(error: WireError) {
    super(`${error.name}: ${error.message}`);
    this.remoteStack = error.stack ?? this.message;
    const { code, name, message } = error;
    this.serviceError =
      name === "ServiceError" && code !== undefined ? { code, message } : undefined;
  }
}

/** The other end ended before the work of a call began, so the call can safely be repeated. */
export class NotBegun extends MantelError {
  constructor() {
    super("module_down", "the process ended before the call began");
  }
}

const LONGEST_METHOD = 100;
/** Maximum characters of an error's parts. The stack of a deep recursion can be very long. */
const LONGEST_NAME = 200;
const LONGEST_SENTENCE = 4_000;
const LONGEST_STACK = 16_000;
const LONGEST_POINTER = 4_000;
const MOST_FAULTS = 1_000;

/** Validates received data as a message; `undefined` if it is invalid. */
export function parseMessage(data: unknown): Message | undefined {
  if (!isObject(data)) return undefined;
  const { kind, call, method, input, value, error } = data;
  if (kind === "call") {
    const isNamed = typeof method === "string" && method.length <= LONGEST_METHOD;
    if (!isNamed || (call !== undefined && !isId(call))) return undefined;
    return { kind, method, input, ...(call === undefined ? {} : { call }) };
  }
  if (!isId(call)) return undefined;
  if (kind === "begun") return { kind, call };
  if (kind === "answer") return { kind, call, value };
  return kind === "failure" ? { kind, call, error: error as WireError } : undefined; // see `fromWire`
}

function isId(call: unknown): call is number {
  return Number.isSafeInteger(call) && (call as number) > 0;
}

function isObject(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === "object" && data !== null;
}

function parseError(data: unknown): WireError {
  const { code, name, message, stack, extras } = isObject(data) ? data : {};
  return {
    name: textOr(name, "Error", LONGEST_NAME),
    message: textOr(message, "unknown error: the other end sent no message", LONGEST_SENTENCE),
    ...(typeof code === "string" ? { code: code.slice(0, LONGEST_NAME) } : {}),
    ...(typeof stack === "string" ? { stack: stack.slice(0, LONGEST_STACK) } : {}),
    extras: checkedExtras(extras),
  };
}

function textOr(text: unknown, other: string, longest: number): string {
  return typeof text === "string" ? text.slice(0, longest) : other;
}

/** Converts any thrown value to plain data. Never throws, even if a getter of the value throws. */
export function toWire(error: unknown, withoutStack = false): WireError {
  try {
    if (!(error instanceof Error)) return { name: "Error", message: bounded(error) };
    const text = withoutStack ? undefined : error.stack;
    const stack = text === undefined ? {} : { stack: bounded(text, LONGEST_STACK) };
    const told = { name: bounded(error.name, LONGEST_NAME), message: bounded(error.message) };
    if (error instanceof ServiceError)
      return { code: bounded(error.code, LONGEST_NAME), ...told, ...stack };
    if (!(error instanceof MantelError)) return { ...told, ...stack };
    return { code: error.code, ...told, extras: boundedExtras(error.extras), ...stack };
  } catch {
    return { name: "Error", message: "unreadable error: reading its properties threw" };
  }
}

function bounded(text: unknown, longest = LONGEST_SENTENCE): string {
  return String(text).slice(0, longest);
}

function boundedExtras(extras: ErrorExtras): ErrorExtras {
  return extras.errors ? { ...extras, errors: boundedFaults(extras.errors) } : extras;
}

function boundedFaults(faults: readonly Fault[]): Fault[] {
  return faults.slice(0, MOST_FAULTS).map(({ pointer, detail }) => ({
    pointer: pointer.slice(0, LONGEST_POINTER),
    detail: detail.slice(0, LONGEST_SENTENCE),
  }));
}

/**
 * The error codes that a plugin may send. All others, such as `unauthorized`, are reserved for the host; from a
 * plugin they count as an unexpected error.
 */
const CROSSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "bad_request",
  "conflict",
  "invalid",
  "rate_limited",
  "revision_stale",
  "revision_unknown",
  "device_unknown",
  "scene_unknown",
  "bridge_rate_limited",
  "bridge_down",
  "broker_down",
  "broker_refused",
  "module_down",
  "service_unavailable",
  "service_cycle",
  "outcome_unknown",
  "deadline_passed",
  "disk_full",
  "disk_read_only",
  "not_found",
  "unsupported_media_type",
]);

/** Converts data from another process to an error with texts of limited length. Accepts any data. */
export function fromWire(sent: unknown): Error {
  const error = parseError(sent);
  if (error.name === "ServiceError" || !isErrorCode(error.code) || !CROSSING.has(error.code))
    return new RemoteFault(error);
  const failure = new MantelError(error.code, error.message, error.extras);
  if (error.stack !== undefined) STACKS.set(failure, error.stack);
  return failure;
}

/** Remote stacks of expected failures, stored apart from `error.stack`, which is logged. */
const STACKS = new WeakMap<Error, string>();

/** The stack of an error at the other end; empty if unknown. */
export function remoteStackOf(error: unknown): string {
  if (error instanceof RemoteFault) return error.remoteStack;
  return (error instanceof Error && STACKS.get(error)) || "";
}

/** Keeps only those extra fields from another process that have the right type. */
function checkedExtras(extras: unknown): ErrorExtras {
  const { retryAfterMs, errors, sentence } = isObject(extras) ? extras : {};
  return {
    ...(typeof retryAfterMs === "number" && retryAfterMs >= 0 && retryAfterMs < Infinity
      ? { retryAfterMs }
      : {}),
    ...(Array.isArray(errors) && errors.length <= MOST_FAULTS && errors.every(isFault)
      ? { errors: boundedFaults(errors) }
      : {}),
    ...(isSentence(sentence) ? { sentence } : {}),
  };
}

function isFault(fault: unknown): fault is Fault {
  const { pointer, detail } = (fault ?? {}) as Partial<Fault>;
  return typeof pointer === "string" && typeof detail === "string";
}
