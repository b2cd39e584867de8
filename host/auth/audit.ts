import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostLog } from "../log.ts";
import { appendLine } from "./append-line.ts";
import type { Principal } from "./tokens.ts";

const MAX_BYTES = 10 * 2 ** 20;

/** What was done. Fields are facts of the action, never payloads or secrets. */
export interface AuditRecord {
  readonly action: string;
  readonly [field: string]: unknown;
}

/**
 * Who has done what with the admin scope: JSON lines in `<data>/audit.log` (0600). A full file becomes
 * `audit.log.1`, and the one before it goes.
 */
export class Audit {
  readonly #path: string;
  #last: Promise<void> = Promise.resolve();

  constructor(dataFolder: string) {
    this.#path = join(dataFolder, "audit.log");
  }

  /** Resolves when the record is on the disk. @throws MantelError `disk_full` */
  record(principal: Pick<Principal, "sub" | "jti">, record: AuditRecord): Promise<void> {
    const { sub, jti } = principal;
    const line = { at: new Date().toISOString(), sub, jti, ...record };
    const written = this.#last.then(() => this.#append(line));
    this.#last = written.catch(() => undefined); // The caller has the failure; the next may go well.
    return written;
  }

  async #append(line: object): Promise<void> {
    const size = (await stat(this.#path).catch(() => undefined))?.size ?? 0;
    if (size > MAX_BYTES) await rename(this.#path, `${this.#path}.1`);
    await appendLine(this.#path, line);
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
