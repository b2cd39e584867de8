import { watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { type Finding, findingsOf } from "./finding.ts";

const memory = findingsOf("memory");
const files = findingsOf("watching");
const sensors = findingsOf("sensors");
const NEEDED_MIB = 256;
/** What watching the plugin folders takes at most, in an ordinary house. */
const NEEDED_WATCHES = 4_096;

/** Memory, file watching and sensors. `root` is where `proc` and `sys` are: proc(5), sysfs(5). */
export async function examineMachine(root = "/"): Promise<Finding[]> {
  return [
    ...(await examineMemory(root)),
    ...(await examineWatching(root)),
    ...(await examineSensors(root)),
  ];
}

async function examineMemory(root: string): Promise<Finding[]> {
  const text = await readFile(join(root, "proc/meminfo"), "utf8").catch(() => "");
  const kib = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(text)?.[1] ?? Number.NaN);
  const total = Math.round(totalmem() / 2 ** 20);
  if (Number.isNaN(kib)) return [memory.ok(`this machine has ${total} MiB`)];
  const mib = Math.floor(kib / 1_024);
  if (mib >= NEEDED_MIB) return [memory.ok(`${mib} MiB of memory are available`)];
  return [
    memory.warn(
      `${mib} MiB of memory are available, and Mantel with its plugins takes about ${NEEDED_MIB}`,
      "end other programs, disable modules you do not use, or add swap",
    ),
  ];
}

/** Saves are followed through inotify(7), which every program of a user shares. */
async function examineWatching(root: string): Promise<Finding[]> {
  try {
    watch(tmpdir()).close();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return [files.fail(`no folder can be watched (${code}), so saves are not noticed`, RAISE)];
  }
  const path = "proc/sys/fs/inotify/max_user_watches";
  const limit = Number(await readFile(join(root, path), "utf8").catch(() => "Infinity"));
  if (limit >= NEEDED_WATCHES) return [files.ok("folders can be watched")];
  return [files.warn(`a user may watch only ${limit} files on this machine`, RAISE)];
}
const RAISE =
  "write fs.inotify.max_user_watches=65536 and fs.inotify.max_user_instances=512 to /etc/sysctl.d/60-mantel.conf, then sysctl --system";

async function examineSensors(root: string): Promise<Finding[]> {
  const found = await Promise.all([
    count(join(root, "sys/class/thermal"), /^thermal_zone\d+$/),
    count(join(root, "sys/class/hwmon"), /^hwmon\d+$/),
  ]);
  const total = found.reduce((sum, each) => sum + each, 0);
  if (total > 0) return [sensors.ok(`${total} sensors of this machine can be read`)];
  return [
    sensors.warn(
      "this machine shows no temperature, so the dashboard shows none either",
      "nothing on a virtual machine; else install lm-sensors and run sensors-detect",
    ),
  ];
}

async function count(folder: string, pattern: RegExp): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => pattern.test(name)).length;
}
