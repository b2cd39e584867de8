import { readdir, readFile, readlink } from "node:fs/promises";

const LISTENS = "0A";

/**
 * Finds the program that listens on a TCP port, such as `nginx (process 812)`. Returns `undefined` if none does,
 * or if it belongs to a user whose processes are not visible (proc(5)).
 */
export async function findPortHolder(port: number): Promise<string | undefined> {
  const inodes = await listeningInodes(port);
  for (const pid of (await names("/proc")).filter((name) => /^\d+$/.test(name))) {
    if (!(await holds(pid, inodes))) continue;
    const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "a program");
    return `${name.trim()} (process ${pid})`;
  }
  return undefined;
}

async function listeningInodes(port: number): Promise<ReadonlySet<string>> {
  const tables = await Promise.all(
    ["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFile(path, "utf8").catch(() => "")),
  );
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = tables.flatMap((table) => table.split("\n")).map((line) => line.trim().split(/\s+/));
  return new Set(
    rows
      .filter(([, local, , state]) => local?.endsWith(suffix) && state === LISTENS)
      .map((row) => `socket:[${row[9]}]`),
  );
}

async function holds(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  for (const descriptor of await names(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => "");
    if (inodes.has(target)) return true;
  }
  return false;
}

async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
