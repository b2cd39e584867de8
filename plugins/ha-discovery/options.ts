import type { Fields } from "./abbreviations.ts";
import { DiscoveryError } from "./discovery-error.ts";
import type { Message, Payload } from "./payload.ts";
import type { Clock } from "./template/run.ts";
import { Template, type Variables } from "./template/template.ts";
import { ExhaustedError, TemplateError, type Value } from "./template/values.ts";

/** The environment of a component. */
export interface Environment {
  readonly clock: Clock;
  /** False for topics to which publishing is forbidden. */
  readonly mayPublish: (topic: string) => boolean;
  /** Hears why a whole payload means nothing to the component. */
  readonly onGarbage: (why: string) => void;
  /** Hears why something in a payload, which may mean much to others, could not be used. */
  readonly onUnusable: (why: string) => void;
}

/** Gives the text that a payload carries for a field; `undefined` when it carries none that can be used. */
export type ReadText = (payload: Payload) => string | undefined;

/** A template that has used up what it may this often is not tried on later payloads. */
const FAILURES = 20;
const LIST_LENGTH = 500;
const TOPIC_BYTES = 65_535;

/** The options of a component, which may be of any type, as values that can be used. */
export class Options {
  readonly #fields: Fields;
  readonly #environment: Environment;

  constructor(fields: Fields, environment: Environment) {
    this.#fields = fields;
    this.#environment = environment;
  }

  /** The same options with some more. */
  with(more: Fields): Options {
    return new Options(new Map([...this.#fields, ...more]), this.#environment);
  }

  has(name: string): boolean {
    return this.#fields.has(name) && this.#fields.get(name) !== null;
  }

  raw(name: string): unknown {
    return this.#fields.get(name);
  }

  /** A text; a number or boolean counts as the text that a template would print. */
  text<A extends string | undefined>(name: string, absent: A): string | A {
    if (!this.has(name)) return absent;
    const value = this.#fields.get(name);
    if (typeof value === "string") return value;
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value === "number") return String(value);
    throw new DiscoveryError(`${name} must be a text`);
  }

  number<A extends number | undefined>(name: string, absent: A): number | A {
    if (!this.has(name)) return absent;
    const value = Number(this.#fields.get(name));
    if (Number.isFinite(value)) return value;
    throw new DiscoveryError(`${name} must be a number`);
  }

  flag(name: string): boolean {
    const value = this.#fields.get(name);
    return value === true || value === "true" || value === 1;
  }

  texts(name: string): readonly string[] | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#fields.get(name);
    const list: unknown[] = Array.isArray(value) ? value : [value];
    if (list.length > LIST_LENGTH)
      throw new DiscoveryError(`${name} has more than ${LIST_LENGTH} entries`);
    const texts = list.filter((each) => ["string", "number"].includes(typeof each)).map(String);
    return [...new Set(texts.map((each) => each.slice(0, 200)))];
  }

  /** A topic to listen to. Wildcards are refused: one component could ask for all there is. */
  topic(name: string): string | undefined {
    const topic = this.text(name, undefined);
    if (topic === undefined || topic === "") return undefined;
    return checkedTopic(topic, name);
  }

  /** Reads a field by a template, or takes the payload as it is. */
  reader(template: string): ReadText {
    const source = this.text(template, undefined);
    if (source === undefined || source === "") return (payload) => payload.text;
    const rendered = compile(source, template);
    const { clock, onGarbage, onUnusable } = this.#environment;
    let exhausted = 0;
    return (payload) => {
      if (exhausted >= FAILURES) return undefined;
      try {
        return rendered.render(payload.variables, clock);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        const isExhausted = error instanceof ExhaustedError;
        if (isExhausted) exhausted++;
        const tell = isExhausted || !payload.isJson ? onGarbage : onUnusable;
        tell(`${template}: ${error.message}`);
        return undefined;
      }
    };
  }

  /** Writes a value to a topic, through a template if there is one; `undefined` without a topic. */
  writer(topicName: string, templateName: string): Write | undefined {
    const topic = this.topic(topicName);
    if (topic === undefined || !this.#environment.mayPublish(topic)) return undefined;
    const source = this.text(templateName, undefined);
    const template = source === undefined ? undefined : compile(source, templateName);
    const to = { topic, qos: this.#qos, retain: this.flag("retain") };
    return (value, more = []) => {
      const variables: Variables = new Map<string, Value>([["value", value], ...more]);
      return {
        ...to,
        payload: template?.render(variables, this.#environment.clock) ?? plain(value),
      };
    };
  }

  /** Called for each payload that is meaningless for the component. */
  get onGarbage(): (why: string) => void {
    return this.#environment.onGarbage;
  }

  get #qos(): 0 | 1 | 2 {
    const qos = this.number("qos", 0);
    return qos === 1 || qos === 2 ? qos : 0;
  }
}

/** Makes the message that asks for a value; `more` are variables that its template may use. */
export type Write = (value: Value, more?: readonly (readonly [string, Value])[]) => Message;

function plain(value: Value): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Thousands of components share some dozens of templates. */
const compiled = new Map<string, Template>();
const MOST_COMPILED = 1_000;

function compile(source: string, name: string): Template {
  try {
    const template = compiled.get(source) ?? new Template(source);
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    compiled.set(source, template);
    return template;
  } catch (error) {
    if (error instanceof TemplateError)
      throw new DiscoveryError(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
}

function checkedTopic(topic: string, name: string): string {
  const isSound = !/[+#\p{Cc}\p{Cs}]/u.test(topic) && !topic.startsWith("$");
  if (isSound && Buffer.byteLength(topic) <= TOPIC_BYTES) return topic;
  throw new DiscoveryError(`${name} is not a valid topic`);
}
