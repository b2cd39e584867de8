import { randomBytes } from "node:crypto";
import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { readText } from "@mantel/plugin-sdk/document-file";
import { Turns } from "@mantel/plugin-sdk/turns";
import type { HostLog } from "../log.ts";
import { appendLine } from "./append-line.ts";
import type { Principal } from "./tokens.ts";

const NAME = "audit.log";
const MAX_BYTES = 2 ** 20;
/** Full files that are kept beside the current one; `.1` is the youngest. */
const KEPT_FILES = 9;

/** Every name that a file of the log may have, the current one first. */
const FILES: readonly string[] = [
  NAME,
  ...Array.from({ length: KEPT_FILES }, (_, at) => `${NAME}.${at + 1}`),
];

/** What was done. Fields are facts of the action, never payloads or secrets. */
export interface AuditRecord {
  readonly action: string;
  readonly [field: string]: unknown;
}

/** A record as it is kept. */
export interface KeptRecord extends AuditRecord {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly sub: string;
  readonly jti: string;
}

export interface AuditPage {
  /** Newest first. */
  readonly records: readonly KeptRecord[];
  /** What `before` takes for the page after this; `null` at the end. */
  readonly next: string | null;
}

/**
 * Who has changed what: JSON lines in `<data>/audit.log` (0600), at most ten files of 1 MiB. The host
 * and the token command may write to it at the same time.
 */
export class Audit {
  readonly #folder: string;
  readonly #turns = new Turns();

  constructor(dataFolder: string) {
    this.#folder = dataFolder;
  }

  /** Resolves when the record is on the disk. @throws MantelError `disk_full` */
  record(principal: Pick<Principal, "sub" | "jti">, record: AuditRecord): Promise<void> {
    const { sub, jti } = principal;
    const head = { id: randomBytes(9).toString("base64url"), at: new Date().toISOString() };
    const who = { ...head, sub, jti };
    // Named again at the end, so that no field of an action can pass for when and who.
    return this.#turns.take(() => this.#append({ ...who, ...record, ...who }));
  }

  /**
   * A page of records, newest first. `before` is the `next` of the page before; when that record is
   * no longer kept, the page is empty. Lines that a crash has cut off are left out.
   */
  read({ limit, before }: { limit: number; before?: string }): Promise<AuditPage> {
    return this.#turns.take(async () => {
      const records: KeptRecord[] = [];
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

  /** Resolves when every record that was given is on the disk, or has failed. */
  async close(): Promise<void> {
    await this.#turns.ended();
  }

  async *#newestFirst(): AsyncIterable<KeptRecord> {
    for (const name of FILES) {
      const text = (await readText(join(this.#folder, name))) ?? "";
      for (const line of text.split("\n").toReversed()) {
        const record = parseLine(line);
        if (record) yield record;
      }
    }
  }

  async #append(record: KeptRecord): Promise<void> {
    const size = (await stat(join(this.#folder, NAME)).catch(() => undefined))?.size ?? 0;
    if (size >= MAX_BYTES) await this.#makeRoom();
    await appendLine(join(this.#folder, NAME), record);
  }

  /** Each file takes the name of the next older one; the oldest goes. A crash on the way leaves a gap. */
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

function parseLine(line: string): KeptRecord | undefined {
  try {
    const record = JSON.parse(line) as KeptRecord | null;
    return typeof record?.id === "string" ? record : undefined;
  } catch {
    return undefined; // An empty line, or one that a crash has cut off.
  }
}

/**
 * Keeps the record of what is done already. It never fails: the caller would be told that nothing has
 * happened. A record that cannot be kept goes to the log.
 */
export async function recordDone(
  { audit, log }: { audit: Pick<Audit, "record">; log: HostLog },
  principal: Pick<Principal, "sub" | "jti">,
  record: AuditRecord,
): Promise<void> {
  try {
    await audit.record(principal, record);
  } catch (error) {
    log.error("an audit record is lost", { sub: principal.sub, ...record, error });
  }
}
