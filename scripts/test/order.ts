import { createHash } from "node:crypto";

/** The seed of this run when `TEST_ORDER` asks for a random order: `random`, or the seed of the run to repeat. */
export const SEED = process.env["TEST_ORDER"];

/** A new seed for `random`. */
export function chooseSeed(order: string | undefined): string | undefined {
  return order === "random" ? String(Math.floor(Math.random() * 1e9)) : order;
}

/** The items in an order that depends on their keys and the seed alone. */
export function shuffle<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  seed: string,
): readonly T[] {
  const rank = (item: T) =>
    createHash("sha256")
      .update(`${seed} ${keyOf(item)}`)
      .digest("hex");
  return items
    .map((item) => ({ item, rank: rank(item) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ item }) => item);
}
