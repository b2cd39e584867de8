import { signal, type ReadonlySignal } from "@preact/signals-core";

/** A timer. While it runs it has an end, and while it is paused a rest. */
export interface Timer {
  readonly id: string;
  /** May be empty. */
  readonly name: string;
  readonly durationMs: number;
  /** Epoch milliseconds. */
  readonly endsAt?: number;
  readonly restMs?: number;
}

/** The part of the browser's `Storage` that the timers use. */
export interface TimerStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export const STORAGE_KEY = "mantel.timers";
/** An old list of a screen that was off for long is not shown. */
const FORGET_MS = 12 * 3_600_000;
const MOST = 20;
const LONGEST_MS = 24 * 3_600_000;

/** The timers of this screen. They are stored in the browser, so that they survive a reload of the page. */
export class TimerStore {
  readonly #timers = signal<readonly Timer[]>([]);
  readonly #storage: TimerStorage | undefined;
  readonly #now: () => number;

  constructor(storage: TimerStorage | undefined, now: () => number = Date.now) {
    this.#storage = storage;
    this.#now = now;
    this.read();
  }

  get timers(): ReadonlySignal<readonly Timer[]> {
    return this.#timers;
  }

  /** Reads the timers again, after another tile has changed them. */
  read(): void {
    const stored = readItem(this.#storage);
    if (stored !== undefined) this.#timers.value = parseTimers(stored, this.#now());
  }

  start(name: string, durationMs: number): void {
    const timers = this.#timers.peek();
    if (timers.length >= MOST || !(durationMs > 0)) return;
    const length = Math.min(durationMs, LONGEST_MS);
    const id = `${this.#now().toString(36)}-${timers.length}`;
    this.#set([...timers, { id, name, durationMs: length, endsAt: this.#now() + length }]);
  }

  /** Pauses a timer that runs, and continues one that is paused. */
  turn(id: string): void {
    this.#change(id, ({ endsAt, restMs, ...timer }) =>
      endsAt === undefined
        ? { ...timer, endsAt: this.#now() + (restMs ?? 0) }
        : { ...timer, restMs: Math.max(0, endsAt - this.#now()) },
    );
  }

  /** Adds time; a timer that is over begins again with it. */
  extend(id: string, ms: number): void {
    this.#change(id, ({ endsAt, restMs, ...timer }) => {
      const durationMs = Math.min(timer.durationMs + ms, LONGEST_MS);
      return endsAt === undefined
        ? { ...timer, durationMs, restMs: (restMs ?? 0) + ms }
        : { ...timer, durationMs, endsAt: Math.max(endsAt, this.#now()) + ms };
    });
  }

  remove(id: string): void {
    this.#set(this.#timers.peek().filter((timer) => timer.id !== id));
  }

  #change(id: string, change: (timer: Timer) => Timer): void {
    this.#set(this.#timers.peek().map((timer) => (timer.id === id ? change(timer) : timer)));
  }

  #set(timers: readonly Timer[]): void {
    this.#timers.value = timers;
    try {
      this.#storage?.setItem(STORAGE_KEY, JSON.stringify(timers));
    } catch {
      // the storage is full or forbidden: the timers last until the page is loaded again
    }
  }
}

/** The remaining milliseconds of a timer; 0 if it is over. */
export function restOf({ endsAt, restMs = 0 }: Timer, now: number): number {
  return endsAt === undefined ? restMs : Math.max(0, endsAt - now);
}

/** The remaining time such as "4:05" or "1:02:03", rounded up to whole seconds. */
export function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  const two = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const short = `${hours > 0 ? two(minutes) : minutes}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${short}` : short;
}

function readItem(storage: TimerStorage | undefined): string | undefined {
  try {
    return storage?.getItem(STORAGE_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

function parseTimers(text: string, now: number): readonly Timer[] {
  try {
    const stored: unknown = JSON.parse(text);
    if (!Array.isArray(stored)) return [];
    return stored.filter(isTimer).filter(({ endsAt = now }) => now - endsAt < FORGET_MS);
  } catch {
    return [];
  }
}

function isTimer(value: unknown): value is Timer {
  const { id, name, durationMs, endsAt, restMs } = (value ?? {}) as Record<string, unknown>;
  const isTime = (time: unknown) => typeof time === "number" && Number.isFinite(time);
  return (
    typeof id === "string" &&
    typeof name === "string" &&
    isTime(durationMs) &&
    isTime(endsAt ?? restMs)
  );
}
