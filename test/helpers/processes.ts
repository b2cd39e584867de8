import { readdir, readFile } from "node:fs/promises";

/**
 * The processes of a process group that still run, as `pid name`. Those that have ended and were not
 * collected by their parent do not count. Reads `/proc` (proc(5)), so it needs Linux.
 */
export async function livingProcesses(group: number): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => describe(pid, group)));
  return found.filter((line) => line !== undefined);
}

async function describe(pid: string, group: number): Promise<string | undefined> {
  // The process may end between the listing and the reading.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name is in brackets and may hold spaces and brackets itself; after it: state, parent, group.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (Number(processGroup) !== group || state === "Z") return undefined;
  return `${pid} ${stat.slice(stat.indexOf("("), stat.lastIndexOf(")") + 1)}`;
}
