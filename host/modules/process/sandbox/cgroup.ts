import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";

/** The name prefix of a host's control groups, which are below the one the host runs in. */
const PREFIX = "mantel-";
const CONTROLLERS = ["memory", "pids", "cpu"] as const;
type Controller = (typeof CONTROLLERS)[number];
const CPU_PERIOD_US = 100_000;
const REMOVE_RETRY_MS = 100;
const REMOVE_TRIES = 20;

/**
 * The number of the last group in each folder of groups. A host that was restarted in this process must not take the
 * names of groups before: what still waits to be removed is removed by its name.
 */
const lastNumbers = new Map<string, number>();

/** A folder for each controller; all equal with control groups version 2. */
type Folders = Readonly<Record<Controller, string>>;

/** The shared limits of one plugin's processes. */
export interface CgroupLimits {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** Share of one CPU, in percent: 200 is two whole CPUs. */
  readonly cpuPercent: number;
}

/** A control group for each controller, or one for all of them (cgroups(7)). */
export class Cgroup {
  /** Files to which a process writes `0` to join. */
  readonly joinFiles: readonly string[];
  readonly #folders: Folders;
  readonly #removals: Set<Promise<unknown>>;

  /** @param removals the removals under way, to which those of this group are added */
  constructor(folders: Folders, removals = new Set<Promise<unknown>>()) {
    this.#folders = folders;
    this.#removals = removals;
    this.joinFiles = [...new Set(Object.values(folders))].map((folder) =>
      join(folder, "cgroup.procs"),
    );
  }

  /** True if the kernel killed one of its processes because of too little memory. */
  get wasOutOfMemory(): boolean {
    const { memory } = this.#folders;
    const events =
      readOr(join(memory, "memory.events")) + readOr(join(memory, "memory.oom_control"));
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0) > 0;
  }

  /**
   * Removes the group as soon as its last process has ended. Resolves after the first attempt, which another thread makes:
   * the kernel takes some milliseconds.
   */
  async remove(tries = REMOVE_TRIES): Promise<void> {
    const folders = [...new Set(Object.values(this.#folders))];
    const removal = Promise.all(folders.map(removeFolder));
    this.#removals.add(removal);
    const removed = await removal;
    this.#removals.delete(removal);
    if (removed.includes(false) && tries > 0) {
      setTimeout(() => void this.remove(tries - 1), REMOVE_RETRY_MS).unref();
    }
  }
}

/** Creates control groups; one instance for each host. */
export class Cgroups {
  readonly #parents: Folders;
  readonly #isUnified: boolean;
  readonly #removals = new Set<Promise<unknown>>();

  private constructor(parents: Folders, isUnified: boolean) {
    this.#parents = parents;
    this.#isUnified = isUnified;
  }

  /** `undefined` if this user may not create control groups, or the system has none. */
  static open(): Cgroups | undefined {
    try {
      const unified = openUnified();
      if (unified) return new Cgroups(unified, true);
      const separate = openSeparate();
      return separate && new Cgroups(separate, false);
    } catch {
      return undefined; // read-only, or not delegated to this user
    }
  }

  /** A new group; `undefined` if the system cannot create it. */
  create({ memoryBytes, tasks, cpuPercent }: CgroupLimits): Cgroup | undefined {
    const name = nextName(this.#parents.memory);
    const folderOf = (controller: Controller) => join(this.#parents[controller], name);
    const folders = foldersBy(folderOf);
    const group = new Cgroup(folders, this.#removals);
    const quota = Math.round((cpuPercent * CPU_PERIOD_US) / 100);
    try {
      for (const folder of new Set(Object.values(folders))) mkdirSync(folder);
      writeFileSync(join(folders.pids, "pids.max"), String(tasks));
      if (this.#isUnified) {
        writeFileSync(join(folders.memory, "memory.max"), String(memoryBytes));
        writeFileSync(join(folders.cpu, "cpu.max"), `${quota} ${CPU_PERIOD_US}`);
      } else {
        writeFileSync(join(folders.memory, "memory.limit_in_bytes"), String(memoryBytes));
        writeFileSync(join(folders.cpu, "cpu.cfs_quota_us"), String(quota));
      }
      return group;
    } catch {
      void group.remove(0);
      return undefined;
    }
  }

  /** Removes all groups this host has created. */
  async close(): Promise<void> {
    await Promise.all(this.#removals);
    for (const parent of new Set(Object.values(this.#parents))) removeParent(parent);
  }
}

/**
 * Control groups version 2: one tree. A group whose children have limits cannot hold processes itself, so
 * the processes of this one move into a child group.
 */
function openUnified(): Folders | undefined {
  const own = ownGroups().get("");
  if (own === undefined) return undefined;
  const offered = readOr(join(own, "cgroup.controllers")).split(/\s+/);
  if (!CONTROLLERS.every((name) => offered.includes(name))) return undefined;
  const leaf = join(own, `${PREFIX}host`);
  mkdirSync(leaf, { recursive: true });
  for (const pid of readOr(join(own, "cgroup.procs")).split("\n").filter(Boolean)) {
    writeFileSync(join(leaf, "cgroup.procs"), pid);
  }
  const enabled = CONTROLLERS.map((name) => `+${name}`).join(" ");
  writeFileSync(join(own, "cgroup.subtree_control"), enabled);
  const parent = openParent(own);
  writeFileSync(join(parent, "cgroup.subtree_control"), enabled);
  return foldersBy(() => parent);
}

/** Control groups version 1: a tree for each controller. */
function openSeparate(): Folders | undefined {
  const own = ownGroups();
  if (!CONTROLLERS.every((controller) => own.has(controller))) return undefined;
  return foldersBy((controller) => openParent(own.get(controller) ?? ""));
}

function foldersBy(folderOf: (controller: Controller) => string): Folders {
  return { memory: folderOf("memory"), pids: folderOf("pids"), cpu: folderOf("cpu") };
}

/** The group of this host below `folder`. Removes groups of hosts that have ended. */
function openParent(folder: string): string {
  const parent = join(folder, `${PREFIX}${process.pid}`);
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(folder)) {
    const pid = Number(name.slice(PREFIX.length));
    if (!name.startsWith(PREFIX) || !(pid > 0) || existsSync(`/proc/${pid}`)) continue;
    removeParent(join(folder, name));
  }
  return parent;
}

function nextName(parent: string): string {
  const number = (lastNumbers.get(parent) ?? 0) + 1;
  lastNumbers.set(parent, number);
  return String(number);
}

function removeParent(parent: string): void {
  const entries = existsSync(parent) ? readdirSync(parent, { withFileTypes: true }) : [];
  for (const entry of entries) if (entry.isDirectory()) tryRemove(join(parent, entry.name));
  tryRemove(parent);
}

/** The folders of the groups this process is in, by controller; `""` is that of version 2. */
function ownGroups(): Map<string, string> {
  const mounts = readOr("/proc/self/mountinfo").split("\n").map(parseMount);
  const groups = new Map<string, string>();
  for (const line of readOr("/proc/self/cgroup").split("\n")) {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (names === undefined || path === undefined) continue;
    for (const name of names.split(",")) {
      const mount = mounts.find((each) =>
        name === "" ? each.type === "cgroup2" : each.options.includes(name),
      );
      if (mount)
        groups.set(name, join(mount.at, path.slice(mount.root === "/" ? 0 : mount.root.length)));
    }
  }
  return groups;
}

/** Parses a line of `/proc/self/mountinfo` (proc(5)). Options are those of a control group's file system. */
function parseMount(line: string): { at: string; root: string; type: string; options: string[] } {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root = "", at = ""] = before.split(" ");
  const [type = "", , options = ""] = after.split(" ");
  return { at, root, type, options: type === "cgroup" ? options.split(",") : [] };
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** True if the folder is gone. */
async function removeFolder(folder: string): Promise<boolean> {
  return rmdir(folder).then(() => true, isMissing);
}

function tryRemove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // a process is left in it
  }
}

const isMissing = ({ code }: NodeJS.ErrnoException): boolean => code === "ENOENT";
