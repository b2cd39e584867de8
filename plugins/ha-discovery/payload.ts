import type { Variables } from "./template/template.ts";
import { fromJson, TemplateError, type Value } from "./template/values.ts";

/** A message to publish. */
export interface Message {
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
}

/** A payload as seen by the templates of all its listeners. */
export class Payload {
  readonly text: string;
  /** True when the broker had kept it. */
  readonly retained: boolean;
  #variables: Variables | undefined;

  constructor(text: string, retained: boolean) {
    this.text = text;
    this.retained = retained;
  }

  get isJson(): boolean {
    return this.variables.has("value_json");
  }

  /** `value`, and `value_json` when the payload is JSON. */
  get variables(): Variables {
    this.#variables ??= variablesOf(this.text);
    return this.#variables;
  }
}

function variablesOf(text: string): Variables {
  const variables = new Map<string, Value>([["value", text]]);
  const json = jsonIn(text);
  if (json !== undefined) variables.set("value_json", json);
  return variables;
}

/** The JSON value of a text, or `undefined` for invalid JSON. */
export function jsonIn(text: string): Value {
  try {
    return fromJson(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TemplateError) return undefined;
    throw error;
  }
}
