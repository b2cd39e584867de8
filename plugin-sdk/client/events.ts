import type { Client } from "openapi-fetch";
import type { Event, paths } from "./api-types.d.ts";
import { readEvents, type StreamEvent } from "./event-stream.ts";
import { ProblemError } from "./problem.ts";
import { pause } from "./retries.ts";

/** The host sends a ping every 15 s. After two missed ones the connection is dead, even if it looks open. */
const SILENCE_MS = 35_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** Refusals that pass. */
const BUSY = new Set([408, 429]);
/** The data of a `resync` that the host does not know of. */
const UNKNOWN_BEFORE = JSON.stringify({ reason: "the stream was opened without a last event" });

/** A topic that can be followed. */
export type Topic = Exclude<Event["topic"], "resync">;

export interface EventsOptions<T extends Topic> {
  /** Absent means all but `module.log`. */
  readonly topics?: readonly T[];
  /** The channels to follow, as `plugin/name`. Absent means all that the token may read. */
  readonly channels?: readonly string[];
  /** The `id` of the last event that the caller has received; those after it follow. */
  readonly lastEventId?: string;
  /** Ends the events. */
  readonly signal?: AbortSignal;
}

/** An event of these topics, or a `resync`. Values of channels and log records have no `id`. */
export type EventOf<T extends Topic> = Extract<Event, { topic: T | "resync" }> & {
  readonly id?: string;
};

/** The events of `MantelClient.events`. */
export async function* followEvents<T extends Topic>(
  client: Client<paths>,
  options: EventsOptions<T>,
): AsyncGenerator<EventOf<T>, void> {
  const { signal = new AbortController().signal } = options;
  let last = options.lastEventId;
  for (let failures = 0; !signal.aborted; failures++) {
    const events = await open(client, options, { last, signal });
    if (events) {
      failures = 0;
      // What the caller reads from now on is followed by the events after it.
      if (last === undefined) yield parse({ topic: "resync", id: last, data: UNKNOWN_BEFORE });
      for await (const event of events) {
        last = event.id ?? last;
        yield parse(event);
      }
    }
    await pause(backOff(failures), signal);
  }
}

/**
 * Opens one stream, which ends when its connection does; `undefined` if the host cannot be reached or is busy.
 * @throws ProblemError if the host refuses the request
 */
async function open(
  client: Client<paths>,
  { topics, channels }: EventsOptions<Topic>,
  { last, signal }: { readonly last: string | undefined; readonly signal: AbortSignal },
): Promise<AsyncGenerator<StreamEvent, void> | undefined> {
  const silence = new Silence();
  const query = {
    ...(topics ? { topics: [...topics] } : {}),
    ...(channels ? { channels: [...channels] } : {}),
  };
  const header = last === undefined ? {} : { "Last-Event-ID": last };
  const answer = await client
    .GET("/events", {
      params: { query, header },
      parseAs: "stream",
      signal: AbortSignal.any([signal, silence.signal]),
    })
    .catch(() => undefined);
  // The type is that of one event.
  const body = answer?.data as unknown as ReadableStream<Uint8Array> | undefined;
  if (body) return untilBroken(body, silence);
  silence.stop();
  const status = answer?.response.status ?? 0;
  if (answer && status < 500 && !BUSY.has(status)) throw new ProblemError(status, answer.error);
  return undefined;
}

async function* untilBroken(
  body: ReadableStream<Uint8Array>,
  silence: Silence,
): AsyncGenerator<StreamEvent, void> {
  try {
    yield* readEvents(body, () => silence.restart());
  } catch {
    // The connection broke. The caller reconnects.
  } finally {
    silence.stop();
  }
}

/** Aborts its signal if the host is silent. */
class Silence {
  readonly #abort = new AbortController();
  #timer = this.#start();

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  restart(): void {
    this.stop();
    this.#timer = this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#abort.abort(), SILENCE_MS);
  }
}

function parse<T extends Topic>({ topic, id, data }: StreamEvent): EventOf<T> {
  const event = { topic, data: data === "" ? {} : (JSON.parse(data) as unknown) };
  return (id === undefined ? event : { ...event, id }) as EventOf<T>;
}

/** With jitter, so that the clients of a home do not reconnect at the same moment. */
function backOff(failures: number): number {
  const ceiling = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  return ceiling * (0.75 + Math.random() * 0.25);
}
