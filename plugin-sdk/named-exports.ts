/** Names that loaders ask every module for. */
const ASKED_BY_LOADERS = new Set(["__esModule", "default", "then"]);
/** Names with more different characters are not suggested. */
const MOST_DIFFERENT = 2;

/** The exports of a library, which throw at the use of a name that is not among them, and suggest one that is. */
export function namedExports(library: string, exports: object): object {
  const missing = new Proxy(Object.create(null) as object, {
    get(_, name) {
      if (typeof name === "symbol" || ASKED_BY_LOADERS.has(name)) return undefined;
      const near = nearestOf(name, Object.keys(exports));
      const advice = near === undefined ? "check the name" : `did you mean ${near}?`;
      throw new TypeError(`"${library}" does not export ${name}; ${advice}`);
    },
  });
  return Object.create(missing, Object.getOwnPropertyDescriptors(exports)) as object;
}

function nearestOf(name: string, names: readonly string[]): string | undefined {
  const [near] = names
    .map((each) => ({ each, steps: stepsBetween(name, each) }))
    .toSorted((a, b) => a.steps - b.steps);
  return near && near.steps <= MOST_DIFFERENT ? near.each : undefined;
}

/** The number of characters to insert, remove and replace in one text to get the other. */
function stepsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, character] of one.split("").entries()) {
    const next = [at + 1];
    for (const [to, wanted] of other.split("").entries()) {
      const replaced = (row[to] ?? 0) + (character === wanted ? 0 : 1);
      next.push(Math.min((next[to] ?? 0) + 1, (row[to + 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
