import { type ErrorCode, MantelError } from "@mantel/plugin-sdk";

/** An error of Zigbee2MQTT on `bridge/logging` about a set message. */
export interface LoggedError {
  /** The device's name, as it was addressed. */
  readonly name: string;
  readonly isOfScene: boolean;
  readonly error: MantelError;
}

const FAILED = /^(?:z2m: )?Publish 'set' '([^']*)' to '(.+?)' failed: '?(.*?)'?$/s;
const NO_CONVERTER = /^(?:z2m: )?No converter available for (?:'set' )?'([^']*)' on '(.+?)'/;
const UNKNOWN = /^(?:z2m: )?Entity '(.+?)' is unknown/;
const UNSUPPORTED = /^(?:z2m: )?Cannot publish to unsupported device '(.+?)'/;
const NO_ENDPOINT = /^(?:z2m: )?Device '(.+?)' has no endpoint '(.*?)'/;
const LONGEST_REASON = 300;

/** Reasons of Zigbee adapters and devices, most specific first, in plain words. */
const REASONS: readonly (readonly [pattern: RegExp, code: ErrorCode, words: string])[] = [
  [/channel_access_failure/i, "deadline_passed", "the radio channel is busy or disturbed"],
  [/transaction_expired/i, "deadline_passed", "it is asleep and did not fetch the message"],
  [
    /no_ack|no_(?:network_)?route|network route|delivery[ _]failed|route_(?:error|discovery)/i,
    "deadline_passed",
    "it is out of range or without power",
  ],
  [
    /SRSP|AREQ|APS-DATA|adapter|serial ?port|HOST_FATAL|queued command/i,
    "bridge_down",
    "the Zigbee adapter does not answer",
  ],
  [
    /time ?out|timed out|no response/i,
    "deadline_passed",
    "it does not answer; it may be asleep, out of range or without power",
  ],
  [
    /busy|buffers?[ _]full|no_buffers|max_message_limit/i,
    "deadline_passed",
    "the Zigbee adapter is busy",
  ],
  [/mac_|data request failed/i, "deadline_passed", "the Zigbee adapter could not send the message"],
  [/unsup(?:ported)?_/i, "invalid", "it does not support this"],
  [/invalid_(?:value|data_type|field)|malformed/i, "invalid", "it does not take this value"],
  [/read_only/i, "invalid", "this cannot be changed"],
  [/not_authorized/i, "invalid", "it does not permit this"],
  [/insufficient_space/i, "invalid", "its memory is full"],
  [/status '?failure|_failure/i, "invalid", "it refused the command"],
];

/** Reads a payload of `bridge/logging`; `undefined` for entries that are not errors of a command. */
export function findLoggedError(payload: unknown): LoggedError | undefined {
  const { level, message } = (payload ?? {}) as { level?: unknown; message?: unknown };
  if (level !== "error" || typeof message !== "string") return undefined;
  const text = message.slice(0, 2_000);
  return unknownName(text) ?? failedPublish(text) ?? lackingConverter(text) ?? unusable(text);
}

/** A request on `bridge/request` that Zigbee2MQTT refused: the reason, in plain words. */
export function findRefusal(payload: unknown): string | undefined {
  const { status, error } = (payload ?? {}) as { status?: unknown; error?: unknown };
  if (status !== "error" || typeof error !== "string") return undefined;
  return inPlainWords(error.slice(0, 2_000)).words;
}

/** The error and, in parentheses, the original words for those who search for them. */
function inPlainWords(why: string): { readonly code: ErrorCode; readonly words: string } {
  // An error of sending has words of its own, such as a timeout.
  const [, inner] = /^(?:Error: )?ZCL command .* failed \((.*)\)$/s.exec(why) ?? [];
  const reason = inner ?? why.replace(/^Error: /, "");
  const original = reason.slice(0, LONGEST_REASON);
  const found = REASONS.find(([pattern]) => pattern.test(reason));
  if (!found) return { code: "invalid", words: original };
  const [, code, words] = found;
  return { code, words: `${words} (${original})` };
}

function errorOf(name: string, code: ErrorCode, words: string, isOfScene = false): LoggedError {
  return { name, isOfScene, error: new MantelError(code, `${name}: ${words}`) };
}

function unknownName(text: string): LoggedError | undefined {
  const [, name] = UNKNOWN.exec(text) ?? [];
  if (name === undefined) return undefined;
  const detail = `Zigbee2MQTT knows nothing by the name ${name}; it may just have been renamed`;
  return { name, isOfScene: false, error: new MantelError("device_unknown", detail) };
}

function failedPublish(text: string): LoggedError | undefined {
  const [, key, name, why = ""] = FAILED.exec(text) ?? [];
  if (name === undefined) return undefined;
  const { code, words } = inPlainWords(why);
  return errorOf(name, code, words, key === "scene_recall");
}

function lackingConverter(text: string): LoggedError | undefined {
  const [, key = "", name] = NO_CONVERTER.exec(text) ?? [];
  if (name === undefined) return undefined;
  const words = `it does not take ${key} (${text.slice(0, LONGEST_REASON)})`;
  return errorOf(name, "invalid", words);
}

function unusable(text: string): LoggedError | undefined {
  const [, unsupported] = UNSUPPORTED.exec(text) ?? [];
  if (unsupported !== undefined) {
    return errorOf(unsupported, "invalid", "Zigbee2MQTT does not support the device");
  }
  const [, name, endpoint = ""] = NO_ENDPOINT.exec(text) ?? [];
  return name === undefined
    ? undefined
    : errorOf(name, "invalid", `it has no endpoint ${endpoint}`);
}
