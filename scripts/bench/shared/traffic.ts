import { setTimeout as delay } from "node:timers/promises";
import { askedIds, LAMPS } from "./counting-bridge.ts";

/** Waiting time for acknowledged messages that have not reached the subscriber yet. */
const ARRIVAL_MS = 200;

/** The host under load. */
export interface Target {
  readonly url: string;
  /** A token with the scope `admin`. */
  readonly token: string;
  readonly data: string;
}

/** The results of one kind of request. */
export interface Answers {
  readonly asked: number;
  readonly failed: number;
  /** Requests answered with `outcome_unknown`, because a process crashed during the request. */
  readonly unknown: number;
  /** The answer times in milliseconds. */
  readonly waits: readonly number[];
  /** The number of failures by status and code. */
  readonly faults: Readonly<Record<string, number>>;
}

interface Answer {
  readonly ms: number;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends requests at a steady rate until it is stopped, without waiting for earlier answers. */
export class Load {
  readonly #answers: Promise<Answer>[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(perSecond: number, ask: (round: number) => Promise<Response>) {
    let round = 0;
    this.#timer = setInterval(() => this.#answers.push(timed(ask(round++))), 1_000 / perSecond);
  }

  async stop(): Promise<readonly Answer[]> {
    clearInterval(this.#timer);
    return Promise.all(this.#answers);
  }
}

async function timed(response: Promise<Response>): Promise<Answer> {
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  try {
    const answer = await response;
    const text = await answer.text();
    const body = text.startsWith("{") ? (JSON.parse(text) as Answer["body"]) : {};
    return { ms: elapsed(), status: answer.status, body };
  } catch (error) {
    return { ms: elapsed(), status: 0, body: { code: String(error) } };
  }
}

export function summarizeAnswers(answers: readonly Answer[]): Answers {
  const isUnknown = ({ body }: Answer): boolean => body["code"] === "outcome_unknown";
  const failed = answers.filter((answer) => answer.status !== 200 && !isUnknown(answer));
  const faults: Record<string, number> = {};
  for (const { status, body } of failed) {
    const fault = `${status} ${String(body["code"])}`;
    faults[fault] = (faults[fault] ?? 0) + 1;
  }
  return {
    asked: answers.length,
    failed: failed.length,
    unknown: answers.filter(isUnknown).length,
    waits: answers.map(({ ms }) => ms),
    faults,
  };
}

/** The rates of reads, commands and publishes per second. */
interface Rates {
  readonly reads: number;
  readonly commands: number;
  /** 0 without a broker. */
  readonly publishes: number;
}

/** Concurrent reads, commands and publishes until `stop`. */
export class Traffic {
  readonly #target: Target;
  readonly #reads: Load;
  readonly #commands: Load;
  readonly #publishes: Load | undefined;
  /** The prefix of this traffic's payloads, which no other payload has. */
  readonly #mark = `${Date.now()} `;

  constructor(target: Target, rates: Rates) {
    this.#target = target;
    this.#reads = new Load(rates.reads, (round) => this.#get(PATHS[round % PATHS.length] ?? ""));
    this.#commands = new Load(rates.commands, (round) =>
      this.#post(`/smart-home/devices/count:light:${(round % LAMPS) + 1}/command`, {
        brightness: round % 101,
      }),
    );
    if (rates.publishes === 0) return;
    this.#publishes = new Load(rates.publishes, (round) =>
      this.#post("/mqtt/publish", { topic: TOPIC, payload: this.#mark + round, qos: 1 }),
    );
  }

  /** @param received all payloads that the subscriber has received so far */
  async stop(received: () => readonly string[]) {
    const [reads, commands, publishes] = await Promise.all([
      this.#reads.stop(),
      this.#commands.stop(),
      this.#publishes?.stop() ?? [],
    ]);
    await delay(ARRIVAL_MS);
    const acknowledged = publishes.flatMap(({ status }, round) =>
      status === 200 ? [this.#mark + round] : [],
    );
    const arrived = received().filter((payload) => payload.startsWith(this.#mark));
    const asked = await askedIds(this.#target.data);
    return {
      reads: summarizeAnswers(reads),
      commands: { ...summarizeAnswers(commands), ...compare(applied(commands), asked) },
      publishes: { ...summarizeAnswers(publishes), ...compare(acknowledged, arrived) },
    };
  }

  #get(path: string): Promise<Response> {
    return this.#ask(path, {});
  }

  #post(path: string, body: object): Promise<Response> {
    return this.#ask(path, { method: "POST", body: JSON.stringify(body) });
  }

  #ask(path: string, init: RequestInit): Promise<Response> {
    const { url, token } = this.#target;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return fetch(`${url}/api/v1${path}`, { ...init, headers });
  }
}

/** The topic of the publishes. */
export const TOPIC = "bench/drop";

/** Read routes that depend on modules. */
const PATHS = [
  "/smart-home/devices",
  "/smart-home/devices/count:light:1",
  "/smart-home/scenes",
  "/calendar/events",
  "/calendar/events?start=2020-01-01&end=2020-01-08",
  "/system",
  "/modules",
  "/layout",
  "/config",
];

/** The ids of confirmed commands that were not merged into a later one. */
function applied(answers: readonly Answer[]): string[] {
  return answers
    .filter(({ status, body }) => status === 200 && body["status"] === "applied")
    .map(({ body }) => String(body["commandId"]));
}

/** The confirmed ids that did not arrive, and those that arrived more than once. */
function compare(confirmed: readonly string[], arrived: readonly string[]) {
  const once = new Set(arrived);
  return {
    lost: confirmed.filter((each) => !once.has(each)).length,
    doubled: arrived.length - once.size,
  };
}
