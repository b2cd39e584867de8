import { setTimeout } from "node:timers/promises";
import { inEnglish, type Log, MantelError, type Sentence } from "@mantel/plugin-sdk";
import { reasonOf } from "../reason.ts";

export interface PollOptions {
  /** Reads once. False if there is more to read soon. */
  readonly read: () => Promise<boolean>;
  /** Called with the reason when a reading failed. */
  readonly failed: (reason: Sentence, error: unknown) => void;
  /** Called after each reading, successful or not. */
  readonly changed: () => void;
  readonly refreshMs: number;
  readonly log: Log;
  /** The calendar, for the log. */
  readonly id: string;
  /** Stops polling. */
  readonly signal: AbortSignal;
}

/** Pause within a reading that takes several polls. */
const SOON_MS = 1_000;
/** Delay before the first retry after a failure; it doubles each time. */
const FIRST_RETRY_MS = 30_000;
/** Maximum delay between retries, also for calendars with a shorter interval. */
const LONGEST_RETRY_MS = 900_000;
/** Random variation of delays, so that calendars that failed together do not retry together. */
const JITTER = 0.2;

/** Polls a resource on the web, less often while it fails. */
export class Poll {
  readonly #options: PollOptions;
  #failures = 0;
  #askedForMs = 0;
  #isWhole = true;
  #reading: Promise<void> | undefined;

  constructor(options: PollOptions) {
    this.#options = options;
  }

  /** Polls until the signal aborts. Never rejects. */
  async run(): Promise<void> {
    const { signal, refreshMs } = this.#options;
    while (!signal.aborted) {
      await this.once();
      const state = { refreshMs, failures: this.#failures, askedForMs: this.#askedForMs };
      const pause = this.#isWhole ? pauseMs(state) : SOON_MS;
      await setTimeout(pause, undefined, { signal }).catch(() => undefined); // ended
    }
  }

  /** Reads once; a reading that is under way is shared. Never rejects. */
  once(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { read, log, id, changed, signal } = this.#options;
    try {
      this.#isWhole = await read();
      if (this.#failures > 0) log.info("calendar is readable again", { calendar: id });
      this.#failures = 0;
      this.#askedForMs = 0;
    } catch (error) {
      this.#isWhole = true;
      if (signal.aborted) return;
      this.#fail(error);
    }
    changed();
  }

  #fail(error: unknown): void {
    const { log, id, failed } = this.#options;
    const known = error instanceof MantelError ? error : undefined;
    const reason = reasonOf(error);
    this.#askedForMs = known?.extras.retryAfterMs ?? 0;
    if (++this.#failures === 1) {
      log.warn("calendar cannot be read", {
        calendar: id,
        reason: inEnglish(reason),
        ...(known ? {} : { error }),
      });
    }
    failed(reason, error);
  }
}

/**
 * The delay until the next attempt. It grows with consecutive failures and is never shorter than
 * the server requested.
 */
export function pauseMs(
  state: { readonly refreshMs: number; readonly failures: number; readonly askedForMs: number },
  random = Math.random,
): number {
  const { refreshMs, failures, askedForMs } = state;
  if (failures === 0) return refreshMs;
  const retry = FIRST_RETRY_MS * 2 ** (failures - 1);
  const longest = Math.max(refreshMs, LONGEST_RETRY_MS);
  const wait = Math.min(retry, longest) * (1 + JITTER * (2 * random() - 1));
  return Math.max(wait, askedForMs * (1 + JITTER * random()));
}
