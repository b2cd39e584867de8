/** Every failure that can reach an HTTP client: the status and the title it is sent with. */
const CODES = {
  bad_request: [400, "The request is malformed"],
  bad_id: [400, "The id is malformed"],
  authorization_pending: [400, "The display is not approved yet"],
  slow_down: [400, "The display asks too often"],
  access_denied: [400, "The display was turned away"],
  expired_token: [400, "The code of the display has ended"],
  unauthorized: [401, "A valid bearer token is needed"],
  insufficient_scope: [403, "The token does not permit this"],
  config_key_not_allowed: [403, "This config key needs the admin scope"],
  topic_denied: [403, "Publishing to this topic is denied by the config"],
  broker_refused: [403, "The broker refused the publish"],
  not_found: [404, "There is nothing here"],
  device_unknown: [404, "No such device"],
  scene_unknown: [404, "No such scene"],
  module_unknown: [404, "No such module"],
  token_unknown: [404, "No valid token has this name"],
  pairing_unknown: [404, "No display waits with this code"],
  revision_unknown: [404, "No such revision"],
  method_not_allowed: [405, "The resource does not have this method"],
  bridge_rate_limited: [409, "The bridge takes no more commands now"],
  name_taken: [409, "Another valid token has this name"],
  device_present: [409, "The device is there"],
  no_earlier_code: [409, "The module has no earlier code to go back to"],
  module_busy: [409, "A trial of the module is under way"],
  scene_read_only: [409, "The scene belongs to its bridge"],
  revision_stale: [412, "The document has changed in the meantime"],
  body_too_large: [413, "The body is too large"],
  unsupported_media_type: [415, "The media type is not supported"],
  unknown_host: [421, "The Host header names another server"],
  invalid: [422, "The request is well-formed but wrong"],
  reload_failed: [422, "The new code did not start; the old code goes on"],
  rate_limited: [429, "Too many requests"],
  internal: [500, "The host has a fault; see its log"],
  bridge_down: [503, "The bridge is not running"],
  broker_down: [503, "The MQTT broker cannot be reached"],
  module_down: [503, "The module is not running"],
  service_unavailable: [503, "Nothing provides this now"],
  outcome_unknown: [504, "The module ended before it answered"],
  deadline_passed: [504, "The deadline passed without an answer"],
  disk_full: [507, "The disk is full"],
  disk_read_only: [507, "The disk takes no writes"],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof CODES;

/** One fault in a document: where it is (RFC 6901 JSON pointer) and what is wrong with it. */
export interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

/** A place in an author's source, with a few lines around it. Lines and columns count from 1. */
export interface CodeLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly frame: string;
}

/** A frame of a stack with its file, line and column. Folders may have spaces and parentheses in their names. */
export const FRAME = /(?:\(|^at (?:async )?|^)((?:file:\/\/)?\/.+):(\d+):(\d+)\)?$/;

/** What some errors say beyond their sentence. It is plain data and is sent to the client as it is. */
export interface ErrorExtras {
  readonly errors?: readonly Fault[];
  /** Milliseconds after which trying again makes sense. */
  readonly retryAfterMs?: number;
  /** Config keys that were refused. */
  readonly keys?: readonly string[];
  /** Methods that the resource has, for 405. */
  readonly allow?: readonly string[];
  readonly rolledBack?: boolean;
  /** Why a token that was valid once is refused. */
  readonly reason?: "revoked" | "expired";
  readonly location?: CodeLocation;
}

/**
 * An expected failure: it has a stable code, a status, and a message that is safe to send.
 * Anything else that is thrown is a fault and is answered 500 without its text.
 */
export class MantelError extends Error {
  override readonly name = "MantelError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly extras: ErrorExtras;

  constructor(code: ErrorCode, message: string, options: ErrorOptions & ErrorExtras = {}) {
    const { cause, ...extras } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    [this.status, this.title] = CODES[code];
    this.extras = extras;
  }
}

/** True for a text that is one of the codes, as when an error arrives from another process. */
export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === "string" && Object.hasOwn(CODES, text);
}

/** Every code with its status and title, for the HTTP documentation. */
export function errorTable(): { code: ErrorCode; status: number; title: string }[] {
  return Object.entries(CODES).map(([code, [status, title]]) => ({
    code: code as ErrorCode,
    status,
    title,
  }));
}
