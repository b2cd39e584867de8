import type { Fields } from "./abbreviations.ts";
import { Options, type ReadText, type Environment } from "./options.ts";
import type { Payload } from "./payload.ts";

interface Source {
  readonly topic: string;
  readonly read: ReadText;
  readonly available: string;
  readonly away: string;
}

const MOST_TOPICS = 20;

/** Availability of a component, from one or several topics. */
export class Availability {
  readonly #sources: readonly Source[];
  readonly #mode: string;
  readonly #told = new Map<string, boolean>();
  #latest = false;

  constructor(fields: Fields, environment: Environment) {
    const options = new Options(fields, environment);
    this.#mode = options.text("availability_mode", "latest");
    this.#sources = sourcesOf(fields, environment);
  }

  get topics(): string[] {
    return this.#sources.map(({ topic }) => topic);
  }

  /** True once a topic has told anything. */
  get isTold(): boolean {
    return this.#told.size > 0;
  }

  /** The last value of each topic, for the next generation. */
  get told(): Record<string, boolean> {
    return Object.fromEntries(this.#told);
  }

  /** Takes over the values of another instance with the same topics. */
  recall(told: Readonly<Record<string, boolean>>): void {
    for (const topic of this.topics) {
      if (Object.hasOwn(told, topic)) this.#set(topic, told[topic] === true);
    }
  }

  receive(topic: string, payload: Payload): void {
    for (const source of this.#sources) {
      if (source.topic !== topic) continue;
      const text = source.read(payload);
      if (text === source.available) this.#set(topic, true);
      else if (text === source.away) this.#set(topic, false);
    }
  }

  /** True when it can be reached, or names no topic that would tell. */
  get available(): boolean {
    if (this.#sources.length === 0) return true;
    if (this.#mode === "latest") return this.#latest;
    const all = this.topics.map((topic) => this.#told.get(topic) === true);
    return this.#mode === "all" ? all.every(Boolean) : all.some(Boolean);
  }

  #set(topic: string, available: boolean): void {
    this.#told.set(topic, available);
    this.#latest = available;
  }
}

/** The list under `availability`, or the one topic under `availability_topic`. */
function sourcesOf(fields: Fields, environment: Environment): Source[] {
  const list = fields.get("availability");
  const many = Array.isArray(list) ? (list as Fields[]).slice(0, MOST_TOPICS) : [];
  const one = new Options(fields, environment);
  return [
    ...sourceOf(one, { topic: "availability_topic", template: "availability_template" }),
    ...many.flatMap((each) =>
      sourceOf(new Options(each, environment), { topic: "topic", template: "value_template" }),
    ),
  ];
}

function sourceOf(options: Options, names: { topic: string; template: string }): Source[] {
  const topic = options.topic(names.topic);
  if (topic === undefined) return [];
  return [
    {
      topic,
      read: options.reader(names.template),
      available: options.text("payload_available", "online"),
      away: options.text("payload_not_available", "offline"),
    },
  ];
}
