import { readdirSync, readFileSync } from "node:fs";

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** In ticks since the machine started: ids are used again. */
  readonly startedAt: number;
  /** `pid (name)` */
  readonly line: string;
}

/**
 * The processes that still run. Those that have ended and were not collected by their parent do not count. Reads `/proc`
 * (proc(5)), so it needs Linux; at once, because each of some hundred small reads costs ten times as much by promises.
 */
export function runningProcesses(): RunningProcess[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(look).filter((each) => each !== undefined);
}

/** Those of a process group, as `pid (name)`. */
export function livingProcesses(group: number): string[] {
  return runningProcesses()
    .filter((each) => each.group === group)
    .map(({ line }) => line);
}

/** A process and all below it, whichever groups they are in. */
export function processTreeOf(pid: number): RunningProcess[] {
  const all = runningProcesses();
  const found = all.filter((each) => each.pid === pid);
  for (const parent of found) found.push(...all.filter((each) => each.parent === parent.pid));
  return found;
}

function look(pid: string): RunningProcess | undefined {
  let stat = "";
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined; // it ended between the listing and the reading
  }
  // The name is in brackets and may hold spaces and brackets itself; after it: state, parent, group.
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  const [state, parent, group] = fields;
  if (state === "Z") return undefined;
  const line = `${pid} ${stat.slice(stat.indexOf("("), end + 1)}`;
  const startedAt = Number(fields[19]);
  return { pid: Number(pid), parent: Number(parent), group: Number(group), startedAt, line };
}
