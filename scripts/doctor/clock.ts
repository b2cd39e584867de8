import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, warn, fail } = findingsOf("clock");
/** Mantel did not exist before this time, so an earlier date is wrong. */
const FIRST_YEAR = 2026;
const LAST_YEAR = 2100;
const MINUTE_MS = 60_000;
const SET_IT = "set the clock: timedatectl set-ntp true";

/** Checks the clock and the time zone, on which tokens, certificates and calendars depend. */
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

/** Finds files from the future, which a clock that was set back leaves. */
async function examineFuture(folder: string, nowAt: number): Promise<Finding[]> {
  for (const name of await readdir(folder).catch(() => [])) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (!found || found.mtimeMs < nowAt + MINUTE_MS) continue;
    const written = new Date(found.mtimeMs).toISOString();
    return [fail(`the clock has gone back: ${name} was written at ${written}`, SET_IT)];
  }
  return [];
}

/** Checks clock synchronization. Without timedatectl, or with another time service, it reports nothing. */
async function examineSync(): Promise<Finding[]> {
  const args = ["show", "-p", "NTPSynchronized", "--value"];
  const timedatectl = await promisify(execFile)("timedatectl", args, { timeout: 5_000 }).catch(
    () => undefined,
  );
  if (timedatectl?.stdout.trim() !== "no") return [];
  return [warn("the clock is not set by the network (NTP), so it will drift", SET_IT)];
}

/** With an unknown name in `TZ`, Node reports no time zone or `Etc/Unknown`. */
function examineZone(): Finding[] {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string };
  if (timeZone !== undefined && timeZone !== "Etc/Unknown") return [];
  return [
    fail(
      `the time zone of this machine is unknown${process.env["TZ"] ? ` (TZ is ${process.env["TZ"]})` : ""}`,
      "set it, for example with timedatectl set-timezone Europe/Berlin, or correct TZ",
    ),
  ];
}
