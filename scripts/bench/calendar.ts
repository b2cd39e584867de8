// npm run bench calendar -- [runs [engines]]: compares Mantel, ical.js and node-ical. Reads a 5 MB calendar with 10,000 events, of
// which 500 repeat, looks up a first window of 398 days and later ones of 30, and counts the correct cases of the corpus.
// Then it measures the host's answer for 30 days while no event, one event or every event of the file changes each second.
import { spawn } from "node:child_process";
import { copyFile, mkdir, rename, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { build } from "esbuild";
import { readCorpus } from "../../test/plugins/calendar/corpus.ts";
import { openHome, serveHost } from "./bench-home.ts";
import { bigCalendar } from "./calendar/big-calendar.ts";
import { summarise } from "./shared/figures.ts";

const RUN = join(import.meta.dirname, "calendar/run.ts");
/** The Node flags with which the host starts plugins. */
const HEAP = ["--max-semi-space-size=2"];
/** Time limit of a case. Longer means an endless loop, even on a busy machine. */
const STUCK_MS = 30_000;
/** Time limit of the large file, which the slowest engine needs. */
const SLOWEST_MS = 600_000;
const ASKED_SECONDS = 20;
const ASK_EVERY_MS = 20;

const runs = Number(process.argv[2] ?? 5);
const names = (process.argv[3] ?? "mantel,ical.js,node-ical").split(",");
const home = await openHome(["calendar"]);
const bundle = join(home.plugins, "../run.mjs");
const file = join(home.plugins, "../office.ics");
await writeFile(file, bigCalendar());
await build({
  entryPoints: [RUN],
  outfile: bundle,
  bundle: true,
  platform: "node",
  format: "esm",
  logLevel: "error",
  external: ["node-ical"], // its code does not work in strict mode
  banner: {
    js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
  },
});

const speed: Record<string, object> = {};
const right: Record<string, string> = {};
for (const name of names) {
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

/** Runs in plain Node, so that only the engine is measured. */
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

/** Cases with exactly one right answer. An engine that hangs in a case continues with the next one. */
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

/** The output lines of a separate process, until it ends or prints nothing for too long. */
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
  const url = `${served.url}/api/v1/calendar/events?end=${end}`;
  while (!(await (await fetch(url, { headers })).text()).includes("Meeting")) await delay(100);
  const text = bytes.toString();
  const changes = {
    nothing: [],
    oneEvent: ["first", "second"].map((word) => text.replace(/Meeting number \d+/, word)),
    everyEvent: ["Appointment", "Session"].map((word) => text.replaceAll("Meeting", word)),
  };
  const measured: Record<string, object> = {};
  for (const [name, contents] of Object.entries(changes)) {
    const files = contents.map((_, at) => join(home.plugins, `../${name}-${at}.ics`));
    await Promise.all(files.map((path, at) => writeFile(path, contents[at] ?? "")));
    const asking = requestRepeatedly(url, headers);
    for (let second = 0; second < ASKED_SECONDS; second++) {
      const next = files[second % files.length];
      if (next !== undefined) {
        await copyFile(next, `${folder}/office.new`);
        await rename(`${folder}/office.new`, join(folder, "office.ics"));
      }
      await delay(1_000);
    }
    measured[name] = summarise(await asking.end());
  }
  await served.stop();
  return measured;
}

/** The time from the request to the last byte of each answer. The content is not parsed, to save time. */
function requestRepeatedly(url: string, headers: Record<string, string>) {
  const agent = new Agent({ keepAlive: true });
  const waits: Promise<number>[] = [];
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const askedAt = performance.now();
      const request = get(url, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`));
        response.resume().once("end", () => resolve(performance.now() - askedAt));
      });
      request.once("error", reject);
    });
  const timer = setInterval(() => waits.push(ask()), ASK_EVERY_MS);
  return {
    async end() {
      clearInterval(timer);
      const all = await Promise.all(waits);
      agent.destroy();
      return all;
    },
  };
}
