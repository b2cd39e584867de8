import { setTimeout as delay } from "node:timers/promises";
import { type Log, MantelError } from "@mantel/plugin-sdk";
import { awayError } from "./bridge-error.ts";
import { eventsIn, type StreamEvent } from "./client-events.ts";
import { Client } from "./client.ts";
import type { FindBridges } from "./discovery.ts";
import type { BridgeOptions, BridgeState } from "./options.ts";
import { type Change, Resources } from "./resources.ts";

/** Times in milliseconds. Tests use shorter ones. */
export const TIMES = {
  /** Deadline for reading all resources. */
  loaded: 10_000,
  /** A stream that is silent for this long is reopened. */
  silent: 90_000,
  /** After a longer gap the bridge may have dropped some events. */
  forgotten: 60_000,
  firstRetry: 500,
  lastRetry: 4_000,
  /** Deadline for a light to report the new state. */
  confirmed: 3_500,
};
export type Times = typeof TIMES;

/** A stream that ends sooner counts as a failed attempt. */
const STABLE_MS = 5_000;
/** Failed attempts between searches for the bridge at another address. */
const ATTEMPTS_TO_SEARCH = 4;
const SEARCH_MS = 2_000;
const UNTRIED = "it has not answered yet";

export interface FeedDependencies {
  readonly id: string;
  readonly options: BridgeOptions;
  readonly kept: BridgeState | undefined;
  readonly log: Log;
  readonly times: Times;
  readonly find: FindBridges;
  /**
   * Called with the changes of an event; with none after a full read, or when the bridge was lost
   * or found.
   */
  readonly onChange: (changes: readonly Change[]) => void;
}

/**
 * Keeps the resources of one bridge current: reads all of them once, then follows the event stream.
 */
export class Feed {
  readonly resources = new Resources();
  readonly #parts: FeedDependencies;
  #client: Client;
  #moved: BridgeState["moved"];
  #lastEventId: string | undefined;
  #heardAt: number | undefined;
  #problem: string | undefined = UNTRIED;
  /** A request has failed although the stream is open. */
  #isDoubted = false;
  /** Closes the open stream to start another one. */
  #again = new AbortController();

  constructor(parts: FeedDependencies) {
    this.#parts = parts;
    const { kept, options } = parts;
    this.resources.replace(kept?.resources ?? []);
    this.#lastEventId = kept?.lastEventId;
    this.#heardAt = kept?.heardAt;
    if (kept?.moved?.from === options.address) this.#moved = kept.moved;
    if (kept?.isThere) this.#problem = undefined;
    this.#client = this.#connect();
  }

  get hasBeenTried(): boolean {
    return this.#problem !== UNTRIED;
  }

  /** User-facing reason why the bridge is unreachable. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get client(): Client {
    return this.#client;
  }

  /** Follows the bridge until aborted, and reconnects whenever it was lost. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      const lastedMs = await this.#follow(signal, failures);
      if (lastedMs > STABLE_MS) failures = 0;
      else if (failures % ATTEMPTS_TO_SEARCH === 3) await this.#search(signal);
      await delay(this.#retryMs(failures), undefined, { signal }).catch(() => undefined);
    }
    this.#client.close();
  }

  /** Checks the connection after a failed request, because the stream may be dead too. */
  suspect(): void {
    this.#isDoubted = true;
    this.#again.abort();
  }

  /** State from which the next generation continues without missing an event. */
  kept(): BridgeState {
    return {
      resources: this.resources.kept(),
      isThere: this.#problem === undefined,
      ...(this.#moved ? { moved: this.#moved } : {}),
      ...(this.#lastEventId === undefined ? {} : { lastEventId: this.#lastEventId }),
      ...(this.#heardAt === undefined ? {} : { heardAt: this.#heardAt }),
    };
  }

  /** Follows one stream until it ends. Returns how long it was open, in milliseconds. */
  async #follow(signal: AbortSignal, failures: number): Promise<number> {
    const again = (this.#again = new AbortController());
    const silence = setTimeout(() => again.abort(), this.#parts.times.silent);
    let openedAt: number | undefined;
    try {
      const until = AbortSignal.any([signal, again.signal]);
      const stream = await this.#client.openEvents(this.#lastEventId, until);
      if (!this.#isCurrent()) await this.#load();
      else if (this.#isDoubted) await this.#client.get("bridge");
      this.#isDoubted = false;
      openedAt = performance.now();
      this.#reportProblem(undefined);
      for await (const event of eventsIn(stream)) {
        silence.refresh();
        this.#take(event);
      }
      throw new MantelError("bridge_down", "it closes the event stream");
    } catch (error) {
      if (openedAt === undefined) this.#heardAt = undefined; // a bridge that restarts forgets its events
      // a stream that worked may end for any reason, and is reopened immediately
      else if (again.signal.aborted || failures === 0) return performance.now() - openedAt;
      if (!signal.aborted) this.#reportProblem(awayError(error, undefined).message);
    } finally {
      clearTimeout(silence);
      again.abort();
    }
    return openedAt === undefined ? 0 : performance.now() - openedAt;
  }

  /** Replaces all resources with those of the bridge. */
  async #load(): Promise<void> {
    const all = await this.#client.getAll(this.#parts.times.loaded);
    const found = new Resources();
    found.replace(all);
    if (found.size === 0) throw new MantelError("bridge_down", "it reports no resources");
    this.resources.replace(all);
    this.#heardAt = Date.now();
    this.#parts.onChange([]);
  }

  #take(event: StreamEvent): void {
    this.#heardAt = Date.now();
    if (event.id !== undefined) this.#lastEventId = event.id;
    if (!("data" in event)) return;
    const { dropped } = this.resources;
    const containers: unknown[] = Array.isArray(event.data) ? event.data : [undefined];
    const changes = containers.flatMap((each) => this.resources.apply(each));
    if (dropped === 0 && this.resources.dropped > 0) {
      this.#parts.log.warn("a bridge sends invalid data", { bridge: this.#parts.id });
    }
    if (changes.length > 0) this.#parts.onChange(changes);
  }

  /** False if events may have been missed. */
  #isCurrent(): boolean {
    const sinceMs = Date.now() - (this.#heardAt ?? -Infinity);
    const isRecent = sinceMs >= 0 && sinceMs <= this.#parts.times.forgotten;
    return this.resources.size > 0 && this.#lastEventId !== undefined && isRecent;
  }

  /** Logs that the bridge is unreachable or back, when that has changed. */
  #reportProblem(problem: string | undefined): void {
    if (problem === this.#problem) return;
    const { log, id, onChange } = this.#parts;
    this.#problem = problem;
    if (problem === undefined) log.info("a bridge is reachable", { bridge: id });
    else log.warn("a bridge cannot be reached", { bridge: id, reason: problem });
    onChange([]);
  }

  /**
   * Searches for the bridge at another address, assigned by a router. Its certificate proves its
   * identity.
   */
  async #search(signal: AbortSignal): Promise<void> {
    const { id, options, log, find } = this.#parts;
    const ended = new Promise<readonly []>((done) =>
      signal.addEventListener("abort", () => done([]), { once: true }),
    );
    if (signal.aborted) return;
    const found = await Promise.race([find(SEARCH_MS).catch(() => []), ended]);
    const address = found.find((each) => each.id === id)?.address;
    if (address === undefined || address === (this.#moved?.to ?? options.address)) return;
    log.info("a bridge has a new address", { bridge: id, address });
    this.#moved = { from: options.address, to: address };
    this.#client.close();
    this.#client = this.#connect();
  }

  #connect(): Client {
    const { id, options } = this.#parts;
    return new Client({ ...options, id, address: this.#moved?.to ?? options.address });
  }

  #retryMs(failures: number): number {
    const { firstRetry, lastRetry } = this.#parts.times;
    return Math.min(firstRetry * 2 ** failures, lastRetry) * (0.75 + Math.random() / 4);
  }
}
