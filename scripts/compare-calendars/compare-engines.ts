import { compare, type Comparison, type Difference, isSame } from "./differences.ts";
import { expandHere, expandWithPython, expandWithSabre, inWindow } from "./engines.ts";
import { type RandomEvent, randomEvents } from "./random-event.ts";

/** Examples printed of each difference that nothing decides. */
const MAX_EXAMPLES = 3;
/** Events that are held at a time. */
const PART = 500;

/** Differences between Mantel and other engines, in random events. */
interface Result {
  readonly report: string;
  /** Differences that RFC 5545 does not decide for Mantel. */
  readonly undecided: number;
}

/** The findings in some events. */
interface Part {
  readonly counts: Readonly<Record<string, number>>;
  readonly comparisons: readonly Comparison[];
}

/** Expands random events with all engines and compares them. The same seed gives the same events. */
export async function compareEngines(count: number, seed: number): Promise<Result> {
  const parts: Part[] = [];
  for (let done = 0; done < count; done += PART) {
    const events = randomEvents(Math.min(PART, count - done), seed + done);
    parts.push(await comparePart(events));
  }
  const counts = added(parts.map((part) => part.counts));
  const engines = parts[0]?.comparisons.map(({ engine }) => engine) ?? [];
  const comparisons = engines.map((engine) =>
    joined(parts.flatMap((part) => part.comparisons.filter((each) => each.engine === engine))),
  );
  const unknown = comparisons.flatMap(({ differences }) =>
    differences.filter(({ known }) => known === undefined),
  );
  const undecided = unknown.reduce((sum, { events }) => sum + events.length, 0);
  const report = [
    `seed ${seed}`,
    ...Object.entries(counts).map(([what, number]) => `${number} ${what}`),
    ...comparisons.map(describe),
    ...unknown.flatMap(examplesOf),
    `${undecided} differences that RFC 5545 does not decide for Mantel`,
  ].join("\n");
  return { report, undecided };
}

async function comparePart(events: readonly RandomEvent[]): Promise<Part> {
  const ours = await expandHere(events);
  const [dateutil, libical, sabre, search] = await Promise.all([
    expandWithPython("dateutil", events),
    expandWithPython("libical", events),
    expandWithSabre(events),
    expandWithPython("search", events),
  ]);
  const others = { dateutil, libical, sabre, search };
  const comparisons = Object.entries(others).map(([engine, theirs]) =>
    compare(engine, events, { ours, theirs, referee: search }),
  );
  const agreeing = events.map(
    (event, at) =>
      Object.values(others).filter((theirs) => isSame(ours[at], theirs[at], event)).length,
  );
  const numberOf = (test: (event: RandomEvent, at: number) => boolean) =>
    events.filter(test).length;
  const counts = {
    events: events.length,
    "with changed occurrences": numberOf(({ overrides }) => overrides > 0),
    "with RANGE=THISANDFUTURE": numberOf(({ following }) => following > 0),
    "with cancelled occurrences": numberOf(({ cancelled }) => cancelled > 0),
    "with EXDATE": numberOf(({ removed }) => removed > 0),
    "with RDATE": numberOf((event) => event.added > 0),
    "with occurrences in the window": numberOf(
      (event, at) => (inWindow(ours[at], event) ?? []).length > 0,
    ),
    "whose rule the other engines are told in full": numberOf(
      ({ plainText }) => plainText !== undefined,
    ),
    "on which two or more engines agree with Mantel": agreeing.filter((each) => each >= 2).length,
  };
  return { counts, comparisons };
}

function added(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const each of all) {
    for (const [key, number] of Object.entries(each)) sums[key] = (sums[key] ?? 0) + number;
  }
  return sums;
}

/** Comparisons with the same engine as one. */
function joined(all: readonly Comparison[]): Comparison {
  const differences = new Map<string, Difference>();
  for (const each of all.flatMap((comparison) => comparison.differences)) {
    const key = each.known?.name ?? "";
    const before = differences.get(key);
    if (before) before.events.push(...each.events);
    else differences.set(key, { ...each, events: [...each.events] });
  }
  const sum = (key: "asked" | "equal") => all.reduce((total, each) => total + each[key], 0);
  return {
    engine: all[0]?.engine ?? "",
    asked: sum("asked"),
    equal: sum("equal"),
    refused: new Map(Object.entries(added(all.map(({ refused }) => Object.fromEntries(refused))))),
    differences: [...differences.values()],
  };
}

function describe({ engine, asked, equal, refused, differences }: Comparison): string {
  return [
    `${engine}: ${equal} of ${asked} equal`,
    ...[...refused].map(([reason, count]) => `  ${count} refused: ${reason.slice(0, 100)}`),
    ...differences.map(({ known, events }) =>
      known
        ? `  ${events.length} differ. ${known.name}. RFC 5545, ${known.decidedBy}`
        : `  ${events.length} differ, and nothing decides them`,
    ),
  ].join("\n");
}

function examplesOf({ engine, events }: Difference): string[] {
  return [`${engine}:`, ...events.slice(0, MAX_EXAMPLES).map(show)];
}

function show({ text, from, to }: RandomEvent): string {
  return `from ${from} to ${to}\n${text.replaceAll("\r", "")}`;
}
