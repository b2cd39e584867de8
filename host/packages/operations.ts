import { MantelError } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { Operation } from "../api/plugin.ts";

/** Operations that may wait; more come from a faulty client. */
const MAX_WAITING = 20;
/** Finished operations that are still listed. */
const KEPT = 10;

/** The description of a new operation. */
export type NewOperation = Pick<Operation, "action" | "source" | "plugin">;

/** The tools of a running operation. */
export interface OperationContext {
  /** Shows the current step, as a user-facing sentence. */
  readonly step: (sentence: string) => void;
  /** Names the plugin, once it is known. */
  readonly names: (id: string) => void;
  readonly signal: AbortSignal;
}

/** Runs installations, updates and removals one after the other, and shows their progress. */
export class Operations {
  readonly #changed: (operation: Operation) => void;
  readonly #queue = new SerialQueue();
  readonly #abort = new AbortController();
  #list: readonly Operation[] = [];
  #lastId = 0;

  constructor(changed: (operation: Operation) => void) {
    this.#changed = changed;
  }

  /** Running and waiting operations, and the last finished ones; the newest first. */
  get list(): readonly Operation[] {
    return this.#list;
  }

  /**
   * Runs the work when all operations before it have ended.
   * @throws MantelError `module_busy` if too many wait; what the work throws
   */
  run<T>(
    operation: NewOperation,
    work: (context: OperationContext) => Promise<T>,
  ): { operation: Operation; done: Promise<T> } {
    const waiting = this.#list.filter(({ endedAt }) => endedAt === null);
    if (waiting.length >= MAX_WAITING) {
      throw new MantelError(
        "module_busy",
        `${waiting.length} installations are waiting; try again later`,
      );
    }
    const id = ++this.#lastId;
    const startedAt = new Date().toISOString();
    this.#set({ ...operation, id, startedAt, step: "waiting", endedAt: null, error: null });
    const done = this.#queue.take(() => this.#work(id, work));
    return { operation: this.#find(id), done };
  }

  /** Ends what runs, and resolves when nothing does any more. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#queue.ended();
  }

  async #work<T>(id: number, work: (context: OperationContext) => Promise<T>): Promise<T> {
    const { signal } = this.#abort;
    if (signal.aborted) throw new MantelError("install_failed", "the host stops");
    try {
      const result = await work({
        signal,
        step: (step) => this.#change(id, { step }),
        names: (plugin) => this.#change(id, { plugin }),
      });
      this.#change(id, { step: "done", endedAt: new Date().toISOString() });
      return result;
    } catch (error) {
      const message =
        error instanceof MantelError ? error.message : "it failed; see the host's log";
      this.#change(id, { step: "failed", endedAt: new Date().toISOString(), error: message });
      throw error;
    }
  }

  #find(id: number): Operation {
    const found = this.#list.find((each) => each.id === id);
    if (!found) throw new Error(`no operation ${id}`);
    return found;
  }

  #change(id: number, change: Partial<Operation>): void {
    this.#set({ ...this.#find(id), ...change });
  }

  #set(operation: Operation): void {
    const others = this.#list.filter(({ id }) => id !== operation.id);
    const all = [operation, ...others].toSorted((a, b) => b.id - a.id);
    const ended = all.filter(({ endedAt }) => endedAt !== null).slice(0, KEPT);
    this.#list = all.filter((each) => each.endedAt === null || ended.includes(each));
    this.#changed(operation);
  }
}
