import type { Cause } from "./cause.ts";
import type { Device } from "./device.ts";

/** A change of a device that was not read yet. */
export interface WaitingChange {
  readonly id: string;
  /** Absent for a removed device. */
  readonly device: Device | undefined;
  /** The device as the reader knows it; absent for a new one. */
  readonly old: Device | undefined;
  readonly cause: Cause | undefined;
  readonly isInitial: boolean;
}

/** Changes that wait for a reader, oldest first. */
export interface WaitingChanges {
  readonly size: number;
  add(change: WaitingChange): void;
  /** Takes the first ones out. */
  take(most: number): WaitingChange[];
  /** Puts changes that were taken last back before the others. */
  putBack(changes: readonly WaitingChange[]): void;
}

/** The newest state of each device, with the oldest one that was not read. */
export class NewestChanges implements WaitingChanges {
  readonly #byId = new Map<string, WaitingChange>();

  get size(): number {
    return this.#byId.size;
  }

  add(change: WaitingChange): void {
    const earlier = this.#byId.get(change.id);
    if (earlier && !earlier.old && !change.device) this.#byId.delete(change.id);
    else this.#byId.set(change.id, earlier ? merged(earlier, change) : change);
  }

  take(most: number): WaitingChange[] {
    const taken = [...this.#byId.values()].slice(0, most);
    for (const { id } of taken) this.#byId.delete(id);
    return taken;
  }

  putBack(changes: readonly WaitingChange[]): void {
    for (const change of changes) {
      const later = this.#byId.get(change.id);
      this.#byId.set(change.id, later ? merged(change, later) : change);
    }
  }
}

/** Each change by itself. When too many wait, a change is merged into the last one of its device, and counted. */
export class EachChange implements WaitingChanges {
  /** The most changes that wait without being merged. */
  static readonly MOST = 4_096;
  #waiting: WaitingChange[] = [];
  readonly #merged: (count: number) => void;
  #mergedCount = 0;

  /** @param mergedOne called with the number of all merged changes after each of them */
  constructor(mergedOne: (count: number) => void) {
    this.#merged = mergedOne;
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(change: WaitingChange): void {
    const place =
      this.#waiting.length < EachChange.MOST
        ? -1
        : this.#waiting.findLastIndex(({ id }) => id === change.id);
    const earlier = this.#waiting[place];
    if (!earlier) return void this.#waiting.push(change);
    this.#waiting[place] = merged(earlier, change);
    this.#merged(++this.#mergedCount);
  }

  take(most: number): WaitingChange[] {
    return this.#waiting.splice(0, most);
  }

  putBack(changes: readonly WaitingChange[]): void {
    this.#waiting.unshift(...changes);
  }
}

function merged(earlier: WaitingChange, later: WaitingChange): WaitingChange {
  return { ...later, old: earlier.old, isInitial: earlier.isInitial };
}
