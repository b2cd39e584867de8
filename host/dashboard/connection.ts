import { readEvents, type StreamEvent } from "@mantel/plugin-sdk/client/event-stream";
import { signal, type ReadonlySignal } from "@preact/signals-core";
import { type Api, ApiError } from "./api.ts";

/**
 * State of the connection to the host. `since` and `retryAt` use `performance.now`, which never
 * jumps.
 */
export type ConnectionState =
  | { readonly state: "live" }
  | { readonly state: "away"; readonly since: number; readonly retryAt: number };

/**
 * The host sends a ping every 15 s. Two missed pings mean that the connection is dead, even if it
 * looks open.
 */
const SILENCE_MS = 35_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

interface Listener {
  /**
   * The stream is open. `resumed` is true if it continues from the last event of the previous
   * stream.
   */
  opened(resumed: boolean): void;
  event(event: StreamEvent): void;
}

/** Follows the host's event stream. Reopens it from the last event whenever it ends. */
export class Connection {
  readonly #api: Api;
  readonly #listener: Listener;
  readonly #link = signal<ConnectionState>({ state: "away", since: 0, retryAt: 0 });
  readonly #closing = new AbortController();
  #lastEventId: string | undefined;
  #wake = (): void => undefined;

  constructor(api: Api, listener: Listener) {
    this.#api = api;
    this.#listener = listener;
    addEventListener("online", () => this.#wake(), { signal: this.#closing.signal });
    void this.#run();
  }

  get link(): ReadonlySignal<ConnectionState> {
    return this.#link;
  }

  close(): void {
    this.#closing.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#closing.signal.aborted; failures++) {
      let retryAfterMs: number | undefined;
      try {
        await this.#follow(() => (failures = 0));
      } catch (error) {
        if (error instanceof ApiError) retryAfterMs = error.retryAfterMs;
      }
      await this.#pause(retryAfterMs ?? backOff(failures));
    }
  }

  async #follow(onOpen: () => void): Promise<void> {
    const attempt = new AbortController();
    let silence = setTimeout(() => attempt.abort(), SILENCE_MS);
    const heard = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => attempt.abort(), SILENCE_MS);
    };
    try {
      const resume = this.#lastEventId;
      const headers = resume === undefined ? {} : { "Last-Event-ID": resume };
      const ended = AbortSignal.any([attempt.signal, this.#closing.signal]);
      const { body } = await this.#api.open("/events", { headers, signal: ended });
      if (!body) return;
      onOpen();
      this.#link.value = { state: "live" };
      this.#listener.opened(resume !== undefined);
      for await (const event of readEvents(body, heard)) {
        this.#lastEventId = event.id ?? this.#lastEventId;
        this.#listener.event(event);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  async #pause(ms: number): Promise<void> {
    const before = this.#link.value;
    const now = performance.now();
    const since = before.state === "away" ? before.since : now;
    this.#link.value = { state: "away", since, retryAt: now + ms };
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Exponential back-off with jitter, so that the tablets of a home do not reconnect at the same
 * moment.
 */
function backOff(failures: number): number {
  const ceiling = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  return ceiling * (0.75 + Math.random() * 0.25);
}
