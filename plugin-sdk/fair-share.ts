/** The result of a request for a place. `replaced` is the item that lost its place to the new one. */
export interface TakeResult<T> {
  readonly isGiven: boolean;
  readonly replaced?: T;
}

/**
 * A limited number of places, shared fairly between owners. When all places are taken, an owner with fewer
 * places gets the oldest place of the owner with the most. One greedy owner therefore cannot block the others.
 */
export class FairShare<T> {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #byOwner = new Map<string, Set<T>>();
  #taken = 0;

  constructor({ most, mostOfOne }: { most: number; mostOfOne: number }) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  get taken(): number {
    return this.#taken;
  }

  /** True if the owner has reached the limit for one owner. */
  isFull(owner: string): boolean {
    return this.#countOf(owner) >= this.#mostOfOne;
  }

  /** Takes a place for `item`. An item for which `mayGiveWay` returns false never loses its place. */
  take(owner: string, item: T, mayGiveWay: (item: T) => boolean = () => true): TakeResult<T> {
    if (this.isFull(owner)) return { isGiven: false };
    if (this.#taken < this.#most) {
      this.#add(owner, item);
      return { isGiven: true };
    }
    const found = this.#oldestOfFullest(this.#countOf(owner), mayGiveWay);
    if (!found) return { isGiven: false };
    this.release(found.owner, found.item);
    this.#add(owner, item);
    return { isGiven: true, replaced: found.item };
  }

  release(owner: string, item: T): void {
    const items = this.#byOwner.get(owner);
    if (!items?.delete(item)) return;
    this.#taken -= 1;
    if (items.size === 0) this.#byOwner.delete(owner);
  }

  #add(owner: string, item: T): void {
    const items = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, items.add(item));
    this.#taken += 1;
  }

  /** Moves a place only if the shares become more even; otherwise two owners would swap one place for ever. */
  #oldestOfFullest(own: number, mayGiveWay: (item: T) => boolean) {
    const least = own === 0 ? 1 : own + 2;
    const owners = [...this.#byOwner].filter(([, items]) => items.size >= least);
    for (const [owner, items] of owners.toSorted(([, a], [, b]) => b.size - a.size)) {
      for (const item of items) if (mayGiveWay(item)) return { owner, item };
    }
    return undefined;
  }

  #countOf(owner: string): number {
    return this.#byOwner.get(owner)?.size ?? 0;
  }
}
