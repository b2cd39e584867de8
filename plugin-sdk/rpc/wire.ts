import { type CodeLocation, type ErrorExtras, isErrorCode, MantelError } from "../errors.ts";

/** A call, its answer, or a call that wants no answer (without `call`). */
export type Message =
  | {
      readonly kind: "call";
      readonly call?: number;
      readonly method: string;
      readonly input: unknown;
    }
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

export function fromWire(error: WireError): Error {
  if (!isErrorCode(error.code)) return new RemoteFault(error);
  return new MantelError(error.code, error.message, error.extras);
}
