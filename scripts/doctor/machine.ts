import { watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { type Finding, findingsOf } from "./finding.ts";

const memory = findingsOf("memory");
const files = findingsOf("watching");
const sensors = findingsOf("sensors");
const NEEDED_MIB = 256;
/** The inotify watches that the plugin folders of a typical home need at most. */
const NEEDED_WATCHES = 4_096;

/** Checks memory, file watching and sensors. `root` contains `proc` and `sys` (proc(5), sysfs(5)). */
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
      `${mib} MiB of memory are available, but Mantel with its plugins needs about ${NEEDED_MIB} MiB`,
      "close other programs, disable unused modules, or add swap",
    ),
  ];
}

/** Checks the inotify(7) limits, which all programs of a user share. */
async function examineWatching(root: string): Promise<Finding[]> {
  try {
    watch(tmpdir()).close();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return [
      files.fail(`folders cannot be watched (${code}), so changed files are not detected`, RAISE),
    ];
  }
  const path = "proc/sys/fs/inotify/max_user_watches";
  const limit = Number(await readFile(join(root, path), "utf8").catch(() => "Infinity"));
  if (limit >= NEEDED_WATCHES) return [files.ok("folders can be watched")];
  return [files.warn(`the limit for watched files is only ${limit} per user`, RAISE)];
}
const RAISE =
  "write fs.inotify.max_user_watches=65536 and fs.inotify.max_user_instances=512 to /etc/sysctl.d/60-mantel.conf, then sysctl --system";

async function examineSensors(root: string): Promise<Finding[]> {
  const found = await Promise.all([
    count(join(root, "sys/class/thermal"), /^thermal_zone\d+$/),
    count(join(root, "sys/class/hwmon"), /^hwmon\d+$/),
  ]);
  const total = found.reduce((sum, each) => sum + each, 0);
  if (total > 0) return [sensors.ok(`${total} temperature sensors are readable`)];
  return [
    sensors.warn(
      "no temperature sensors found, so the dashboard shows no temperature",
      "on a virtual machine ignore this; otherwise install lm-sensors and run sensors-detect",
    ),
  ];
}

async function count(folder: string, pattern: RegExp): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => pattern.test(name)).length;
}
