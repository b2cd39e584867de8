import { setTimeout as delay } from "node:timers/promises";
import type { CalendarSource } from "@mantel/plugin-sdk";
import type { Agenda } from "./agenda.ts";
import type { FollowedFolder } from "./files/folder.ts";
import { noCalendar } from "./stored-objects.ts";
import type { Account } from "./web/account.ts";
import type { Subscription } from "./web/subscription.ts";

interface RefresherDependencies {
  readonly agenda: Pick<Agenda, "find" | "publishNow">;
  readonly files: Pick<FollowedFolder, "refresh">;
  readonly readers: readonly Pick<Account | Subscription, "has" | "refresh">[];
  /** Milliseconds from any beginning; absent means the clock of this process. */
  readonly now?: () => number;
}

/** Below the deadline of the service. */
const WAIT_MS = 20_000;
/** A server is not asked more often than this, however often somebody wants it. */
const PAUSE_MS = 5_000;

/** Reads single calendars when somebody asks for it, without waiting for their next poll. */
export class Refresher {
  readonly #parts: RefresherDependencies;
  readonly #now: () => number;
  /** The end of the last reading, by id. */
  readonly #endedAt = new Map<string, number>();

  constructor(parts: RefresherDependencies) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** @throws MantelError `not_found` */
  async refresh(id: string): Promise<{ source: CalendarSource; finished: boolean }> {
    const { agenda } = this.#parts;
    if (!agenda.find(id)) throw noCalendar(id);
    const patience = new AbortController();
    const tooLate = delay(WAIT_MS, false, { signal: patience.signal, ref: false }).catch(
      () => false,
    );
    const finished = await Promise.race([this.#read(id), tooLate]);
    patience.abort();
    const source = agenda.find(id);
    if (source) return { source: source.state, finished };
    throw noCalendar(id);
  }

  async #read(id: string): Promise<true> {
    const { agenda, files, readers } = this.#parts;
    if (this.#now() - (this.#endedAt.get(id) ?? -Infinity) < PAUSE_MS) return true;
    const reader = readers.find((each) => each.has(id));
    await (reader ? reader.refresh() : files.refresh(id));
    this.#endedAt.set(id, this.#now());
    await agenda.publishNow();
    return true;
  }
}
