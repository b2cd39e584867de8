// npm run soak [-- reloads | failed | widgets | faults] [count]: ten thousand reloads by the real host,
// reloads that fail, widget swaps in a real Chromium, or plugins that go wrong in every known way. Prints
// what the host, its processes and the page hold at the start, in the middle and at the end, and fails
// when something has grown.
import { FAULTS } from "./faults/kinds.ts";
import { openFaults } from "./soak/faults.ts";
import { openReloads } from "./soak/reloads.ts";
import { carryOut, type Run } from "./soak/run.ts";
import { openSwaps } from "./soak/swaps.ts";

const RUNS: ReadonlyMap<string, () => Promise<Run>> = new Map([
  ["reloads", () => openReloads(false)],
  ["failed", () => openReloads(true)],
  ["widgets", openSwaps],
  ["faults", openFaults],
]);
const DEFAULT_COUNT = 10_000;
/** A fault takes seconds. Of ten rounds of all kinds the first is the warm-up. */
const DEFAULT_FAULTS = 10 * FAULTS.length;

const given = process.argv.slice(2);
const name = given.find((word) => RUNS.has(word)) ?? "reloads";
const counts = given.filter((word) => word !== name);
const count = Number(counts[0] ?? (name === "faults" ? DEFAULT_FAULTS : DEFAULT_COUNT));
const open = RUNS.get(name);
if (!open || counts.length > 1 || !Number.isInteger(count) || count < 2) {
  process.stderr.write(`usage: npm run soak -- [${[...RUNS.keys()].join(" | ")}] [rounds]\n`);
  process.exit(2);
}
process.exitCode = (await carryOut(await open(), name, count)) ? 0 : 1;
