import type { Stats } from "node:fs";
import { readdir, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import { parseLayout } from "../../host/layout/parse.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, warn, fail } = findingsOf("data");
const LITTLE_MIB = 200;
const TOO_LITTLE_MIB = 20;
const OTHERS = 0o077;
/** Documents that the config check covers. */
const CONFIG = ["config.json", "secrets.json"];
const BY_LINES = /\.(jsonl|log)$/;

/** Checks the data folder: permissions, disk space, and readable documents. */
export async function examineData(folder: string): Promise<Finding[]> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return examineAbsent(folder, found);
  if (!found.isDirectory()) {
    return [fail(`${folder} is a file`, "pass a folder with --data")];
  }
  const findings = [
    ...examineRights(folder, found),
    ...(await examineWriting(folder)),
    ...(await examineSpace(folder)),
    ...(await examineFiles(folder)),
  ];
  return findings.length > 0 ? findings : [ok(`the data folder ${folder} has no problems`)];
}

async function examineAbsent(folder: string, error: NodeJS.ErrnoException): Promise<Finding[]> {
  const todo = "pass another folder with --data, or run this as the user who runs Mantel";
  if (error.code !== "ENOENT") return [fail(`${folder} is not accessible (${error.code})`, todo)];
  let parent = dirname(folder);
  while (!(await stat(parent).catch(() => undefined))) parent = dirname(parent);
  const faults = await examineWriting(parent);
  return faults.length > 0 ? faults : [ok(`${folder} will be created at the first start`)];
}

function examineRights(folder: string, { mode, uid }: Stats): Finding[] {
  const findings: Finding[] = [];
  if ((mode & OTHERS) !== 0) {
    findings.push(warn(`other users of this machine can read ${folder}`, `chmod 700 ${folder}`));
  }
  if (process.getuid && process.getuid() !== uid) {
    findings.push(
      warn(
        `${folder} belongs to the user ${uid}, but this command runs as ${process.getuid()}`,
        "run Mantel and its commands as the same user, for example with sudo -u",
      ),
    );
  }
  return findings;
}

/** Tests write access with a real file, which also detects read-only disks and quotas. */
async function examineWriting(folder: string): Promise<Finding[]> {
  const probe = join(folder, `.doctor-${process.pid}.tmp`);
  try {
    await writeFile(probe, "Mantel tests write access here\n", { flag: "wx", mode: 0o600 });
    return [];
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return [
      fail(`nothing can be written to ${folder}: ${WHY[code] ?? code}`, WHAT_TO_DO[code] ?? HOW),
    ];
  } finally {
    await rm(probe, { force: true }).catch(() => undefined); // where nothing can be written
  }
}
const WHY: Readonly<Record<string, string>> = {
  EACCES: "this user has no permission",
  EPERM: "this user has no permission",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "this user's disk quota is exhausted",
};
const HOW = "give the folder to the user who runs Mantel (chown), or pass another with --data";
const WHAT_TO_DO: Readonly<Record<string, string>> = {
  EROFS: "mount it writable; a disk that turned read-only by itself may be failing: see dmesg",
  ENOSPC: "free some space, or pass another folder with --data",
  EDQUOT: "free some space, or pass another folder with --data",
};

async function examineSpace(folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder);
  const mib = Math.floor((bavail * bsize) / 2 ** 20);
  const says = `${mib} MiB are free on the disk of ${folder}`;
  const todo = "free some space; on a full disk settings cannot be saved";
  if (mib < TOO_LITTLE_MIB) return [fail(says, todo)];
  return mib < LITTLE_MIB ? [warn(says, todo)] : [];
}

async function examineFiles(folder: string): Promise<Finding[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const findings = await Promise.all(names.map((name) => examineFile(folder, name)));
  return findings.flat();
}

async function examineFile(folder: string, name: string): Promise<Finding[]> {
  const path = join(folder, name);
  if (name.includes(".damaged-")) {
    return [
      warn(
        `${path} is a damaged document that was set aside`,
        "compare it with the restored one, then delete it",
      ),
    ];
  }
  const isDocument = name.endsWith(".json");
  if (!isDocument && !BY_LINES.test(name)) return [];
  const text = await readFile(path, "utf8").catch((error: Error) => error);
  if (text instanceof Error) return [fail(`${path} cannot be read: ${text.message}`, HOW)];
  const { mode } = await stat(path);
  return [
    ...(isDocument ? examineDocument(path, text) : examineLines(path, text)),
    ...((mode & OTHERS) === 0
      ? []
      : [warn(`other users of this machine can read ${path}`, `chmod 600 ${path}`)]),
  ];
}

function examineDocument(path: string, text: string): Finding[] {
  const name = basename(path);
  if (CONFIG.includes(name)) return [];
  try {
    const value = parseJsonText(text, name);
    if (name === "layout.json") parseLayout(withoutRevision(value));
    return [];
  } catch (error) {
    const todo = "start Mantel: it uses the last good copy and renames this file";
    return [fail(`${path} is damaged: ${(error as Error).message}`, todo)];
  }
}

/** Checks each line. A power cut may leave an incomplete line, which the host ignores. */
function examineLines(path: string, text: string): Finding[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const damaged = lines.filter((line) => !isJson(line)).length;
  if (damaged === 0) return [];
  return [
    warn(`${damaged} of ${lines.length} lines of ${path} cannot be read and are ignored`, LINES),
  ];
}
const LINES = "one line can be the result of a power cut; more suggest a failing disk";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The stored form of a layout: the document of the client with its revision. */
function withoutRevision(value: unknown): unknown {
  const { revision: _, ...layout } = (value ?? {}) as Record<string, unknown>;
  return layout;
}
