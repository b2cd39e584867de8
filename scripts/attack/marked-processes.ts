import { readdirSync, readFileSync } from "node:fs";

/** A process of a plugin, as this machine counts it. */
export interface MarkedProcess {
  readonly pid: number;
  readonly program: string;
  /** `T` is stopped. */
  readonly state: string;
}

/** The processes that were started for a plugin, with the sandbox around them and the programs below. */
export function processesOf(storage: string): MarkedProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => textOf(`${name}/environ`).includes(`TMPDIR=${storage}\0`))
    .map((name) => ({ pid: Number(name), ...stateOf(Number(name)) }))
    .filter(({ state }) => state !== "" && state !== "Z");
}

/** proc(5), `stat`: the name in brackets, which may hold anything, and the state behind it. */
export function stateOf(pid: number): Omit<MarkedProcess, "pid"> {
  const stat = textOf(`${pid}/stat`);
  const end = stat.lastIndexOf(")");
  return { program: stat.slice(stat.indexOf("(") + 1, end), state: stat.charAt(end + 2) };
}

function textOf(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return ""; // it has ended
  }
}
