import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findDescendants } from "../bench-home.ts";

const PERIOD_MS = 100;
const CGROUPS = "/sys/fs/cgroup";
/** The kernel's largest weight: other load on the machine takes nothing of the share. */
const WEIGHT = 262_144;

/** The size of a machine. */
export interface Size {
  /** A part of one core. */
  readonly cores: number;
  readonly mebibytes: number;
}

/** A way to run programs on a part of this machine. */
export interface SmallMachine {
  readonly name: (typeof WAYS)[number]["name"];
  /** The command that runs `command` there, with the same process id. */
  readonly command: (command: readonly string[]) => string[];
  /** Call it when all programs have ended. */
  readonly close: () => void;
}

/** Ways from the best one on; each returns `undefined` where it does not work. */
const WAYS = [
  { name: "cgroup", open: openCgroup },
  { name: "systemd-run", open: openScope },
  { name: "taskset", open: openDutyCycle },
] as const;

/** @param name one of the ways; absent means the first that works */
export function openSmallMachine(size: Size, name?: string): SmallMachine {
  for (const way of WAYS) {
    const opened = name === undefined || name === way.name ? way.open(size) : undefined;
    if (opened) return { name: way.name, ...opened };
  }
  throw new Error(`${name ?? "none"} does not work on this machine`);
}

type Opened = Omit<SmallMachine, "name">;

/** Groups of cgroups(7) version 1 below those of this process. */
function openCgroup({ cores, mebibytes }: Size): Opened | undefined {
  const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  const own = (controller: string): string => {
    const [, names = "", path = ""] =
      lines
        .map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? [])
        .find(([, all]) => all?.split(",").includes(controller)) ?? [];
    return join(CGROUPS, names, path, `mantel-bench-${process.pid}`);
  };
  const [cpu, memory] = [own("cpu"), own("memory")];
  const close = () => [cpu, memory].filter(existsSync).forEach(removeGroup);
  try {
    for (const folder of [cpu, memory]) mkdirSync(folder);
    const write = (file: string, value: number) => writeFileSync(file, String(value));
    write(join(cpu, "cpu.cfs_period_us"), PERIOD_MS * 1_000);
    write(join(cpu, "cpu.cfs_quota_us"), PERIOD_MS * 1_000 * cores);
    write(join(cpu, "cpu.shares"), WEIGHT);
    write(join(memory, "memory.limit_in_bytes"), mebibytes * 2 ** 20);
  } catch {
    close();
    return undefined; // version 2, or not root
  }
  const enter = `echo $$ > ${cpu}/cgroup.procs; echo $$ > ${memory}/cgroup.procs; exec "$@"`;
  return { command: (command) => ["sh", "-ec", enter, "sh", ...command], close };
}

/** Removes a group, which is busy until its last process has left the kernel. */
function removeGroup(folder: string): void {
  for (let attempts = 50; ; attempts--) {
    try {
      return rmdirSync(folder);
    } catch (error) {
      if (attempts === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}

/** A scope of systemd, which also works for a user with cgroups version 2. */
function openScope({ cores, mebibytes }: Size): Opened | undefined {
  const user = process.getuid?.() === 0 ? [] : ["--user"];
  const limits = [`CPUQuota=${cores * 100}%`, `MemoryMax=${mebibytes}M`, "CPUWeight=10000"];
  const scope = [
    "systemd-run",
    ...user,
    "--quiet",
    "--scope",
    ...limits.flatMap((each) => ["-p", each]),
  ];
  if (spawnSync("systemd-run", [...scope.slice(1), "true"]).status !== 0) return undefined;
  return { command: (command) => [...scope, ...command], close: () => undefined };
}

/** One core, on which the programs are stopped for a part of each period; memory is not limited. */
function openDutyCycle({ cores }: Size): Opened {
  const end = new AbortController();
  void runDutyCycle(cores, end.signal);
  return {
    command: (command) => ["taskset", "--cpu-list", "0", ...command],
    close: () => end.abort(),
  };
}

async function runDutyCycle(cores: number, signal: AbortSignal): Promise<void> {
  const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));
  while (!signal.aborted) {
    await wait(PERIOD_MS * cores);
    const pids = await findDescendants(process.pid);
    // Parents stop first and continue last, so that the host never sees a stopped plugin.
    for (const pid of pids) send(pid, "SIGSTOP");
    await wait(PERIOD_MS * (1 - cores));
    for (const pid of pids.toReversed()) send(pid, "SIGCONT");
  }
}

function send(pid: number, signal: "SIGSTOP" | "SIGCONT"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}
