import { type Log, SerialQueue, type Storage, Throttle, Type } from "@mantel/plugin-sdk";
import { Check } from "typebox/schema";
import type { Trace } from "./engine/automation.ts";
import type { Engine, Snapshot } from "./engine/engine.ts";

/** What a crash may cost at most: waits that began in this time. */
const STORE_EVERY_MS = 500;
const TRACES_EVERY_MS = 60_000;
/** Characters of stored traces; of more, only the last of each automation are stored. */
const MOST_TRACES = 2_000_000;

/** A snapshot without traces, as one generation hands it over to the next. */
export type HandedOver = Omit<Snapshot, "traces">;

/** The schema of `HandedOver`, as far as it matters for another version of this code. */
export const HandedOver = Type.Unsafe<HandedOver>(
  Type.Object({
    at: Type.Number(),
    runs: Type.Array(
      Type.Object({
        id: Type.String(),
        automation: Type.String(),
        journal: Type.Array(Type.Object({})),
      }),
    ),
    undos: Type.Array(Type.Object({ device: Type.String(), dueAt: Type.Number() })),
    watches: Type.Record(Type.String(), Type.Object({})),
    pausedUntil: Type.Union([Type.Number(), Type.Null()]),
  }),
);

/** Stores what the engine must not lose: waits soon after they begin, traces once a minute. */
export class EngineStore {
  readonly #storage: Storage;
  readonly #log: Log;
  readonly #turns = new SerialQueue();
  readonly #state: Throttle;
  readonly #traces: Throttle;
  #engine: Engine | undefined;

  constructor(storage: Storage, log: Log) {
    this.#storage = storage;
    this.#log = log;
    this.#state = new Throttle(STORE_EVERY_MS, () => this.#store("state", () => this.#snapshot()));
    this.#traces = new Throttle(TRACES_EVERY_MS, () =>
      this.#store("traces", () => this.#allTraces()),
    );
  }

  /** Reads what the last process stored. `handedOver` is newer. */
  async load(handedOver: HandedOver | undefined): Promise<Snapshot | undefined> {
    const stored = handedOver ?? (await this.#storage.get("state"));
    if (stored === undefined) return undefined;
    if (!Check(HandedOver, stored)) {
      this.#log.error("the stored state of automations cannot be read; their waits are lost");
      return undefined;
    }
    const traces = (await this.#storage.get("traces")) ?? {};
    return { ...stored, traces: traces as Snapshot["traces"] };
  }

  attach(engine: Engine): void {
    this.#engine = engine;
  }

  /** Stores soon. */
  changed(): void {
    this.#state.request();
    this.#traces.request();
  }

  traced(): void {
    this.#traces.request();
  }

  stop(): void {
    this.#state.stop();
    this.#traces.stop();
  }

  /** Stores everything now, and returns it without traces. */
  async handOver(): Promise<HandedOver> {
    this.stop();
    const state = this.#snapshot(true);
    this.#store("state", () => state);
    this.#store("traces", () => this.#allTraces());
    await this.#turns.take(() => Promise.resolve());
    return state;
  }

  #snapshot(isWhole = false): HandedOver {
    const snapshot = this.#engine?.snapshot(isWhole);
    if (!snapshot) throw new Error("no engine");
    const { traces: _traces, ...rest } = snapshot;
    return rest;
  }

  #allTraces(): Readonly<Record<string, readonly Trace[]>> {
    const traces = this.#engine?.snapshot(false).traces ?? {};
    if (JSON.stringify(traces).length <= MOST_TRACES) return traces;
    return Object.fromEntries(Object.entries(traces).map(([id, kept]) => [id, kept.slice(0, 2)]));
  }

  /** Never rejects. */
  #store(key: string, value: () => unknown): void {
    void this.#turns.take(async () => {
      try {
        await this.#storage.set(key, value());
      } catch (error) {
        this.#log.error("could not store the state of automations", { key, error });
      }
    });
  }
}
