import { randomBytes } from "node:crypto";
import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { readText } from "@mantel/plugin-sdk/document-file";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { HostLog } from "../log.ts";
import { appendLine } from "./append-line.ts";
import type { TokenIdentity } from "./tokens.ts";

const NAME = "audit.log";
const MAX_BYTES = 2 ** 20;
/** The number of full files beside the current one; `.1` is the newest. */
const KEPT_FILES = 9;

/** All file names of the log, the current one first. */
const FILES: readonly string[] = [
  NAME,
  ...Array.from({ length: KEPT_FILES }, (_, at) => `${NAME}.${at + 1}`),
];

/** An action. Its fields are facts of the action, never payloads or secrets. */
export interface AuditRecord {
  readonly action: string;
  readonly [field: string]: unknown;
}

/** A record as it is stored. */
export interface StoredAuditRecord extends AuditRecord {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly sub: string;
  readonly jti: string;
}

export interface AuditPage {
  /** Newest first. */
  readonly records: readonly StoredAuditRecord[];
  /** The value of `before` for the next page; `null` at the end. */
  readonly next: string | null;
}

/**
 * The audit log: JSON lines in `<data>/audit.log` (0600), at most ten files of 1 MiB. The host
 * and the token command may write to it at the same time.
 */
export class Audit {
  readonly #folder: string;
  readonly #queue = new SerialQueue();

  constructor(dataFolder: string) {
    this.#folder = dataFolder;
  }

  /** Resolves when the record is on disk. @throws MantelError `disk_full` */
  record(principal: TokenIdentity, record: AuditRecord): Promise<void> {
    const { sub, jti } = principal;
    const head = { id: randomBytes(9).toString("base64url"), at: new Date().toISOString() };
    const who = { ...head, sub, jti };
    // Repeated at the end, so that no field of an action can override time and principal.
    return this.#queue.take(() => this.#append({ ...who, ...record, ...who }));
  }

  /**
   * A page of records, newest first. `before` is the `next` of the previous page; if that record is
   * no longer stored, the page is empty. Truncated lines are skipped.
   */
  read({ limit, before }: { limit: number; before?: string }): Promise<AuditPage> {
    return this.#queue.take(async () => {
      const records: StoredAuditRecord[] = [];
      let isFound = before === undefined;
      for await (const record of this.#newestFirst()) {
        if (isFound) records.push(record);
        if (records.length > limit) break;
        isFound ||= record.id === before;
      }
      const page = records.slice(0, limit);
      return { records: page, next: records.length > limit ? (page.at(-1)?.id ?? null) : null };
    });
  }

  /** Resolves when every record is on disk, or has failed. */
  async close(): Promise<void> {
    await this.#queue.ended();
  }

  async *#newestFirst(): AsyncIterable<StoredAuditRecord> {
    for (const name of FILES) {
      const text = (await readText(join(this.#folder, name))) ?? "";
      for (const line of text.split("\n").toReversed()) {
        const record = parseLine(line);
        if (record) yield record;
      }
    }
  }

  async #append(record: StoredAuditRecord): Promise<void> {
    const size = (await stat(join(this.#folder, NAME)).catch(() => undefined))?.size ?? 0;
    if (size >= MAX_BYTES) await this.#makeRoom();
    await appendLine(join(this.#folder, NAME), record);
  }

  /** Rotates the files; the oldest is deleted. A crash meanwhile leaves a gap. */
  async #makeRoom(): Promise<void> {
    for (let at = KEPT_FILES; at > 0; at--) {
      const [younger = "", older = ""] = FILES.slice(at - 1, at + 1);
      await rename(join(this.#folder, younger), join(this.#folder, older)).catch(unlessAbsent);
    }
  }
}

function unlessAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

function parseLine(line: string): StoredAuditRecord | undefined {
  try {
    const record = JSON.parse(line) as StoredAuditRecord | null;
    return typeof record?.id === "string" ? record : undefined;
  } catch {
    return undefined; // An empty line, or one truncated by a crash.
  }
}

/**
 * Stores the record of a completed action. It never fails, because the caller would report that nothing
 * happened. A record that cannot be stored goes to the log.
 */
export async function recordCompleted(
  { audit, log }: { audit: Audit; log: HostLog },
  principal: TokenIdentity,
  record: AuditRecord,
): Promise<void> {
  try {
    await audit.record(principal, record);
  } catch (error) {
    log.error("could not store an audit record", { sub: principal.sub, ...record, error });
  }
}
