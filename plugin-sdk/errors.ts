import { inEnglish, type Sentence } from "./sentence.ts";

/** Every failure that can reach an HTTP client, with its HTTP status and its title (RFC 9457). */
const CODES = {
  bad_request: [400, "The request is malformed"],
  bad_id: [400, "The id is malformed"],
  authorization_pending: [400, "The display is not approved yet"],
  slow_down: [400, "The display polls too often"],
  access_denied: [400, "The display was rejected"],
  expired_token: [400, "The display's code has expired"],
  unauthorized: [401, "A valid bearer token is needed"],
  link_used: [401, "The sign-in link was already used"],
  insufficient_scope: [403, "The token does not permit this"],
  origin_refused: [403, "The request comes from a page with another origin"],
  config_key_not_allowed: [403, "This config key needs the admin scope"],
  topic_denied: [403, "Publishing to this topic is denied by the config"],
  broker_refused: [403, "The broker refused the publish"],
  not_found: [404, "Not found"],
  device_unknown: [404, "No such device"],
  scene_unknown: [404, "No such scene"],
  room_unknown: [404, "No device is in this room"],
  group_unknown: [404, "No such group"],
  channel_unknown: [404, "No such channel"],
  module_unknown: [404, "No such module"],
  plugin_unknown: [404, "No such installed plugin"],
  token_unknown: [404, "No valid token has this name"],
  pairing_unknown: [404, "No display is waiting with this code"],
  revision_unknown: [404, "No such revision"],
  method_not_allowed: [405, "The resource does not support this method"],
  request_timeout: [408, "The request did not arrive in time"],
  conflict: [409, "The request conflicts with what is there"],
  bridge_rate_limited: [409, "Too many commands for the bridge"],
  signed_in: [409, "This browser is already signed in"],
  name_taken: [409, "Another valid token has this name"],
  device_present: [409, "The device is present"],
  consent_needed: [409, "The plugin needs consent for more permissions"],
  plugin_exists: [409, "Another plugin has this id or bridge kind"],
  plugin_pinned: [409, "The plugin is pinned to its version"],
  no_earlier_code: [409, "The module has no previous version to roll back to"],
  module_busy: [409, "A test or setup of the module is running"],
  scene_read_only: [409, "The scene belongs to its bridge"],
  revision_stale: [412, "The document was changed by another request"],
  body_too_large: [413, "The body is too large"],
  unsupported_media_type: [415, "The media type is not supported"],
  unknown_host: [421, "The Host header names another server"],
  invalid: [422, "The request has invalid values"],
  service_error: [422, "The service refused the call"],
  install_failed: [422, "The plugin could not be installed; nothing was changed"],
  reload_failed: [422, "The new code did not start; the previous code keeps running"],
  rate_limited: [429, "Too many requests"],
  headers_too_large: [431, "The headers are too large"],
  internal: [500, "Internal error; see the host's log"],
  bridge_down: [503, "The bridge or its device cannot be reached"],
  registry_down: [503, "The source of the plugin cannot be reached"],
  broker_down: [503, "The MQTT broker cannot be reached"],
  module_down: [503, "The module is not running"],
  service_unavailable: [503, "The service cannot be used now"],
  outcome_unknown: [504, "It is not known if the request was carried out"],
  deadline_passed: [504, "The deadline passed without an answer"],
  disk_full: [507, "The disk is full"],
  disk_read_only: [507, "The disk is not writable"],
  service_cycle: [508, "Services call each other in a circle"],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type ErrorCode = keyof typeof CODES;

/** One fault in a document: its location (RFC 6901 JSON pointer) and a description. */
export interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

/** A location in a plugin's source, with the lines around it in `frame`. Lines and columns count from 1. */
export interface CodeLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly frame: string;
}

/** Matches a stack frame with its file, line and column. Folder names may contain spaces and parentheses. */
export const FRAME = /(?:\(|^at (?:async )?|^)((?:file:\/\/)?\/.+):(\d+):(\d+)\)?$/;

/** Additional fields of some errors. They are plain data and are sent to the client unchanged. */
export interface ErrorExtras {
  readonly errors?: readonly Fault[];
  /** Milliseconds to wait before a retry. */
  readonly retryAfterMs?: number;
  /** Config keys that were refused. */
  readonly keys?: readonly string[];
  /** The methods that the resource supports, for status 405. */
  readonly allow?: readonly string[];
  readonly rolledBack?: boolean;
  /** User-facing texts of the permissions that the plugin requests and the user has not granted. */
  readonly needed?: readonly string[];
  /** The reason why a formerly valid token is refused. */
  readonly reason?: "revoked" | "expired";
  readonly location?: CodeLocation;
  /** The provider's own code, for `service_error`. */
  readonly serviceError?: string;
  /** The message in a form that can be translated. */
  readonly sentence?: Sentence;
}

/**
 * An expected failure with a stable code, an HTTP status and a message that is safe to send to a client.
 * Any other thrown error is answered with status 500, without its message.
 */
export class MantelError extends Error {
  override readonly name = "MantelError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly extras: ErrorExtras;

  /** A sentence as the message can be translated. */
  constructor(
    code: ErrorCode,
    message: string | Sentence,
    options: ErrorOptions & ErrorExtras = {},
  ) {
    const { cause, ...extras } = options;
    const isText = typeof message === "string";
    super(isText ? message : inEnglish(message), cause === undefined ? undefined : { cause });
    this.code = code;
    [this.status, this.title] = CODES[code];
    this.extras = isText ? extras : { ...extras, sentence: message };
  }
}

/**
 * An error of a service, under one of the codes in its definition. A provider throws it; callers get it with code and
 * message. A code that the definition does not name stays in the provider's log.
 */
export class ServiceError<Code extends string = string> extends Error {
  override readonly name = "ServiceError";
  /** The service's name, without a version. */
  readonly service: string;
  readonly code: Code;

  /** `service` is the definition. */
  constructor(
    service: { readonly name: string; readonly errors?: { readonly [C in Code]?: string } },
    code: Code,
    message: string,
  ) {
    super(message);
    this.service = service.name;
    this.code = code;
  }
}

/** True if the value is one of the error codes. For errors that arrive from another process. */
export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === "string" && Object.hasOwn(CODES, text);
}

/** All error codes with their status and title, for the HTTP documentation. */
export function errorTable(): { code: ErrorCode; status: number; title: string }[] {
  return Object.entries(CODES).map(([code, [status, title]]) => ({
    code: code as ErrorCode,
    status,
    title,
  }));
}
