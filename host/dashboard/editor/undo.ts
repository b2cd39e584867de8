/** Maximum number of undo steps. */
const KEPT = 100;

interface Step<T> {
  readonly value: T;
  /** User-facing label of the step. */
  readonly label: string;
  readonly key: string | undefined;
}

/** A value with its undo history. Immutable: each step returns a new `Undo`. */
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

  /** The label of the step to undo; `undefined` at the first step. */
  get undoLabel(): string | undefined {
    return this.#past.length > 0 ? this.#present.label : undefined;
  }

  /** The label of the step to redo; `undefined` at the last step. */
  get redoLabel(): string | undefined {
    return this.#future[0]?.label;
  }

  /**
   * Consecutive steps with the same key are combined, such as typing in a field or nudging a tile.
   */
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
