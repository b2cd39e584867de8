import { type Log, SerialQueue, type Storage, Throttle, Type } from "@mantel/plugin-sdk";
import { Check } from "typebox/schema";
import type { Engine, Snapshot } from "./engine/engine.ts";

/** A crash loses at most the waits that began in this time. */
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
    off: Type.Optional(Type.Record(Type.String(), Type.Number())),
  }),
);

/** Stores what the engine must not lose: waits soon after they begin, traces once a minute. */
export class EngineStore {
  readonly #storage: Storage;
  readonly #log: Log;
  readonly #turns = new SerialQueue();
  readonly #state: Throttle;
  readonly #traces: Throttle;
  /** Absent before an engine has everything from before, and after it was handed over. */
  #engine: Engine | undefined;

  constructor(storage: Storage, log: Log) {
    this.#storage = storage;
    this.#log = log;
    this.#state = new Throttle(STORE_EVERY_MS, () =>
      this.#store("state", () => withoutTraces(this.#engine?.snapshot(false))),
    );
    this.#traces = new Throttle(TRACES_EVERY_MS, () =>
      this.#store("traces", () => this.#engine && bounded(this.#engine.snapshot(false).traces)),
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

  /** Stores the state of an engine from now on. It must have what `load` returned, or that would be lost. */
  attach(engine: Engine): void {
    this.#engine = engine;
  }

  /** Stores soon. */
  changed(): void {
    if (!this.#engine) return;
    this.#state.request();
    this.#traces.request();
  }

  traced(): void {
    if (this.#engine) this.#traces.request();
  }

  /** Stops the engine, stores everything, and returns it without traces; `undefined` if that was done before. */
  async handOver(): Promise<HandedOver | undefined> {
    const engine = this.#engine;
    if (!engine) return undefined;
    const { traces, ...state } = engine.snapshot(true);
    this.#engine = undefined;
    engine.stop(); // from now on the next generation acts
    this.#state.stop();
    this.#traces.stop();
    this.#store("state", () => state);
    this.#store("traces", () => bounded(traces));
    await this.#turns.take(() => Promise.resolve());
    return state;
  }

  /** Stores a value; does nothing for `undefined`. Never rejects. */
  #store(key: string, value: () => unknown): void {
    void this.#turns.take(async () => {
      try {
        const stored = value();
        if (stored !== undefined) await this.#storage.set(key, stored);
      } catch (error) {
        this.#log.error("could not store the state of automations", { key, error });
      }
    });
  }
}

function withoutTraces(snapshot: Snapshot | undefined): HandedOver | undefined {
  if (!snapshot) return undefined;
  const { traces: _traces, ...rest } = snapshot;
  return rest;
}

function bounded(traces: Snapshot["traces"]): Snapshot["traces"] {
  if (JSON.stringify(traces).length <= MOST_TRACES) return traces;
  return Object.fromEntries(Object.entries(traces).map(([id, kept]) => [id, kept.slice(0, 2)]));
}
