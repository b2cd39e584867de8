import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const ROOT = resolve(import.meta.dirname, "../..");

/** A folder for one bench, with copies of plugins in it. It is removed by `remove`. */
export interface BenchHome {
  readonly plugins: string;
  readonly data: string;
  write(file: string, content: string): Promise<void>;
  remove(): Promise<void>;
}

export async function openHome(shipped: readonly string[] = []): Promise<BenchHome> {
  const home = await mkdtemp(join(tmpdir(), "mantel-bench-"));
  const plugins = join(home, "plugins");
  await mkdir(plugins);
  await symlink(join(ROOT, "node_modules"), join(home, "node_modules"));
  for (const id of shipped) {
    await cp(join(ROOT, "plugins", id), join(plugins, id), { recursive: true });
  }
  return {
    plugins,
    data: join(home, "data"),
    write: async (file, content) => {
      await mkdir(join(plugins, file, ".."), { recursive: true });
      await writeFile(join(plugins, file), content);
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

/** A process that answers HTTP, ended by `stop`. */
export interface Served {
  readonly url: string;
  /** What came with the first visit's link; empty for a process that has none. */
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts a program, and resolves when one of its lines names the address it answers at. */
export async function serve(args: readonly string[]): Promise<Served> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  let token = "";
  const url = await new Promise<string>((found, failed) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        token = /#token=(\S+)/.exec(line)?.[1] ?? token;
        const [, ready] = /ready (http:\S+)/.exec(line) ?? [];
        if (ready !== undefined) found(ready);
      });
    }
    child.once("exit", (code) => failed(new Error(`it ended with code ${code}`)));
  });
  return {
    url,
    token,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** The host over a bench's own folders. */
export function serveHost({ plugins, data }: BenchHome): Promise<Served> {
  const flags = ["--port", "0", "--data", data, "--plugins", plugins];
  return serve(["--import", "tsx", "host/main.ts", ...flags]);
}

/** Median, 95th percentile and maximum, rounded to a tenth. */
export function summarise(values: readonly number[]): { p50: number; p95: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) * 10) /
    10;
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}
