import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, warn, fail } = findingsOf("clock");
/** No Mantel is older. */
const FIRST_YEAR = 2026;
const LAST_YEAR = 2100;
const MINUTE_MS = 60_000;
const SET_IT = "set the clock: timedatectl set-ntp true";

/** Tokens, certificates and calendars are as wrong as the clock is. */
export async function examineClock(dataFolder: string, nowAt = Date.now()): Promise<Finding[]> {
  const findings = [
    ...examineYear(nowAt),
    ...(await examineFuture(dataFolder, nowAt)),
    ...(await examineSync()),
    ...examineZone(),
  ];
  return findings.length > 0 ? findings : [ok(`it is ${new Date(nowAt).toISOString()}`)];
}

function examineYear(nowAt: number): Finding[] {
  const year = new Date(nowAt).getUTCFullYear();
  if (year >= FIRST_YEAR && year <= LAST_YEAR) return [];
  return [fail(`the clock says it is the year ${year}`, SET_IT)];
}

/** A clock that has gone back leaves files from the future. */
async function examineFuture(folder: string, nowAt: number): Promise<Finding[]> {
  for (const name of await readdir(folder).catch(() => [])) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (!found || found.mtimeMs < nowAt + MINUTE_MS) continue;
    const written = new Date(found.mtimeMs).toISOString();
    return [fail(`the clock has gone back: ${name} was written at ${written}`, SET_IT)];
  }
  return [];
}

/** Where another program keeps the time, or none can be asked, nothing is known. */
async function examineSync(): Promise<Finding[]> {
  const args = ["show", "-p", "NTPSynchronized", "--value"];
  const asked = await promisify(execFile)("timedatectl", args, { timeout: 5_000 }).catch(
    () => undefined,
  );
  if (asked?.stdout.trim() !== "no") return [];
  return [warn("the clock is not set by the network, and goes wrong with time", SET_IT)];
}

/** `TZ` with a name that nobody knows gives no zone, or one without a name. */
function examineZone(): Finding[] {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string };
  if (timeZone !== undefined && timeZone !== "Etc/Unknown") return [];
  return [
    fail(
      `the time zone of this machine is not known${process.env["TZ"] ? ` (TZ is ${process.env["TZ"]})` : ""}`,
      "set it, such as timedatectl set-timezone Europe/Berlin, or correct TZ",
    ),
  ];
}
