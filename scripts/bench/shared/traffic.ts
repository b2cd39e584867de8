import { setTimeout as delay } from "node:timers/promises";
import { askedIds, LAMPS } from "./counting-bridge.ts";

/** What was acknowledged may still be on its way to the subscriber. */
const ARRIVAL_MS = 200;

/** A host that is under load. */
export interface Target {
  readonly url: string;
  /** Of the scope `admin`. */
  readonly token: string;
  readonly data: string;
}

/** What callers have had of one kind of request. */
export interface Answers {
  readonly asked: number;
  readonly failed: number;
  /** Answered `outcome_unknown`: a process crashed while it worked on it. */
  readonly unknown: number;
  /** How long each answer took, in milliseconds. */
  readonly waits: readonly number[];
  /** Status and code of what failed, and how often. */
  readonly faults: Readonly<Record<string, number>>;
}

interface Answer {
  readonly ms: number;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Asks at a steady rate, whether or not earlier requests are answered, until it is stopped. */
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

export function summed(answers: readonly Answer[]): Answers {
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

/** Reads, commands and publishes, per second. */
interface Rates {
  readonly reads: number;
  readonly commands: number;
  /** 0 when there is no broker. */
  readonly publishes: number;
}

/** Reads, commands and publishes, all at once until `stop`. */
export class Traffic {
  readonly #target: Target;
  readonly #reads: Load;
  readonly #commands: Load;
  readonly #publishes: Load | undefined;
  /** Payloads of this traffic begin with it, and no others do. */
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

  /** `received` are the payloads that a subscriber has had so far. */
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
      reads: summed(reads),
      commands: { ...summed(commands), ...compare(applied(commands), asked) },
      publishes: { ...summed(publishes), ...compare(acknowledged, arrived) },
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

/** The topic that publishes go to. */
export const TOPIC = "bench/drop";

/** Routes of every part that a module stands behind. */
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

/** Ids of commands that were confirmed and not replaced by a later one before they were sent. */
function applied(answers: readonly Answer[]): string[] {
  return answers
    .filter(({ status, body }) => status === 200 && body["status"] === "applied")
    .map(({ body }) => String(body["commandId"]));
}

/** What was confirmed and did not arrive, and what arrived more than once. */
function compare(confirmed: readonly string[], arrived: readonly string[]) {
  const once = new Set(arrived);
  return {
    lost: confirmed.filter((each) => !once.has(each)).length,
    doubled: arrived.length - once.size,
  };
}
