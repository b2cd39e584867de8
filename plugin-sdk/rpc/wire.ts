import {
  type CodeLocation,
  type ErrorCode,
  type ErrorExtras,
  type Fault,
  isErrorCode,
  MantelError,
} from "../errors.ts";

/** A call, its answer, or a call that wants no answer (without `call`). */
export type Message =
  | {
      readonly kind: "call";
      readonly call?: number;
      readonly method: string;
      readonly input: unknown;
    }
  /** The work of a call is about to begin. */
  | { readonly kind: "begun"; readonly call: number }
  | { readonly kind: "answer"; readonly call: number; readonly value?: unknown }
  | { readonly kind: "failure"; readonly call: number; readonly error: WireError };

/** An error as data: a cloned error keeps neither its class nor its code. */
export interface WireError {
  readonly code?: string;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly extras?: ErrorExtras;
}

/** A fault of the other side's code: not an expected failure, so its text is for the log only. */
export class RemoteFault extends Error {
  override readonly name = "RemoteFault";
  readonly remoteStack: string;
  location?: CodeLocation;

  constructor(error: WireError) {
    super(`${error.name}: ${error.message}`);
    this.remoteStack = error.stack ?? this.message;
  }
}

/** The other end went before it began a call, so the call may be made again elsewhere. */
export class NotBegun extends MantelError {
  constructor() {
    super("module_down", "the process ended before it began this");
  }
}

export function toWire(error: unknown): WireError {
  if (error instanceof MantelError) {
    return {
      code: error.code,
      name: error.name,
      message: error.message,
      extras: error.extras,
      ...(error.stack === undefined ? {} : { stack: error.stack }),
    };
  }
  if (error instanceof Error) {
    return {
      name: error.name,
      message: error.message,
      ...(error.stack === undefined ? {} : { stack: error.stack }),
    };
  }
  return { name: "Error", message: String(error) };
}

/**
 * The failures that may cross. The rest, such as `unauthorized`, are the host's own to state: from a
 * plugin they are a fault like any other.
 */
const CROSSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "invalid",
  "device_unknown",
  "scene_unknown",
  "bridge_rate_limited",
  "bridge_down",
  "broker_down",
  "broker_refused",
  "module_down",
  "service_unavailable",
  "deadline_passed",
  "disk_full",
  "not_found",
]);

export function fromWire(error: WireError): Error {
  if (!isErrorCode(error.code) || !CROSSING.has(error.code)) return new RemoteFault(error);
  const failure = new MantelError(error.code, String(error.message), checkedExtras(error.extras));
  if (typeof error.stack === "string") STACKS.set(failure, error.stack);
  return failure;
}

/** Stacks of expected failures at the other end. They are not the failures' own, which are logged. */
const STACKS = new WeakMap<Error, string>();

/** Where an error that crossed was thrown at the other end; empty when that is not known. */
export function remoteStackOf(error: unknown): string {
  if (error instanceof RemoteFault) return error.remoteStack;
  return (error instanceof Error && STACKS.get(error)) || "";
}

/** Of what another process says besides, only what has its type. */
function checkedExtras({ retryAfterMs, errors }: ErrorExtras = {}): ErrorExtras {
  return {
    ...(typeof retryAfterMs === "number" && retryAfterMs >= 0 && retryAfterMs < Infinity
      ? { retryAfterMs }
      : {}),
    ...(Array.isArray(errors) && errors.every(isFault) ? { errors } : {}),
  };
}

function isFault(fault: unknown): fault is Fault {
  const { pointer, detail } = (fault ?? {}) as Partial<Fault>;
  return typeof pointer === "string" && typeof detail === "string";
}
