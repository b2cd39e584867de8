import { type Static, type Storage, Type } from "@mantel/plugin-sdk";
import type { Agenda } from "./agenda.ts";

const CONFIRMATIONS = "confirmations";
const PRIVATE = "private";

/** Facts about sources that outlast a process: when each was confirmed last (RFC 3339), and which were private. */
export const SourceFacts = Type.Object({
  confirmations: Type.Record(Type.String(), Type.String()),
  private: Type.Array(Type.String()),
});
type SourceFacts = Static<typeof SourceFacts>;

/** Keeps these facts: handed over in a reload, and stored otherwise. They are small. */
export class CalendarMemory {
  readonly #storage: Storage;
  #private: readonly string[] = [];
  #isHandedOver = false;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Gives the sources the last confirmations, and the agenda the sources that were private. */
  async recall(agenda: Agenda, handedOver: SourceFacts | undefined): Promise<void> {
    const { confirmations, private: ids } = handedOver ?? (await this.#stored());
    const at = new Map(Object.entries(confirmations).map(([id, text]) => [id, new Date(text)]));
    for (const source of agenda.sources) {
      const confirmedAt = at.get(source.id);
      if (confirmedAt && !Number.isNaN(confirmedAt.getTime())) source.wasConfirmed(confirmedAt);
    }
    this.#private = ids;
    agenda.wasPrivate(ids);
  }

  async keepPrivate(agenda: Agenda): Promise<void> {
    const ids = privateIn(agenda);
    if (ids.join() === this.#private.join()) return;
    await this.#storage.set(PRIVATE, ids);
    this.#private = ids;
  }

  /** The facts for the next generation, which stores them at its own end. */
  handOver(agenda: Agenda): SourceFacts {
    this.#isHandedOver = true;
    return { confirmations: confirmationsOf(agenda), private: [...this.#private] };
  }

  /** Stores the confirmations, unless the next generation has them. */
  async keepConfirmations(agenda: Agenda): Promise<void> {
    const known = confirmationsOf(agenda);
    if (this.#isHandedOver || Object.keys(known).length === 0) return;
    await this.#storage.set(CONFIRMATIONS, known);
  }

  async #stored(): Promise<SourceFacts> {
    const confirmations = ((await this.#storage.get(CONFIRMATIONS)) ?? {}) as Record<
      string,
      string
    >;
    const ids = await this.#storage.get(PRIVATE);
    const texts = Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
    return { confirmations, private: texts };
  }
}

function privateIn({ sources }: Agenda): string[] {
  return sources.flatMap((each) => (each.isPrivate ? [each.id] : [])).toSorted();
}

function confirmationsOf({ sources }: Agenda): Record<string, string> {
  return Object.fromEntries(
    sources.flatMap(({ id, fetchedAt }) => (fetchedAt ? [[id, fetchedAt.toISOString()]] : [])),
  );
}
