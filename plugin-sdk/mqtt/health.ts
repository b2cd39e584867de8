import type { PluginContext } from "../context.ts";

/** What was left out is shown to people until there was none of it for so long. */
const QUIET_MS = 60_000;
const MOST_KINDS = 200;

/** Something that came and was left out. Each part is a phrase that equal faults have in common. */
export interface LeftOut {
  /** Such as "a message". */
  readonly what: string;
  /** Such as "it is no JSON object". */
  readonly why: string;
  /** What it concerns this time, such as a topic. */
  readonly where: string;
}

type Context = Pick<PluginContext<unknown, unknown>, "reportDegraded" | "log">;

/** Why a bridge does not work as it should, for people: one sentence, about the most important of all reasons. */
export class Health<Reason extends string> {
  readonly #ctx: Context;
  readonly #reasons: readonly Reason[];
  readonly #sentences = new Map<Reason, string>();
  readonly #counts = new Map<string, number>();
  /** How much was left out since it was last quiet, and the sentence about it. */
  #leftOut = 0;
  #garbage: string | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #reported: string | undefined;
  #speaks = false;

  /** `reasons` are what else may be wrong, the more important first. */
  constructor(ctx: Context, reasons: readonly Reason[]) {
    this.#ctx = ctx;
    this.#reasons = reasons;
  }

  /** From now on people hear of it: before its start a generation has nothing to say. */
  speak(): void {
    this.#speaks = true;
    this.#tell();
  }

  /** Sets one reason, or with `undefined` takes it away. */
  set(reason: Reason, sentence: string | undefined): void {
    if (sentence === undefined) this.#sentences.delete(reason);
    else this.#sentences.set(reason, sentence);
    this.#tell();
  }

  /** Counts what was left out, and shows people that there is some: the first, and how many at each tenfold. */
  leaveOut(left: LeftOut): void {
    this.count(left);
    this.#leftOut += 1;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#calm(), QUIET_MS).unref();
    if (!Number.isInteger(Math.log10(this.#leftOut))) return;
    const messages = this.#leftOut === 1 ? "1 message was" : `${this.#leftOut} messages were`;
    this.#garbage = `${messages} left out; the last, ${left.where.slice(0, 100)}: ${left.why}`;
    this.#tell();
  }

  /** Counts what was left out; each tenfold of a kind is logged. */
  count({ what, why, where }: LeftOut, times = 1): void {
    const kind = `${what}: ${why}`;
    const before = this.#counts.get(kind) ?? 0;
    if (before === 0 && this.#counts.size >= MOST_KINDS) return;
    const count = before + times;
    this.#counts.set(kind, count);
    if (Math.floor(Math.log10(before)) === Math.floor(Math.log10(count))) return;
    const fields = { reason: why.slice(0, 300), where: where.slice(0, 200), count };
    this.#ctx.log.warn(`${what} was left out`, fields);
  }

  close(): void {
    clearTimeout(this.#quiet);
  }

  #calm(): void {
    this.#leftOut = 0;
    this.#garbage = undefined;
    this.#tell();
  }

  #tell(): void {
    const first = this.#reasons.find((each) => this.#sentences.has(each));
    const now = first === undefined ? this.#garbage : this.#sentences.get(first);
    if (!this.#speaks || now === this.#reported) return;
    this.#reported = now;
    this.#ctx.reportDegraded(now);
  }
}
