import { readFileSync } from "node:fs";
import { startOfDay } from "@mantel/plugin-sdk/time";
import { BOMBS } from "../../../test/plugins/calendar/bombs.ts";
// Runs one engine of the calendar benchmark in a separate process: `<engine> speed <file>`,
// `<engine> corpus <first case>` or `<engine> bombs`.
import { compare, readCorpus } from "../../../test/plugins/calendar/corpus.ts";
import { ENGINES } from "./engines.ts";

const DAY_MS = 86_400_000;
/** The first window, as large as the plugin's. */
const FIRST_DAYS = 398;
const FROM = Date.UTC(2026, 9, 20);
const LATER = 30;

const [, , name = "", task, third = "0"] = process.argv;
const engine = ENGINES[name];
if (!engine) throw new Error(`unknown engine ${name}`);
if (task === "speed") await measureSpeed(engine, readFileSync(third));
else if (task === "bombs") await measureBombs(engine);
else await checkCorpus(engine, Number(third));

async function measureSpeed(read: NonNullable<typeof engine>, bytes: Buffer): Promise<void> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const lookUp = await read(bytes, "Europe/Berlin");
  const events = (await lookUp(FROM, FROM + FIRST_DAYS * DAY_MS)).length;
  const firstMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  const rssMiB = process.memoryUsage.rss() / 2 ** 20;
  const laterMs: number[] = [];
  for (let at = 0; at < LATER; at++) {
    const from = FROM + (FIRST_DAYS + at * 30) * DAY_MS;
    const begunAt = performance.now();
    await lookUp(from, from + 30 * DAY_MS);
    laterMs.push(performance.now() - begunAt);
  }
  const cpuMs = (user + system) / 1000;
  console.log(
    JSON.stringify({ megabytes: bytes.length / 1e6, events, firstMs, cpuMs, rssMiB, laterMs }),
  );
}

/** The CPU time of malicious calendars. */
async function measureBombs(read: NonNullable<typeof engine>): Promise<void> {
  const costs: { name: string; cpuMs: number }[] = [];
  for (const [bomb, make] of Object.entries(BOMBS)) {
    const bytes = make();
    const before = process.cpuUsage();
    try {
      await (
        await read(bytes, "UTC")
      )(FROM, FROM + FIRST_DAYS * DAY_MS);
    } catch {
      // most of them are rejected
    }
    const { user, system } = process.cpuUsage(before);
    costs.push({ name: bomb, cpuMs: Math.round((user + system) / 1000) });
  }
  const [worst] = costs.toSorted((a, b) => b.cpuMs - a.cpuMs);
  console.log(JSON.stringify({ bombs: costs.length, worst }));
}

/** Prints one line per case, so that the benchmark knows in which case an engine hangs. */
async function checkCorpus(read: NonNullable<typeof engine>, from: number): Promise<void> {
  for (const { calendar, window, homeZone, expected } of readCorpus().slice(from)) {
    process.env["TZ"] = homeZone;
    const [start, end] = [startOfDay(window[0], homeZone), startOfDay(window[1], homeZone)];
    let isRight = false;
    try {
      const found = await (await read(calendar, homeZone))(start, end);
      const [wanted, got] = compare(expected, found);
      isRight = JSON.stringify(wanted) === JSON.stringify(got);
    } catch {
      // a case that throws counts as wrong
    }
    console.log(isRight ? "right" : "wrong");
  }
}
