import type { PluginContext } from "./context.ts";

/** Ignored messages are shown until none has arrived for this time. */
const QUIET_MS = 60_000;
const MOST_KINDS = 200;

/** An ignored message. Equal faults have equal `what` and `why`. */
export interface Ignored {
  /** The subject, such as "a message". */
  readonly what: string;
  /** The reason, such as "it is not a JSON object". */
  readonly why: string;
  /** The source, such as a topic. */
  readonly where: string;
}

type Context = Pick<PluginContext<unknown, unknown>, "status" | "log">;

/** Reports a bridge's most important problem as one user-facing sentence (`ctx.status`). */
export class Health<Reason extends string> {
  readonly #ctx: Context;
  readonly #reasons: readonly Reason[];
  readonly #toleratedMessages: number;
  readonly #sentences = new Map<Reason, string>();
  readonly #counts = new Map<string, number>();
  /** The number of ignored messages since the last quiet period, and the sentence about them. */
  #ignoredCount = 0;
  #garbage: string | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #reported: string | undefined;
  #isReporting = false;

  /**
   * @param reasons all other problems, most important first
   * @param toleratedMessages ignored messages within a quiet period that are only logged
   */
  constructor(ctx: Context, reasons: readonly Reason[], toleratedMessages = 0) {
    this.#ctx = ctx;
    this.#reasons = reasons;
    this.#toleratedMessages = toleratedMessages;
  }

  /** Enables reporting. Call it at the plugin's start. */
  startReporting(): void {
    this.#isReporting = true;
    this.#report();
  }

  /** Sets the sentence for one reason; `undefined` clears it. */
  set(reason: Reason, sentence: string | undefined): void {
    if (sentence === undefined) this.#sentences.delete(reason);
    else this.#sentences.set(reason, sentence);
    this.#report();
  }

  /** Counts an ignored message. Reports the first that is not tolerated, and the count at 10, 100, 1,000 and so on. */
  countIgnored(left: Ignored): void {
    this.count(left);
    this.#ignoredCount += 1;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#calm(), QUIET_MS);
    unref(this.#quiet);
    const isFirst = this.#ignoredCount === this.#toleratedMessages + 1;
    const isRound = Number.isInteger(Math.log10(this.#ignoredCount));
    if (!isFirst && (!isRound || this.#ignoredCount <= this.#toleratedMessages)) return;
    const messages =
      this.#ignoredCount === 1 ? "1 message was" : `${this.#ignoredCount} messages were`;
    this.#garbage = `${messages} ignored; the last, ${left.where.slice(0, 100)}: ${left.why}`;
    this.#report();
  }

  /** Counts ignored items. Logs the first of each kind, and the count at 10, 100, 1,000 and so on. */
  count({ what, why, where }: Ignored, times = 1): void {
    const kind = `${what}: ${why}`;
    const before = this.#counts.get(kind) ?? 0;
    if (before === 0 && this.#counts.size >= MOST_KINDS) return;
    const count = before + times;
    this.#counts.set(kind, count);
    if (Math.floor(Math.log10(before)) === Math.floor(Math.log10(count))) return;
    const fields = { reason: why.slice(0, 300), where: where.slice(0, 200), count };
    this.#ctx.log.warn(`${what} was ignored`, fields);
  }

  close(): void {
    clearTimeout(this.#quiet);
  }

  #calm(): void {
    this.#ignoredCount = 0;
    this.#garbage = undefined;
    this.#report();
  }

  #report(): void {
    const first = this.#reasons.find((each) => this.#sentences.has(each));
    const now = first === undefined ? this.#garbage : this.#sentences.get(first);
    if (!this.#isReporting || now === this.#reported) return;
    this.#reported = now;
    if (now === undefined) this.#ctx.status.ok();
    else this.#ctx.status.degraded(now);
  }
}

/** Lets the process end while the timer waits. */
function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
