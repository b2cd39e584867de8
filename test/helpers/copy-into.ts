import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

/** Tests change the PATH. */
const CP = existsSync("/bin/cp") ? "/bin/cp" : "cp";

/** Copies files and folders into a folder. Node's own `cp` takes ten times the CPU time for many small files. */
export async function copyInto(folder: string, paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await promisify(execFile)(CP, ["-R", ...paths, folder]);
}
