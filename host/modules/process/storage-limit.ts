import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { LOOK_MS, untilTurnMs } from "./looks.ts";
import type { PluginProcess } from "./plugin-process.ts";
import { readProcess } from "./procfs.ts";
import {
  type CountedFolder,
  readFreeSpace,
  measureDeleted,
  measureFolders,
  type StorageUse,
} from "./storage-use.ts";

const run = promisify(execFile);

/** Folders are measured when the disk has lost this much free space, and now and then: measuring is expensive. */
const LOST_BYTES = 256 * 2 ** 10;
const LOST_ENTRIES = 16;
const MEASURE_AT_LEAST_EVERY_MS = 1_000;
/** The folders of an idle process are measured less often. Its answers to the host use less CPU time than this. */
const MEASURE_IDLE_EVERY_MS = 5_000;
const IDLE_CPU_MS = 30;
/** Measuring takes at most one part in this many of the time: while the disk fills, and otherwise. */
const SHARE_WHILE_FILLING = 3;
const SHARE = 20;

const MIB = 2 ** 20;
/** The entries allowed for each MiB: a plugin must not store millions of empty files. */
const ENTRIES_A_MIB = 64;
const LEAST_ENTRIES = 1_024;
/** Counting stops at this many times the allowed entries. */
const COUNTED_TIMES = 8;
const WARN_AT = 0.8;
/** Writes are allowed again below this share of the limit. */
const ROOM_AT = 0.97;
/** A process is killed when it exceeds its limit by this share. */
const SLACK = 0.05;
/** A plugin's compiled code is Mantel's own cache; this much of it does not count. */
const CACHE_BYTES = 64 * MIB;

/** The storage use of a plugin, and its limit. */
export interface StorageFigures {
  readonly storageBytes: number | null;
  /** The user-facing reason why it cannot write, or soon will not be able to. */
  readonly storageWarning: string | undefined;
}

interface Limits {
  readonly bytes: number;
  readonly entries: number;
}

const watches = new WeakMap<PluginProcess, StorageLimit>();

/** The storage use of a generation's plugin, as last measured. */
export function storageFiguresOf(generation: PluginProcess): StorageFigures {
  return watches.get(generation)?.figures ?? { storageBytes: null, storageWarning: undefined };
}

/**
 * Enforces a plugin's storage limit from now until the process ends: at 80 % it warns the
 * user, at 100 % writes fail, and a process that exceeds the limit is killed. A plugin that starts above
 * the limit may delete files, and is killed only if it adds more.
 */
export function limitStorage(
  generation: PluginProcess,
  { storage, folders, compiled }: { storage: string; folders: object; compiled: string },
  { storageMiB }: { readonly storageMiB: number },
): void {
  const counted = [storage, ...(Object.values(folders) as string[])].map((path) => ({ path }));
  const watch = new StorageLimit(
    generation,
    [...counted, { path: compiled, freeBytes: CACHE_BYTES }],
    {
      bytes: storageMiB * MIB,
      entries: Math.max(LEAST_ENTRIES, storageMiB * ENTRIES_A_MIB),
    },
  );
  watches.set(generation, watch);
  void watch.run();
}

class StorageLimit {
  readonly #generation: PluginProcess;
  readonly #folders: readonly CountedFolder[];
  readonly #limits: Limits;
  #use: StorageUse | undefined;
  /** The use at the start, or the limit if that is more: it must not be exceeded. */
  #ceiling: StorageUse = { bytes: 0, entries: 0 };
  #roomThen: StorageUse | undefined;
  #measuredAt = -Infinity;
  #cpuThenMs = 0;
  #idleUntil = -Infinity;
  #spentMs = 0;
  #isFull = false;
  /** True while the kernel refuses writes. */
  #isEnforced = false;

  constructor(generation: PluginProcess, folders: readonly CountedFolder[], limits: Limits) {
    this.#generation = generation;
    this.#folders = folders;
    this.#limits = limits;
  }

  get figures(): StorageFigures {
    return { storageBytes: this.#use?.bytes ?? null, storageWarning: this.#warning() };
  }

  async run(): Promise<void> {
    const state = { hasEnded: false };
    let wake = (): void => undefined;
    void this.#generation.exited.then(() => {
      state.hasEnded = true;
      wake();
    });
    while (!state.hasEnded) {
      await this.#look();
      if (state.hasEnded) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, untilTurnMs(LOOK_MS));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async #look(): Promise<void> {
    await this.#enforce();
    const room = readFreeSpace(this.#folders[0]?.path ?? "");
    if (!this.#isDue(room)) return;
    this.#roomThen = room;
    this.#cpuThenMs = readProcess(this.#generation.pid).cpuMs;
    const startedAt = performance.now();
    const counted = this.#limits.entries * COUNTED_TIMES;
    const { bytes, entries } = await measureFolders(this.#folders, counted);
    const use = { bytes: bytes + measureDeleted(this.#generation.pid), entries };
    this.#measuredAt = performance.now();
    this.#spentMs = this.#measuredAt - startedAt;
    if (!this.#use) this.#ceiling = this.#ceilingFrom(use);
    this.#use = use;
    await this.#keep(use);
  }

  #isDue(room: StorageUse | undefined): boolean {
    const sinceMs = performance.now() - this.#measuredAt;
    const before = this.#roomThen;
    const isFilling =
      room === undefined ||
      before === undefined ||
      before.bytes - room.bytes >= LOST_BYTES ||
      before.entries - room.entries >= LOST_ENTRIES;
    if (isFilling && sinceMs >= this.#spentMs * SHARE_WHILE_FILLING) return true;
    if (sinceMs < Math.max(MEASURE_AT_LEAST_EVERY_MS, this.#spentMs * SHARE)) return false;
    return sinceMs >= MEASURE_IDLE_EVERY_MS || !this.#isIdle();
  }

  /**
   * True if the process has hardly run since its folders were measured, and can have no programs that write for it. It is
   * read once a second.
   */
  #isIdle(): boolean {
    const now = performance.now();
    if (now < this.#idleUntil) return true;
    const { pid, settings } = this.#generation;
    if (settings.childProcesses) return false;
    const { state, cpuMs } = readProcess(pid);
    const isIdle = state !== "" && cpuMs - this.#cpuThenMs < IDLE_CPU_MS;
    if (isIdle) this.#idleUntil = now + MEASURE_AT_LEAST_EVERY_MS;
    return isIdle;
  }

  #ceilingFrom(use: StorageUse): StorageUse {
    const { bytes, entries } = this.#limits;
    return {
      bytes: Math.max(bytes, use.bytes) + bytes * SLACK,
      entries: Math.max(entries, use.entries) + entries * SLACK,
    };
  }

  async #keep(use: StorageUse): Promise<void> {
    const share = this.#share(use);
    const isFull = share >= (this.#isFull ? ROOM_AT : 1);
    if (isFull !== this.#isFull) {
      this.#isFull = isFull;
      const reason = isFull ? `its storage is full: ${this.#limitInWords()}` : undefined;
      this.#generation.peer.notify("refuseStorage", reason === undefined ? {} : { reason });
      await this.#enforce();
    }
    const isBeyond = use.bytes > this.#ceiling.bytes || use.entries > this.#ceiling.entries;
    if (isBeyond) void this.#generation.end(this.#cause(use));
  }

  /** Enforces or lifts the limit. The id of a process that has just started is not known at once. */
  async #enforce(): Promise<void> {
    const { pid } = this.#generation;
    if (this.#isEnforced === this.#isFull || pid <= 0) return;
    this.#isEnforced = this.#isFull;
    await refuseWrites(pid, this.#isFull);
  }

  #share({ bytes, entries }: StorageUse): number {
    return Math.max(bytes / this.#limits.bytes, entries / this.#limits.entries);
  }

  #warning(): string | undefined {
    const share = this.#use ? this.#share(this.#use) : 0;
    if (this.#isFull) return `its storage is full, and it cannot write: ${this.#limitInWords()}`;
    if (share < WARN_AT) return undefined;
    return `its storage is nearly full: ${this.#limitInWords()}`;
  }

  #limitInWords(): string {
    const { bytes, entries } = this.#limits;
    return `the limit is ${bytes / MIB} MiB and ${entries} files; delete what it does not need, or raise "limits.storageMiB"`;
  }

  #cause({ bytes, entries }: StorageUse): string {
    const limit = `delete what it does not need, or raise "limits.storageMiB"`;
    if (bytes / this.#limits.bytes >= entries / this.#limits.entries) {
      return `storage limit exceeded: it used ${Math.round(bytes / MIB)} MiB of ${this.#limits.bytes / MIB} MiB; ${limit}`;
    }
    return `storage limit exceeded: it stored ${entries} files and folders of ${this.#limits.entries}; ${limit}`;
  }
}

/**
 * Makes the kernel refuse to extend files of the process (EFBIG; setrlimit(2), RLIMIT_FSIZE), or allow
 * it again; deleting always works. Without `prlimit`, the process is killed if it continues to write.
 */
async function refuseWrites(pid: number, isFull: boolean): Promise<void> {
  const limit = isFull ? "0" : "unlimited";
  await run("prlimit", ["--pid", String(pid), `--fsize=${limit}:`]).catch(() => undefined);
}
