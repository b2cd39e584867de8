import { randomBytes } from "node:crypto";
import { lstat, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";
import { syncFolder, writeDurably } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

/** The folder of the replacement for the next start. */
const FOLDER = ".replacement";
/** A staging folder, being filled or dropped. */
const UNPLANNED = /^\.replacement-[0-9a-f]{12}$/;
const PLAN = "plan.json";

const Path = Type.String({ minLength: 1 });
const Plan = Type.Object(
  {
    /** Files that are moved away; they existed when the plan was made. */
    aside: Type.Array(Path),
    files: Type.Array(Path),
    /** Files of lines to which the lines that exist at that time are added. */
    united: Type.Optional(Type.Array(Path)),
    /** The folder in the data folder that keeps the replaced files. */
    keptIn: Type.String({ pattern: "^before-restore-[A-Za-z0-9.-]+$" }),
  },
  { additionalProperties: false },
);
type Plan = Static<typeof Plan>;

/** Files of a data folder that are replaced together. */
export interface RestoreTransaction {
  readonly aside: readonly string[];
  readonly files: ReadonlyMap<string, Buffer>;
  readonly united: readonly string[];
}

/** A name for a staging folder. The next start removes leftover ones. */
export const newStagingName = (): string => `${FOLDER}-${randomBytes(6).toString("hex")}`;

/**
 * Writes all new files and the plan into a private folder. Nothing else is changed until
 * it is planned.
 *
 * @throws MantelError `invalid` if something in the data folder is in the way; `disk_full`
 */
export async function stageReplacement(
  dataFolder: string,
  staging: string,
  { aside, files, united }: RestoreTransaction,
): Promise<void> {
  const paths = [...files.keys()];
  await assertReplaceable(dataFolder, { aside, files: paths });
  const folder = join(dataFolder, staging);
  const keptIn = `before-restore-${new Date().toISOString().replaceAll(":", "-")}`;
  const plan: Plan = { aside: [...aside], files: paths, united: [...united], keptIn };
  try {
    await mkdir(folder, { mode: 0o700 });
    for (const [path, bytes] of files) await writeNew(join(folder, "new", path), bytes);
    const folders = new Set(paths.map((path) => dirname(join(folder, "new", path))));
    for (const each of folders) await syncFolder(each);
    await writeDurably(join(folder, PLAN), JSON.stringify(plan));
  } catch (error) {
    await dropStaging(dataFolder, staging);
    throw asDiskFault(error, "the data folder");
  }
}

/** Removes a staging folder, as far as it exists. */
export async function dropStaging(dataFolder: string, staging: string): Promise<void> {
  await rm(join(dataFolder, staging), { recursive: true, force: true });
}

/** Plans a staged replacement for the next start, instead of any earlier plan. Hold the lock of the folder. */
export async function planReplacement(dataFolder: string, staging: string): Promise<void> {
  const planned = join(dataFolder, FOLDER);
  const dropped = newStagingName();
  if (await isThere(planned)) await rename(planned, join(dataFolder, dropped));
  await rename(join(dataFolder, staging), planned);
  await syncFolder(dataFolder);
  await dropStaging(dataFolder, dropped);
}

/**
 * Carries out a planned replacement, also one that a crash has interrupted, and removes unplanned ones. Returns the
 * folder that keeps the replaced files, or `undefined` if nothing was replaced. Hold the lock of the folder,
 * and let nothing else write there.
 */
export async function finishReplacement(
  dataFolder: string,
  log?: HostLog,
): Promise<string | undefined> {
  for (const name of await readdir(dataFolder)) {
    if (UNPLANNED.test(name)) await dropStaging(dataFolder, name);
  }
  const staging = join(dataFolder, FOLDER);
  const text = await readFile(join(staging, PLAN), "utf8").catch(() => undefined);
  if (text === undefined) {
    await dropStaging(dataFolder, FOLDER);
    return undefined;
  }
  try {
    const plan = parsePlan(text);
    await begin(dataFolder, plan);
    await carryOut(dataFolder, plan);
    log?.warn("finished a planned restore", { files: plan.files.length, keptIn: plan.keptIn });
    return plan.keptIn;
  } catch (error) {
    if (!(error instanceof MantelError) && !(error instanceof SyntaxError)) throw error;
    await forget(dataFolder);
    log?.error("dropped a planned restore; nothing is changed", { reason: error.message });
    return undefined;
  }
}

/** @throws SyntaxError, MantelError `invalid` */
function parsePlan(text: string): Plan {
  const plan = check(Plan, JSON.parse(text), "the plan of the restore");
  for (const path of [...plan.aside, ...plan.files, ...(plan.united ?? [])]) {
    const isInside = path.split("/").every((each) => !["", ".", ".."].includes(each));
    if (!isInside) throw new MantelError("invalid", "a path of the plan leads out of the folder");
  }
  return plan;
}

/**
 * Checks that all steps can be done, before the first file is moved. The folder for the replaced files
 * marks that this was done.
 */
async function begin(dataFolder: string, plan: Plan): Promise<void> {
  const keptFolder = join(dataFolder, plan.keptIn);
  if (await isThere(keptFolder)) return;
  await assertReplaceable(dataFolder, plan);
  const laid = join(dataFolder, FOLDER, "new");
  for (const path of plan.files) {
    if ((await kindOf(join(laid, path))) === "file") continue;
    throw new MantelError("invalid", `${path} of the planned restore is missing`);
  }
  for (const path of plan.united ?? []) await unite(join(laid, path), join(dataFolder, path));
  await mkdir(keptFolder, { mode: 0o700 });
  await syncFolder(dataFolder);
}

async function carryOut(dataFolder: string, { aside, files, keptIn }: Plan): Promise<void> {
  const keptFolder = join(dataFolder, keptIn);
  for (const path of aside) await moveUnlessThere(join(dataFolder, path), join(keptFolder, path));
  for (const path of files)
    await move(join(dataFolder, FOLDER, "new", path), join(dataFolder, path));
  await syncFolder(dataFolder);
  await forget(dataFolder);
}

/** Removes the plan first: without it, the rest is meaningless. */
async function forget(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, FOLDER, PLAN), { force: true });
  await syncFolder(join(dataFolder, FOLDER));
  await dropStaging(dataFolder, FOLDER);
}

/**
 * Checks that each path leads through real folders of the data folder to a file, or to nothing.
 * @throws MantelError `invalid`, naming the obstacle
 */
async function assertReplaceable(
  dataFolder: string,
  { aside, files }: { aside: readonly string[]; files: readonly string[] },
): Promise<void> {
  const goes = new Set(aside);
  const kinds = new Map<string, Kind>();
  for (const path of [...aside, ...files]) {
    const segments = path.split("/");
    for (let depth = 1; depth <= segments.length; depth++) {
      const each = segments.slice(0, depth).join("/");
      const kind = kinds.get(each) ?? (await kindOf(join(dataFolder, each)));
      kinds.set(each, kind);
      const expected = depth < segments.length ? "folder" : "file";
      if (kind === expected) continue;
      if (kind === "nothing" || goes.has(each)) break;
      const detail = `${each} in the data folder is a ${kind}, and the restore needs a ${expected} there`;
      throw new MantelError("invalid", `${detail}; move it away`);
    }
  }
}

type Kind = "file" | "folder" | "link" | "special file" | "nothing";

async function kindOf(path: string): Promise<Kind> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return "nothing";
  if (found.isSymbolicLink()) return "link";
  if (found.isDirectory()) return "folder";
  return found.isFile() ? "file" : "special file";
}

/** Adds existing lines to the staged ones; a crash may cause it to run twice. */
async function unite(laid: string, present: string): Promise<void> {
  const texts = await Promise.all([
    readFile(laid, "utf8"),
    readFile(present, "utf8").catch(() => ""),
  ]);
  const lines = new Set(texts.flatMap((text) => text.split("\n")).filter(Boolean));
  await writeDurably(laid, [...lines].map((line) => `${line}\n`).join(""));
}

/** Does not move what was moved before a crash: its name may have its new content by now. */
async function moveUnlessThere(from: string, to: string): Promise<void> {
  if (!(await isThere(to))) await move(from, to);
}

async function move(from: string, to: string): Promise<void> {
  if (!(await isThere(from))) return;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to);
  await syncFolder(dirname(to));
}

async function isThere(path: string): Promise<boolean> {
  return (await kindOf(path)) !== "nothing";
}

/** Writes a file that is not visible until all of them exist. */
async function writeNew(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
