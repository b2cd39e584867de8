import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { copyWarmCache } from "../../test/helpers/warm-cache.ts";
import { rounded, summarise } from "./shared/figures.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const READY_DEADLINE_MS = 300_000;
const STOP_DEADLINE_MS = 10_000;
/** The number of files that a lamp's entry imports, besides the one with its name. */
const PARTS = 8;

/** Processes and folders to clean up when a benchmark fails or is interrupted. */
const leftovers = new Set<() => void>();
// Processes first, because they write to the folders.
process.once("exit", () => [...leftovers].toReversed().forEach((clear) => clear()));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/**
 * A temporary folder for one benchmark, with copies of plugins. `remove` deletes it. In a run of the tests the data
 * folder has the builds that the run has prepared, as those of other tests do.
 */
export interface BenchHome {
  readonly plugins: string;
  readonly data: string;
  readonly write: (file: string, content: string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

export async function openHome(shipped: readonly string[] = []): Promise<BenchHome> {
  const home = await mkdtemp(join(tmpdir(), "mantel-bench-"));
  const clear = () => rmSync(home, { recursive: true, force: true });
  leftovers.add(clear);
  const plugins = join(home, "plugins");
  await mkdir(plugins);
  await symlink(join(ROOT, "node_modules"), join(home, "node_modules"));
  for (const id of shipped) {
    await cp(join(ROOT, "plugins", id), join(plugins, id), { recursive: true });
  }
  const data = join(home, "data");
  await mkdir(data, { mode: 0o700 });
  await copyWarmCache(data, { hasPackages: true, plugins });
  return {
    plugins,
    data,
    write: async (file, content) => {
      await mkdir(join(plugins, file, ".."), { recursive: true });
      await writeFile(join(plugins, file), content);
    },
    remove: async () => {
      await rm(home, { recursive: true, force: true });
      leftovers.delete(clear);
    },
  };
}

/** The import lines of a lamp's entry: nine files and one npm dependency. */
export const LAMP_IMPORTS = [
  `import mqtt from "mqtt";`,
  ...Array.from({ length: PARTS }, (_, at) => `import "./part${at}.ts";`),
  `import { name } from "./name.ts";`,
].join("\n");

/**
 * Writes a bridge of ten files and one npm dependency with one device: the light `<id>:light:1`, whose name is in
 * `<id>/name.ts`. The id consists of letters and digits.
 */
export async function writeLamp({ write }: BenchHome, id: string): Promise<void> {
  const bridge = { kind: id, commandsPerSecond: 10 };
  const mantel = { id, kinds: ["bridge"], server: "index.ts", bridge };
  const manifest = { name: id, type: "module", dependencies: { mqtt: "^5.0.0" }, mantel };
  await write(`${id}/package.json`, JSON.stringify(manifest));
  for (let at = 0; at < PARTS; at++) {
    await write(`${id}/part${at}.ts`, `export const part${at}: number = ${at};\n`);
  }
  await write(`${id}/name.ts`, nameFile("name 0."));
  const plugin = `
import { definePlugin } from "@mantel/plugin-sdk";
${LAMP_IMPORTS}
export default definePlugin({
  start: ({ devices }) => devices.publish([{
    nativeId: "lamp", kind: "light", name: name + typeof mqtt,
    capabilities: { on: { type: "boolean" } }, state: { on: false },
  }]),
});
`;
  await write(`${id}/index.ts`, plugin);
}

/** The content of a lamp's `name.ts`. */
export function nameFile(name: string): string {
  return `export const name: string = ${JSON.stringify(name)};\n`;
}

/** An HTTP server process. `stop` ends it. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  /** The token from the printed sign-in link; empty without a link. */
  readonly token: string;
  readonly stop: () => Promise<void>;
}

/** Starts a program and resolves when it prints its address. */
export async function serve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = process.execPath,
): Promise<Served> {
  // With extra certificates each process would parse all root certificates at its start.
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => void child.kill("SIGKILL");
  leftovers.add(kill);
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  const { url, token } = await readyOf(child, args.join(" "));
  return {
    url,
    pid: child.pid ?? 0,
    token,
    stop: async () => {
      child.kill("SIGTERM");
      const patience = setTimeout(kill, STOP_DEADLINE_MS); // `node --watch` may hang during a restart
      await exited;
      clearTimeout(patience);
      leftovers.delete(kill);
    },
  };
}

/** The address that a process prints, and the token that it printed before, if any. */
function readyOf(child: ChildProcess, name: string): Promise<Pick<Served, "url" | "token">> {
  let token = "";
  let lastLine = "";
  return new Promise((found, failed) => {
    const fail = (what: string) => () => failed(new Error(`${name} ${what}: ${lastLine}`));
    for (const input of [child.stdout, child.stderr]) {
      if (!input) continue;
      createInterface({ input }).on("line", (line) => {
        lastLine = line;
        token = /#token=(\S+)/.exec(line)?.[1] ?? token;
        const [, url] = /ready (http:\S+)/.exec(line) ?? [];
        if (url !== undefined) found({ url, token });
      });
    }
    child.once("exit", fail("ended"));
    setTimeout(fail("is not ready"), READY_DEADLINE_MS).unref(); // `node --watch` keeps running when its program ends
  });
}

/** Starts the host as `npm start` does, or with another Node, in the benchmark's folders and on a free port by default. */
export function serveHost(
  { plugins, data }: BenchHome,
  port = 0,
  env: Readonly<Record<string, string>> = {},
  program?: string,
): Promise<Served> {
  const flags = ["--port", String(port), "--data", data, "--plugins", plugins];
  if (program === undefined) return serve(["host/start.sh", ...flags], env, "sh");
  return serve(["host/launch.js", ...flags], env, program);
}

/** The ids of all running descendants of `pid`. */
export async function findDescendants(pid: number): Promise<number[]> {
  const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(all.map(async (each) => [each, await parentOf(each)] as const));
  const found = [pid];
  for (const above of found) {
    found.push(...parents.filter(([, parent]) => parent === above).map(([each]) => each));
  }
  return found.slice(1);
}

/** The ids of descendants of `pid` that run a plugin: Node processes in the plugin's storage folder. */
export async function findPluginProcesses(pid: number, id: string): Promise<number[]> {
  const descendants = await findDescendants(pid);
  const found = await Promise.all(
    descendants.map(async (each) => {
      const folder = await readlink(`/proc/${each}/cwd`).catch(() => "");
      const program = await readlink(`/proc/${each}/exe`).catch(() => "");
      return folder.endsWith(`/plugins/${id}`) && program === process.execPath ? [each] : [];
    }),
  );
  return found.flat();
}

/** The parent's id: the fourth field of proc(5) `stat`, after a name in brackets that may contain any character. */
async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** The memory of a process in MiB, with one decimal. `pss` counts a page shared by n processes as 1/n. */
export async function readMemory(pid: number): Promise<{ rss: number; pss: number }> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  const mebibytes = (field: string): number =>
    rounded(Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(rollup)?.[1] ?? 0) / 1024);
  return { rss: mebibytes("Rss"), pss: mebibytes("Pss") };
}

/** Sends requests at a steady rate until `end`, without waiting for earlier answers. */
export function requestAtRate(perSecond: number, ask: () => Promise<Response>) {
  const waits: Promise<{ ms: number; isOk: boolean; isOwn: boolean }>[] = [];
  const timer = setInterval(() => waits.push(timed(ask)), 1_000 / perSecond);
  return {
    async end() {
      clearInterval(timer);
      const all = await Promise.all(waits);
      return {
        asked: all.length,
        failed: all.filter(({ isOk }) => !isOk).length,
        /** Commands merged into a later one do not reach the bridge. */
        merged: all.filter(({ isOk, isOwn }) => isOk && !isOwn).length,
        ms: summarise(all.map(({ ms }) => ms)),
      };
    },
  };
}

async function timed(ask: () => Promise<Response>) {
  const startedAt = performance.now();
  try {
    const response = await ask();
    const body = await response.text();
    return {
      ms: performance.now() - startedAt,
      isOk: response.ok,
      isOwn: !body.includes('"superseded"'),
    };
  } catch {
    return { ms: performance.now() - startedAt, isOk: false, isOwn: true };
  }
}
