import { setTimeout } from "node:timers/promises";
import { MantelError, type Log } from "@mantel/plugin-sdk";

export interface PollOptions {
  /** Reads once. */
  readonly read: () => Promise<void>;
  /** Told in words why a reading failed. */
  readonly failed: (reason: string) => void;
  /** Told after each reading, whichever way it went. */
  readonly changed: () => void;
  readonly refreshMs: number;
  readonly log: Log;
  /** The calendar, for the log. */
  readonly id: string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** After a failure it is tried again this soon, then half as often each time. */
const FIRST_RETRY_MS = 30_000;
/** A calendar that is asked for more often than this is not while its server fails. */
const LONGEST_RETRY_MS = 900_000;
/** Waits differ by this part, so that calendars which failed together do not come back together. */
const JITTER = 0.2;

/** Something on the web that is read again and again, less often while that fails. */
export class Poll {
  readonly #options: PollOptions;
  #failures = 0;
  #askedForMs = 0;

  constructor(options: PollOptions) {
    this.#options = options;
  }

  /** Reads until the signal ends it. Never rejects. */
  async run(): Promise<void> {
    const { signal, refreshMs } = this.#options;
    while (!signal.aborted) {
      await this.once();
      const pause = pauseMs({ refreshMs, failures: this.#failures, askedForMs: this.#askedForMs });
      await setTimeout(pause, undefined, { signal }).catch(() => undefined); // ended
    }
  }

  /** Reads once. Never rejects. */
  async once(): Promise<void> {
    const { read, log, id, changed, signal } = this.#options;
    try {
      await read();
      if (this.#failures > 0) log.info("calendar can be read again", { calendar: id });
      this.#failures = 0;
      this.#askedForMs = 0;
    } catch (error) {
      if (signal.aborted) return;
      this.#fail(error);
    }
    changed();
  }

  #fail(error: unknown): void {
    const { log, id, failed } = this.#options;
    const known = error instanceof MantelError ? error : undefined;
    const reason = known?.message ?? "the calendar cannot be read";
    this.#askedForMs = known?.extras.retryAfterMs ?? 0;
    if (++this.#failures === 1) {
      log.warn("calendar cannot be read", { calendar: id, reason, ...(known ? {} : { error }) });
    }
    failed(reason);
  }
}

/** How long to wait, which grows with failures in a row and is never less than a server has asked for. */
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
