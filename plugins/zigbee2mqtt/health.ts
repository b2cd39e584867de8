import type { Log } from "@mantel/plugin-sdk";

/** What cannot be read is told to people until there was none of it for so long. */
const QUIET_MS = 60_000;

/** What may be wrong, the more important first. */
const REASONS = ["broker", "refused", "bridge", "list", "host", "settings", "unread"] as const;
type Reason = (typeof REASONS)[number];

/** Why the bridge does not work as it should, for people; the most important of all reasons. */
export class Health {
  readonly #report: (reason: string | undefined) => void;
  readonly #log: Log;
  readonly #reasons = new Map<Reason, string>();
  readonly #counts = new Map<string, number>();
  #unread = 0;
  #quiet: NodeJS.Timeout | undefined;
  #reported: string | undefined;
  #speaks = false;

  constructor(report: (reason: string | undefined) => void, log: Log) {
    this.#report = report;
    this.#log = log;
  }

  /** From now on people hear of it: before its start a generation has nothing to say. */
  speak(): void {
    this.#speaks = true;
    this.#tell();
  }

  /** Sets one reason, or with `undefined` takes it away. */
  set(name: Exclude<Reason, "unread">, reason: string | undefined): void {
    this.#put(name, reason);
  }

  /** A message that means nothing: each tenfold of a kind is logged, and people see that there are some. */
  unread(why: string, topic: string): void {
    this.#unread += 1;
    this.count(`a message that is ${why}`, topic);
    const messages = this.#unread === 1 ? "1 message was" : `${this.#unread} messages were`;
    this.#put("unread", `${messages} left out; the last, ${topic.slice(0, 100)}, is ${why}`);
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#unread = 0;
      this.#put("unread", undefined);
    }, QUIET_MS).unref();
  }

  /** Counts what was left out; each tenfold is logged. */
  count(what: string, where: string, times = 1): void {
    const before = this.#counts.get(what) ?? 0;
    this.#counts.set(what, before + times);
    if (Math.floor(Math.log10(before)) === Math.floor(Math.log10(before + times))) return;
    this.#log.warn("something of Zigbee2MQTT was left out", {
      what,
      where: where.slice(0, 200),
      count: before + times,
    });
  }

  close(): void {
    clearTimeout(this.#quiet);
  }

  #put(name: Reason, reason: string | undefined): void {
    if (reason === undefined) this.#reasons.delete(name);
    else this.#reasons.set(name, reason);
    this.#tell();
  }

  #tell(): void {
    const first = REASONS.find((each) => this.#reasons.has(each));
    const now = first && this.#reasons.get(first);
    // The count in it changes with each message; the host hears of the first of them, and of the end.
    if (first === "unread" && this.#reported !== undefined) return;
    if (!this.#speaks || now === this.#reported) return;
    this.#reported = now;
    this.#report(now);
  }
}
