// npm run bench busy -- [minutes] [loops]: a real host with healthy plugins, some of which work in slices, beside busy
// loops that take all CPUs. Each minute plugins with real hangs are commanded to hang. Prints how many healthy
// processes were ended (there should be 0) and how long each hang took to find.
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { openFaultyHost } from "../faults/faulty-host.ts";
import { FAULTS, HEALTHY, idOf } from "../faults/kinds.ts";
import { summarise } from "./shared/figures.ts";

const MINUTE_MS = 60_000;
const HANGS = /^(endless loop|tick storm|regex blow-up|blocking)/;
const COPIES = 3;

const minutes = Number(process.argv[2] ?? 60);
const loops = Number(process.argv[3] ?? 4);
const hangs = FAULTS.filter(({ name }) => HANGS.test(name));
const healthy = HEALTHY.flatMap((kind) =>
  Array.from({ length: COPIES }, (_, at) => ({ ...kind, name: `${kind.name} ${at}` })),
);
const host = await openFaultyHost(hangs, { healthy });
const endLoops = startLoops(loops);

const endsAt = performance.now() + minutes * MINUTE_MS;
const awayMs: Record<string, number[]> = {};
while (performance.now() < endsAt) {
  const minuteEndsAt = performance.now() + MINUTE_MS;
  for (const kind of hangs) (awayMs[kind.name] ??= []).push(await host.commit(kind));
  await delay(Math.max(0, Math.min(minuteEndsAt, endsAt) - performance.now()));
}
const ended = await host.crashesOf(["good", ...healthy.map(idOf)]);
endLoops();
await host.stop();
const found = Object.entries(awayMs).map(([name, all]) => [name, summarise(all)]);
console.log(
  JSON.stringify({
    bench: "busy",
    minutes,
    loops,
    healthy: healthy.length + 1,
    falseEnds: ended.length,
    ended,
    hangsFound: Object.values(awayMs).flat().length,
    awayMs: Object.fromEntries(found),
  }),
);

/** Starts processes that take all the CPU time they get. Returns a function that ends them. */
function startLoops(count: number): () => void {
  const all = Array.from({ length: count }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  const end = () => all.forEach((each) => each.kill("SIGKILL"));
  process.once("exit", end);
  return end;
}
