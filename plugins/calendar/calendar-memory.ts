import type { Storage } from "@mantel/plugin-sdk";
import type { Agenda } from "./agenda.ts";

const CONFIRMATIONS = "confirmations";
const PRIVATE = "private";

/** Facts about sources that outlast a process. They are small, and written when it starts and ends. */
export class CalendarMemory {
  readonly #storage: Storage;
  #private: readonly string[] = [];

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Gives the sources the last confirmations, and the agenda the sources that were private. */
  async recall(agenda: Agenda): Promise<void> {
    const confirmations = (await this.#storage.get(CONFIRMATIONS)) ?? {};
    const at = new Map(Object.entries(confirmations).map(([id, text]) => [id, new Date(text)]));
    for (const source of agenda.sources) {
      const confirmedAt = at.get(source.id);
      if (confirmedAt && !Number.isNaN(confirmedAt.getTime())) source.wasConfirmed(confirmedAt);
    }
    const ids = await this.#storage.get(PRIVATE);
    this.#private = Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
    agenda.wasPrivate(this.#private);
  }

  async keepPrivate(agenda: Agenda): Promise<void> {
    const ids = agenda.sources.flatMap((each) => (each.isPrivate ? [each.id] : [])).toSorted();
    if (ids.join() !== this.#private.join()) await this.#storage.set(PRIVATE, ids);
  }

  async keepConfirmations(agenda: Agenda): Promise<void> {
    const known = agenda.sources.flatMap(({ id, fetchedAt }) =>
      fetchedAt ? [[id, fetchedAt.toISOString()] as const] : [],
    );
    if (known.length > 0) await this.#storage.set(CONFIRMATIONS, Object.fromEntries(known));
  }
}
