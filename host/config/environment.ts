import { RUN_VARIABLES } from "../options.ts";
import { invalid } from "../validate.ts";
import { type ConfigDocument, isObject, keyFaults, withValue } from "./document.ts";
import type { KeyTable } from "./keys.ts";

/**
 * The values from environment variables; an empty variable counts as absent.
 * @throws MantelError `invalid`, naming the variable
 */
export function readEnvironment(variables: NodeJS.ProcessEnv, keys: KeyTable): ConfigDocument {
  let document: ConfigDocument = {};
  for (const key of keys.all()) {
    const value = key.variable === undefined ? undefined : variables[key.variable];
    if (value) document = withValue(document, key, value);
  }
  const lifted = moveCredentialsFromUrl(document) as ConfigDocument;
  for (const key of keys.all()) {
    const value = lifted[key.section]?.[key.key];
    const faults = value === undefined ? [] : keyFaults(key, value);
    if (faults.length > 0) throw invalid(key.variable ?? key.dotted, faults);
  }
  return lifted;
}

/** Variables with Mantel's prefix that are not known, such as misspelled ones. */
export function unknownVariables(variables: NodeJS.ProcessEnv, keys: KeyTable): string[] {
  const known = new Set<string | undefined>(RUN_VARIABLES);
  for (const { variable } of keys.all()) known.add(variable);
  return Object.keys(variables).filter((name) => name.startsWith("MANTEL_") && !known.has(name));
}

/**
 * Moves the name and the password out of `mqtt.url` to their own keys, because
 * a broker's address is shown and logged and a password never is.
 */
export function moveCredentialsFromUrl(document: unknown): unknown {
  if (!isObject(document) || !isObject(document["mqtt"])) return document;
  const { url } = document["mqtt"];
  const parts = typeof url === "string" ? /^(\w+:\/\/)([^@/?#]*)@(.*)$/s.exec(url) : null;
  if (!parts) return document;
  const [, scheme = "", login = "", rest = ""] = parts;
  return { ...document, mqtt: { ...credentials(login), ...document["mqtt"], url: scheme + rest } };
}

/** The parts of `name:password` (RFC 3986, section 3.2.1) that are present. */
function credentials(login: string): { username?: string; password?: string } {
  const [, username = "", password = ""] = /^([^:]*):?(.*)$/s.exec(login) ?? [];
  return {
    ...(username === "" ? {} : { username: decoded(username) }),
    ...(password === "" ? {} : { password: decoded(password) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign is part of the password
  }
}
