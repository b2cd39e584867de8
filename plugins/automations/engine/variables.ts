import type { VariableRequest } from "./automation.ts";
import { KEYS, type StateStore } from "./state-store.ts";
import type { StoredState } from "./stored-state.ts";
import { isSame } from "./values.ts";

/** Variables of one automation, or of all in one file. */
const MOST_VARIABLES = 100;
/** Characters of a value as JSON. */
const LONGEST_VALUE = 10_000;

/** Values that automations keep from one run to the next. Each belongs to a document, or to a file of code. */
export class Variables {
  readonly #store: StateStore;
  readonly #values = new Map<string, Map<string, unknown>>();

  constructor(store: StateStore) {
    this.#store = store;
  }

  restore(variables: StoredState["variables"]): void {
    for (const { owner, name, value } of variables) this.#of(owner).set(name, value);
  }

  /** The value; `undefined` if it was never set. */
  get(owner: string, name: string): unknown {
    return this.#values.get(owner)?.get(name);
  }

  /** Sets a value of plain data. @throws Error for one that is too large, and for too many variables */
  set(owner: string, name: string, value: unknown): void {
    const text = JSON.stringify(value ?? null);
    if (text.length > LONGEST_VALUE) {
      throw new Error(`the variable ${name} has more than ${LONGEST_VALUE} characters as JSON`);
    }
    const own = this.#of(owner);
    if (!own.has(name) && own.size >= MOST_VARIABLES) {
      throw new Error(`there are ${MOST_VARIABLES} variables, which is the limit`);
    }
    own.set(name, value ?? null);
    this.#store.set(KEYS.variable(owner, name), value ?? null);
  }

  /** Sets those that were never set. */
  declare(owner: string, initial: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(initial)) {
      if (this.get(owner, name) === undefined) this.set(owner, name, value);
    }
  }

  /** The variables of an automation or file by their names. */
  of(owner: string): Readonly<Record<string, unknown>> {
    return Object.fromEntries(this.#values.get(owner) ?? []);
  }

  owners(): string[] {
    return [...this.#values.keys()];
  }

  forget(owner: string): void {
    for (const name of this.#values.get(owner)?.keys() ?? []) {
      this.#store.delete(KEYS.variable(owner, name));
    }
    this.#values.delete(owner);
  }

  #of(owner: string): Map<string, unknown> {
    let own = this.#values.get(owner);
    if (!own) this.#values.set(owner, (own = new Map()));
    return own;
  }
}

/**
 * Reads or changes a variable as a step requests. Returns its value, or with `expected` true if it was set.
 * @throws Error for adding to what is not a number, and as `Variables.set`
 */
export function changeVariable(
  variables: Variables,
  owner: string,
  { name, set, add, expected }: VariableRequest,
): unknown {
  const value = variables.get(owner, name);
  if (expected !== undefined && !isSame(value ?? null, expected)) return false;
  if (add !== undefined) {
    if (value !== undefined && typeof value !== "number") {
      throw new Error(`the variable ${name} is ${JSON.stringify(value)}, and not a number`);
    }
    variables.set(owner, name, (value ?? 0) + add);
  } else if (set !== undefined) variables.set(owner, name, set);
  return expected === undefined ? variables.get(owner, name) : true;
}
