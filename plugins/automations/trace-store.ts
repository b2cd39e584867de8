import { type Log, SerialQueue, Throttle } from "@mantel/plugin-sdk";
import type { Documents } from "./document-store.ts";
import type { Trace } from "./engine/automation.ts";
import { isRecord } from "./engine/values.ts";

const STORE_EVERY_MS = 60_000;
const KEY = "traces";
/** Characters of stored traces; of more, only the last of each automation are stored. */
const MOST_TRACES = 2_000_000;

type TracesById = Readonly<Record<string, readonly Trace[]>>;

/** Stores the last traces of each automation, for the list of automations and for a home without a recorder. */
export class TraceStore {
  readonly #storage: Documents;
  readonly #log: Log;
  readonly #queue = new SerialQueue();
  readonly #throttle: Throttle;
  readonly #traces: () => TracesById;

  constructor(storage: Documents, log: Log, traces: () => TracesById) {
    this.#storage = storage;
    this.#log = log;
    this.#traces = traces;
    this.#throttle = new Throttle(STORE_EVERY_MS, () => void this.#store());
  }

  static async load(storage: Documents): Promise<TracesById> {
    const stored = await storage.get(KEY);
    return isRecord(stored) ? (stored as TracesById) : {};
  }

  /** Stores within a minute. */
  changed(): void {
    this.#throttle.request();
  }

  /** Stores now, and no more afterwards. Never rejects. */
  async close(): Promise<void> {
    this.#throttle.stop();
    await this.#store();
  }

  /** Never rejects. */
  #store(): Promise<void> {
    return this.#queue.take(async () => {
      try {
        await this.#storage.set(KEY, bounded(this.#traces()));
      } catch (error) {
        this.#log.error("could not store the traces of automations", { error });
      }
    });
  }
}

function bounded(traces: TracesById): TracesById {
  if (JSON.stringify(traces).length <= MOST_TRACES) return traces;
  return Object.fromEntries(Object.entries(traces).map(([id, kept]) => [id, kept.slice(0, 2)]));
}
