import type { Cause } from "@mantel/plugin-sdk/cause";
import { OWN, type SectionedCommand } from "@mantel/plugin-sdk/device-sections";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { RateBudget } from "@mantel/plugin-sdk/latest-wins";
import type { HostLog } from "../log.ts";

/** A slider that is drawn for longer has a line for each of these times. */
const SAME_AGAIN_MS = 10_000;
/** Lines of all things together. */
const RATE = { burst: 50, perSecond: 0.5 };

/** Admits a line of the log for each thing now and then, and for all things at a limited rate. */
export class LineLimit {
  readonly #budget = new RateBudget(RATE);
  /** By thing, the time of its last line, monotonic; the oldest is first. */
  readonly #last = new Map<string, number>();

  admits(thing: string): boolean {
    const now = performance.now();
    for (const [each, at] of this.#last) {
      if (now - at < SAME_AGAIN_MS) break;
      this.#last.delete(each);
    }
    if (this.#last.has(thing) || this.#budget.waitMs(1) > 0) return false;
    this.#budget.take(1);
    this.#last.set(thing, now);
    return true;
  }
}

interface LoggedCommand {
  readonly command: SectionedCommand;
  /** Absent for a command that was refused before it was queued. */
  readonly commandId?: string;
  readonly cause: Cause | undefined;
}

/**
 * The lines about commands. Commands are logged at `info`, and failures at `warn`, with their cause. At `debug` are
 * the commands of a scene, which has a line of its own, and those beyond `LineLimit`: commands of one sender to the
 * same device within ten seconds, and floods. Values are not logged, because codes of locks are among them.
 */
export class CommandLog {
  readonly #log: HostLog;
  readonly #sent = new LineLimit();
  readonly #failed = new LineLimit();

  constructor(log: HostLog) {
    this.#log = log;
  }

  sent(device: string, { command, commandId, cause }: LoggedCommand): void {
    const fields = [...command].flatMap(([key, values]) =>
      Object.keys(values).map((name) => (key === OWN ? name : `${key}.${name}`)),
    );
    const isShown = cause?.kind !== "scene" && this.#sent.admits(`${device} ${senderOf(cause)}`);
    const level = isShown ? "info" : "debug";
    this.#log[level]("sent a command", { device, commandId, fields, cause });
  }

  failed(device: string, { commandId, cause }: LoggedCommand, error: unknown): void {
    if (!(error instanceof MantelError)) {
      this.#log.error("a bridge failed in a command", { device, commandId, cause, error });
      return;
    }
    const { code } = error;
    const isShown = this.#failed.admits(`${device} ${code} ${senderOf(cause)}`);
    const level = isShown ? "warn" : "debug";
    this.#log[level]("a command failed", { device, code, commandId, cause });
  }
}

function senderOf(cause: Cause | undefined): string {
  return cause ? `${cause.kind}:${cause.id}` : "";
}
