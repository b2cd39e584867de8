import { existsSync } from "node:fs";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { dropStaging, newStagingName, planReplacement } from "../documents/restore-transaction.ts";
import { compileEntry } from "../modules/build/runtime.ts";
import type { RestoreSummary } from "./restore.ts";
import { makeBackupInProcess, stageRestoreInProcess } from "./worker-process.ts";

/** Inserted by the compiler of the host (`host/compiled.js`): the path of the process's program. */
declare const COMPILED_BACKUP_PROGRAM: string | undefined;

/** One that runs and two that wait: each may take memory for a whole home. */
const MAX_PENDING = 3;
const RETRY_MS = 5_000;

/** Creates and checks backups of the running home in separate processes. */
export class Backups {
  readonly #dataFolder: string;
  readonly #version: string;
  readonly #queue = new SerialQueue();
  readonly #pending = new Set<symbol>();
  readonly #closing = new AbortController();
  #program: Promise<string> | undefined;

  constructor(dataFolder: string, version: string) {
    this.#dataFolder = dataFolder;
    this.#version = version;
  }

  /**
   * One file with the home as it is now, and the names of files that it cannot contain. With a passphrase it contains
   * the secrets too, sealed by it.
   *
   * @param abandoned cancels the work: nobody waits for it any more
   * @throws MantelError `invalid`, `rate_limited`, `deadline_passed`
   */
  make(
    passphrase: string | undefined,
    abandoned: AbortSignal,
  ): Promise<{ packed: Buffer; leftOut: readonly string[] }> {
    return this.#inTurn(abandoned, async (signal) => {
      const [dataFolder, version] = [this.#dataFolder, this.#version];
      const task = { kind: "make", dataFolder, version, passphrase } as const;
      return makeBackupInProcess(await this.#compiled(), task, signal);
    });
  }

  /**
   * Checks a backup completely, and plans its restore for the next start.
   *
   * @param read returns the body of the request, which is `RestoreRequest`
   * @param abandoned cancels the work: nobody waits for it any more
   * @throws MantelError `invalid`, `bad_request`, `disk_full`, `rate_limited`, `deadline_passed`. Nothing is
   * changed then
   */
  planRestore(read: () => Promise<Buffer>, abandoned: AbortSignal): Promise<RestoreSummary> {
    return this.#inTurn(
      abandoned,
      async (signal, body) => {
        const [dataFolder, staging] = [this.#dataFolder, newStagingName()];
        const task = { kind: "restore", dataFolder, staging } as const;
        try {
          const summary = await stageRestoreInProcess(await this.#compiled(), task, {
            body,
            signal,
          });
          await planReplacement(dataFolder, staging);
          return summary;
        } finally {
          await dropStaging(dataFolder, staging);
        }
      },
      read,
    );
  }

  /** Cancels running work, and accepts no more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue.ended();
    await this.#program?.catch(() => undefined);
  }

  /** The body of a request is read while it waits, and dropped when its client disconnects. */
  async #inTurn<T>(
    abandoned: AbortSignal,
    work: (signal: AbortSignal, body: Buffer) => Promise<T>,
    read: () => Promise<Buffer> = async () => Buffer.alloc(0),
  ): Promise<T> {
    if (this.#pending.size >= MAX_PENDING) {
      const detail = "another backup or restore is running, and more wait; try again later";
      throw new MantelError("rate_limited", detail, { retryAfterMs: RETRY_MS });
    }
    const signal = AbortSignal.any([abandoned, this.#closing.signal]);
    const place = Symbol("place");
    const leave = () => void this.#pending.delete(place);
    this.#pending.add(place);
    signal.addEventListener("abort", leave);
    try {
      const input = { body: await read() };
      signal.addEventListener("abort", () => (input.body = Buffer.alloc(0)), { once: true });
      return await this.#queue.take(async () => {
        if (signal.aborted)
          throw new MantelError(
            "service_unavailable",
            "the client has disconnected, or the host stops",
          );
        return work(signal, input.body);
      });
    } finally {
      leave();
    }
  }

  /** Compiled with the host, or at the first request if the host runs from its sources. */
  #compiled(): Promise<string> {
    this.#program ??= programOf(this.#dataFolder).catch((error: unknown) => {
      this.#program = undefined; // for example because of a full disk; the next request tries again
      throw error;
    });
    return this.#program;
  }
}

async function programOf(dataFolder: string): Promise<string> {
  // A newer host that was compiled beside this one may have removed it.
  if (typeof COMPILED_BACKUP_PROGRAM === "string" && existsSync(COMPILED_BACKUP_PROGRAM)) {
    return COMPILED_BACKUP_PROGRAM;
  }
  const entry = join(import.meta.dirname, "worker.ts");
  return compileEntry(join(dataFolder, "cache"), { name: "backup", entry });
}
