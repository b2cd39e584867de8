import { MantelError } from "@mantel/plugin-sdk";

/** An error of Zigbee2MQTT on `bridge/logging` about a set message. */
export interface LoggedError {
  /** The device's name, as it was addressed. */
  readonly name: string;
  readonly isOfScene: boolean;
  readonly error: MantelError;
}

const FAILED = /^(?:z2m: )?Publish 'set' '([^']*)' to '(.+?)' failed: '?(.*?)'?$/s;
const NO_CONVERTER = /^(?:z2m: )?No converter available for '(?:[^']*)' on '(.+?)'/;
const UNKNOWN = /^(?:z2m: )?Entity '(.+?)' is unknown/;
const UNREACHED =
  /time ?out|timed out|no network route|no response|delivery failed|mac_|data request failed/i;

/** Reads a payload of `bridge/logging`; `undefined` for entries that are not errors of a command. */
export function findLoggedError(payload: unknown): LoggedError | undefined {
  const { level, message } = (payload ?? {}) as { level?: unknown; message?: unknown };
  if (level !== "error" || typeof message !== "string") return undefined;
  const text = message.slice(0, 2_000);
  return unknownName(text) ?? failedPublish(text) ?? lackingConverter(text);
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
  const code = UNREACHED.test(why) ? "deadline_passed" : "invalid";
  const error = new MantelError(code, `${name}: ${why.slice(0, 300)}`);
  return { name, isOfScene: key === "scene_recall", error };
}

function lackingConverter(text: string): LoggedError | undefined {
  const [, name] = NO_CONVERTER.exec(text) ?? [];
  if (name === undefined) return undefined;
  const error = new MantelError("invalid", `${name} does not take this: ${text.slice(0, 300)}`);
  return { name, isOfScene: false, error };
}
