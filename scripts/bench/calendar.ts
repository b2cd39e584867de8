// npm run bench calendar -- [runs]: reads 5 MB of calendar with 10,000 events, of which 500 repeat, and looks up a first window of
// 398 days and later ones of 30; and counts the cases of the corpus that come out right; each for Mantel, ical.js and
// node-ical. Then: the host's answer for 30 days, while the file changes every second.
import { spawn } from "node:child_process";
import { copyFile, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { build } from "esbuild";
import { readCorpus } from "../../test/plugins/calendar/corpus.ts";
import { bigCalendar } from "./calendar/big-calendar.ts";
import { openHome, repeat, serveHost } from "./house.ts";
import { rounded, summarise } from "./shared/figures.ts";

const NAMES = ["mantel", "ical.js", "node-ical"];
const RUN = join(import.meta.dirname, "calendar/run.ts");
/** As the host starts plugins. */
const HEAP = ["--max-semi-space-size=2"];
/** A case that takes longer than this is a loop, however busy the machine is. */
const STUCK_MS = 30_000;
/** The large file, in the slowest engine. */
const SLOWEST_MS = 600_000;
const ASKED_SECONDS = 20;

const runs = Number(process.argv[2] ?? 5);
const home = await openHome(["calendar"]);
const bundle = join(home.plugins, "../run.mjs");
const file = join(home.plugins, "../office.ics");
await writeFile(file, bigCalendar());
await build({
  entryPoints: [RUN],
  outfile: bundle,
  ...{ bundle: true, platform: "node", format: "esm", logLevel: "error" },
  external: ["node-ical"], // its code is not meant to be strict, as a module is
  banner: {
    js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
  },
});

const speed: Record<string, object> = {};
const right: Record<string, string> = {};
for (const name of NAMES) {
  speed[name] = await measureSpeed(name);
  right[name] = await countRight(name);
  console.error(name, JSON.stringify([speed[name], right[name]]));
}
const [bombs = "null"] = await linesOf(["--import", "tsx", RUN, "mantel", "bombs"]);
const hostile: unknown = JSON.parse(bombs);
const host = await measureHost();
await home.remove();
console.log(JSON.stringify({ bench: "calendar", unit: "ms", runs, speed, right, hostile, host }));

interface Speed {
  readonly firstMs: number;
  readonly cpuMs: number;
  readonly rssMiB: number;
  readonly events: number;
  readonly laterMs: readonly number[];
}

/** In plain Node, so that nothing but the engine counts. */
async function measureSpeed(name: string) {
  const all: Speed[] = [];
  for (let run = 0; run < runs; run++) {
    const [line] = await linesOf([...HEAP, bundle, name, "speed", file]);
    if (line === undefined) return { overMs: SLOWEST_MS };
    all.push(JSON.parse(line) as Speed);
  }
  return {
    events: all[0]?.events,
    first: summarise(all.map(({ firstMs }) => firstMs)),
    firstOfProcessor: summarise(all.map(({ cpuMs }) => cpuMs)),
    later: summarise(all.flatMap(({ laterMs }) => laterMs)),
    rssMiB: summarise(all.map(({ rssMiB }) => rssMiB)),
  };
}

/** Cases that have one right answer alone. An engine that is stuck in one goes on with the next. */
async function countRight(name: string): Promise<string> {
  const corpus = readCorpus();
  const results: string[] = [];
  while (results.length < corpus.length) {
    results.push(...(await linesOf(["--import", "tsx", RUN, name, "corpus", `${results.length}`])));
    if (results.length < corpus.length) results.push("stuck");
  }
  const judged = corpus.map(({ policy }, at) => ({ policy, result: results[at] }));
  const counted = judged.filter(({ policy }) => !policy);
  const count = (result: string) => counted.filter((each) => each.result === result).length;
  return `${count("right")} of ${counted.length}, stuck in ${count("stuck")}`;
}

/** What a process of its own prints until it ends, or says nothing for too long. */
async function linesOf(args: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const lines: string[] = [];
  let timer = setTimeout(() => child.kill("SIGKILL"), SLOWEST_MS);
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    clearTimeout(timer);
    timer = setTimeout(() => child.kill("SIGKILL"), STUCK_MS);
  });
  await new Promise((done) => child.once("close", done));
  clearTimeout(timer);
  return lines;
}

async function measureHost() {
  const folder = join(home.data, "calendars");
  await mkdir(folder, { recursive: true });
  const bytes = bigCalendar(Date.now() + 30 * 86_400_000);
  await writeFile(join(folder, "office.ics"), bytes);
  const served = await serveHost(home);
  const headers = { authorization: `Bearer ${served.token}` };
  const end = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const ask = () => fetch(`${served.url}/api/v1/calendar/events?end=${end}`, { headers });
  while (!(await (await ask()).text()).includes("Meeting")) await delay(100);
  const others = await Promise.all(
    ["Appointment", "Session"].map(async (word) => {
      const other = join(home.plugins, `../${word}.ics`); // beforehand, as it would hold up the asking
      await writeFile(other, bytes.toString().replaceAll("Meeting", word));
      return other;
    }),
  );
  const asking = repeat(50, ask);
  for (let second = 0; second < ASKED_SECONDS; second++) {
    await copyFile(others[second % others.length] ?? "", `${folder}/office.new`);
    await rename(`${folder}/office.new`, join(folder, "office.ics"));
    await delay(1_000);
  }
  const { ms, ...asked } = await asking.end();
  await served.stop();
  return { ...asked, ms, refreshes: rounded(ASKED_SECONDS) };
}
