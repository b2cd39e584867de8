import { readdir, readFile } from "node:fs/promises";

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** `pid (name)` */
  readonly line: string;
}

/**
 * The processes of a process group that still run, as `pid name`. Those that have ended and were not
 * collected by their parent do not count. Reads `/proc` (proc(5)), so it needs Linux.
 */
export async function livingProcesses(group: number): Promise<string[]> {
  return (await running()).filter((each) => each.group === group).map(({ line }) => line);
}

/** A process and all below it, whichever groups they are in; ids of those that still run. */
export async function processTreeOf(pid: number): Promise<number[]> {
  const all = await running();
  const found = all.filter((each) => each.pid === pid).map((each) => each.pid);
  for (const parent of found) {
    found.push(...all.filter((each) => each.parent === parent).map((each) => each.pid));
  }
  return found;
}

async function running(): Promise<Running[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(look));
  return found.filter((each) => each !== undefined);
}

async function look(pid: string): Promise<Running | undefined> {
  // The process may end between the listing and the reading.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name is in brackets and may hold spaces and brackets itself; after it: state, parent, group.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || state === "Z") return undefined;
  const line = `${pid} ${stat.slice(stat.indexOf("("), stat.lastIndexOf(")") + 1)}`;
  return { pid: Number(pid), parent: Number(parent), group: Number(group), line };
}
