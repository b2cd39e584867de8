import { isRecord } from "./engine/values.ts";

/** Characters of a body that automations get. */
const LONGEST = 10_000;
/** Levels of JSON; deeper bodies are texts. */
const DEEPEST = 8;

/** The body of a request to a webhook: JSON and forms as plain data, others as text; `undefined` for an empty one. */
export function parseWebhookBody(bytes: Uint8Array, contentType: string): unknown {
  const text = new TextDecoder().decode(bytes);
  if (text.trim() === "") return undefined;
  if (text.length <= LONGEST) {
    if (contentType.includes("json")) return parseJson(text) ?? text;
    if (contentType.includes("x-www-form-urlencoded")) {
      return Object.fromEntries(new URLSearchParams(text));
    }
  }
  return text.slice(0, LONGEST);
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, DEEPEST) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (!Array.isArray(value) && !isRecord(value)) return true;
  return levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1));
}
