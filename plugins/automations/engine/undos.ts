import type { ActsFor, Clock } from "./automation.ts";
import { KEYS, type StateStore } from "./state-store.ts";
import { startTimer, type Timer } from "./timer.ts";
import type { Before } from "./undo.ts";

/** A command for a time, as it is stored. */
export interface StoredUndo {
  readonly automation: string;
  readonly run: string;
  /** The place of the action. */
  readonly at: string;
  readonly device: string;
  readonly before: Before;
  readonly by: ActsFor;
  /** Epoch milliseconds. */
  readonly dueAt: number;
}

export type UndoRequest = Omit<StoredUndo, "dueAt">;

interface Pending {
  readonly request: UndoRequest;
  readonly timer: Timer;
}

interface Dependencies {
  readonly clock: Clock;
  readonly store: StateStore;
  /** Brings values back. Never rejects. */
  readonly undo: (request: UndoRequest) => Promise<void>;
}

/**
 * Commands for a time. Several of one device overlap: each field gets the value from before the first of them, when the
 * last of them ends.
 */
export class Undos {
  readonly #parts: Dependencies;
  readonly #pending = new Set<Pending>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** The values to bring back later, for a command that now replaces `before`. */
  original(device: string, before: Before): Before {
    const original = { ...before };
    for (const { request } of this.#byEnd().toReversed()) {
      if (request.device !== device) continue;
      for (const [field, value] of Object.entries(request.before)) {
        if (Object.hasOwn(original, field)) original[field] = value;
      }
    }
    return original;
  }

  /** Undoes after a time. It replaces what the same automation has pending for the device. */
  add(request: UndoRequest, ms: number): void {
    for (const pending of this.#pending) {
      const { automation, device } = pending.request;
      if (automation === request.automation && device === request.device) this.#end(pending);
    }
    this.#start(request, ms);
  }

  /** Forgets fields of a device, because they were set for good. */
  release(device: string, fields: readonly string[]): void {
    for (const pending of this.#pending) {
      const { request } = pending;
      if (request.device !== device || !fields.some((each) => each in request.before)) continue;
      const before = Object.entries(request.before).filter(([field]) => !fields.includes(field));
      const leftMs = pending.timer.leftMs();
      this.#end(pending);
      if (before.length === 0) continue;
      this.#start({ ...request, before: Object.fromEntries(before) }, leftMs);
    }
  }

  /** Stores the ends again, because the date was set, so that the stored ones are wrong. */
  storeAll(): void {
    for (const pending of this.#pending) this.#store(pending);
  }

  restore(stored: readonly StoredUndo[]): void {
    const now = this.#parts.clock.now();
    for (const { dueAt, ...request } of stored) this.#start(request, dueAt - now);
  }

  /** Stops the timers. What is stored stays. */
  stop(): void {
    for (const { timer } of this.#pending) timer.stop();
    this.#pending.clear();
  }

  #start(request: UndoRequest, ms: number): void {
    const timer = startTimer(this.#parts.clock, ms, () => void this.#due(pending));
    const pending: Pending = { request, timer };
    this.#pending.add(pending);
    this.#store(pending);
  }

  #store({ request, timer }: Pending): void {
    const { store, clock } = this.#parts;
    const stored: StoredUndo = { ...request, dueAt: clock.now() + timer.leftMs() };
    store.set(KEYS.undo(request.automation, request.device), stored);
  }

  #end(pending: Pending): void {
    const { automation, device } = pending.request;
    this.#pending.delete(pending);
    pending.timer.stop();
    this.#parts.store.delete(KEYS.undo(automation, device));
  }

  /** Leaves fields to commands that end later. It is stored until it is done, so that a crash meanwhile repeats it. */
  async #due(pending: Pending): Promise<void> {
    this.#pending.delete(pending);
    const { automation, device } = pending.request;
    const others = [...this.#pending].filter(({ request }) => request.device === device);
    const before = Object.entries(pending.request.before).filter(
      ([field]) => !others.some(({ request }) => Object.hasOwn(request.before, field)),
    );
    await this.#parts.undo({ ...pending.request, before: Object.fromEntries(before) });
    const isReplaced = [...this.#pending].some(
      ({ request }) => request.automation === automation && request.device === device,
    );
    if (!isReplaced) this.#parts.store.delete(KEYS.undo(automation, device));
  }

  /** Pending undos, those that end first before the others. */
  #byEnd(): Pending[] {
    return [...this.#pending].toSorted((a, b) => a.timer.leftMs() - b.timer.leftMs());
  }
}
