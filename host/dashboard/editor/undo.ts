/** How many steps can be taken back. */
const KEPT = 100;

interface Step<T> {
  readonly value: T;
  /** What was done to arrive here, for people. */
  readonly label: string;
  readonly key: string | undefined;
}

/** A value with the steps that led to it. It is never changed in place: each step gives a new `Undo`. */
export class Undo<T> {
  readonly #past: readonly Step<T>[];
  readonly #present: Step<T>;
  readonly #future: readonly Step<T>[];

  private constructor(past: readonly Step<T>[], present: Step<T>, future: readonly Step<T>[]) {
    this.#past = past;
    this.#present = present;
    this.#future = future;
  }

  static of<T>(value: T): Undo<T> {
    return new Undo([], { value, label: "", key: undefined }, []);
  }

  get value(): T {
    return this.#present.value;
  }

  /** What `undone` would take back; `undefined` at the first step. */
  get undoLabel(): string | undefined {
    return this.#past.length > 0 ? this.#present.label : undefined;
  }

  /** What `redone` would do again; `undefined` at the last step. */
  get redoLabel(): string | undefined {
    return this.#future[0]?.label;
  }

  /** Steps in a row that share a key are one: a field that is typed into, a tile that is nudged. */
  done(value: T, label: string, key?: string): Undo<T> {
    const step = { value, label, key };
    const goesOn = key !== undefined && key === this.#present.key && this.#past.length > 0;
    const past = goesOn ? this.#past : [...this.#past, this.#present].slice(-KEPT);
    return new Undo(past, step, []);
  }

  undone(): Undo<T> {
    const before = this.#past.at(-1);
    if (!before) return this;
    return new Undo(this.#past.slice(0, -1), before, [this.#present, ...this.#future]);
  }

  redone(): Undo<T> {
    const [next, ...future] = this.#future;
    return next ? new Undo([...this.#past, this.#present], next, future) : this;
  }
}
