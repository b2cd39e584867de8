import { type Log, MantelError, SerialQueue, type Storage } from "@mantel/plugin-sdk";
import type { AutomationDocument } from "./engine/document.ts";
import { isRecord } from "./engine/values.ts";
import { parseDocument } from "./parse-document.ts";

const MOST_AUTOMATIONS = 1_000;
/** Revisions that are kept of each document, with the present one. */
const KEPT_REVISIONS = 20;
const LONGEST_ID = 40;
/** Ids that are words of the routes. */
const RESERVED = ["pause", "resume", "simulate", "webhooks", "import"];
const INDEX = "index";

/** Stored values by key. */
export type Documents = Pick<Storage, "get" | "set" | "delete">;

/** A document as it is stored. */
export interface StoredDocument {
  readonly id: string;
  readonly revision: number;
  readonly document: AutomationDocument;
}

/** One revision of a document. */
export interface Revision {
  readonly revision: number;
  readonly savedAt: string;
  readonly document: AutomationDocument;
}

/** The documents, one file each, with their last revisions. Changes are made one after the other. */
export class DocumentStore {
  readonly #storage: Documents;
  readonly #log: Log;
  readonly #documents = new Map<string, StoredDocument>();
  /** The ids of documents that could not be read. */
  readonly #unreadable = new Set<string>();
  readonly #queue = new SerialQueue();

  private constructor(storage: Documents, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  /** Reads all documents. One that cannot be read is left out, with a line in the log. */
  static async open(storage: Documents, log: Log): Promise<DocumentStore> {
    const store = new DocumentStore(storage, log);
    const index = await storage.get(INDEX);
    const ids = isRecord(index) && Array.isArray(index["ids"]) ? index["ids"] : [];
    for (const id of ids.filter((each) => typeof each === "string")) {
      try {
        const stored = await storage.get(keyOf(id));
        if (!isRecord(stored)) continue;
        const revision = Number(stored["revision"]) || 1;
        store.#documents.set(id, { id, revision, document: parseDocument(stored["document"]) });
      } catch (error) {
        store.#unreadable.add(id);
        log.error("could not read an automation; it is left out", { id, error });
      }
    }
    return store;
  }

  list(): StoredDocument[] {
    return [...this.#documents.values()];
  }

  /** True for a stored document, also one that cannot be read. */
  has(id: string): boolean {
    return this.#documents.has(id) || this.#unreadable.has(id);
  }

  find(id: string): StoredDocument | undefined {
    return this.#documents.get(id);
  }

  /** @throws MantelError `not_found` */
  get(id: string): StoredDocument {
    const stored = this.#documents.get(id);
    if (stored) return stored;
    throw new MantelError("not_found", `no automation has the id ${id}`);
  }

  /** Stores a new document under an id made from its name. @throws MantelError `conflict` for too many, `disk_full` */
  create(document: AutomationDocument, isTaken: (id: string) => boolean): Promise<StoredDocument> {
    return this.#queue.take(async () => {
      if (this.#documents.size >= MOST_AUTOMATIONS) {
        const sentence = `there are ${MOST_AUTOMATIONS} automations, which is the limit; delete one first`;
        throw new MantelError("conflict", sentence);
      }
      const id = freeId(document.name, (each) => this.#documents.has(each) || isTaken(each));
      const stored = { id, revision: 1, document };
      await this.#storage.set(INDEX, { ids: [...this.#documents.keys(), id] });
      await this.#write(stored);
      return stored;
    });
  }

  /**
   * Replaces a document.
   * @throws MantelError `not_found`, `revision_stale` if `ifMatch` names another revision, `disk_full`
   */
  replace(id: string, document: AutomationDocument, ifMatch?: string): Promise<StoredDocument> {
    return this.#queue.take(async () => {
      const known = this.get(id);
      requireRevision(known.revision, ifMatch);
      const stored = { id, revision: known.revision + 1, document };
      await this.#write(stored);
      return stored;
    });
  }

  /** @throws MantelError as `replace` */
  remove(id: string, ifMatch?: string): Promise<void> {
    return this.#queue.take(async () => {
      requireRevision(this.get(id).revision, ifMatch);
      await this.#storage.set(INDEX, {
        ids: [...this.#documents.keys()].filter((each) => each !== id),
      });
      this.#documents.delete(id);
      await this.#storage.delete(keyOf(id));
      await this.#storage.delete(historyKeyOf(id));
    });
  }

  /** The last revisions, newest first. @throws MantelError `not_found` */
  history(id: string): Promise<readonly Revision[]> {
    return this.#queue.take(async () => {
      this.get(id);
      return this.#readHistory(id);
    });
  }

  /** @throws MantelError `not_found`, `revision_unknown` */
  async revision(id: string, revision: number): Promise<AutomationDocument> {
    const found = (await this.history(id)).find((each) => each.revision === revision);
    if (found) return parseDocument(found.document);
    throw new MantelError("revision_unknown", `${id} has no revision ${revision}`);
  }

  /** Stores a document. Its revision is added to the history afterwards, which no caller waits for. */
  async #write(stored: StoredDocument): Promise<void> {
    const { id, revision, document } = stored;
    await this.#storage.set(keyOf(id), { revision, document });
    this.#documents.set(id, stored);
    const savedAt = new Date().toISOString();
    void this.#queue.take(() => this.#addToHistory(id, { revision, savedAt, document }));
  }

  /** Never rejects. */
  async #addToHistory(id: string, revision: Revision): Promise<void> {
    if (!this.#documents.has(id)) return;
    try {
      const earlier = await this.#readHistory(id);
      const kept = [revision, ...earlier.slice(0, KEPT_REVISIONS - 1)];
      await this.#storage.set(historyKeyOf(id), kept);
    } catch (error) {
      this.#log.error("could not store a revision of an automation", { id, error });
    }
  }

  async #readHistory(id: string): Promise<readonly Revision[]> {
    const stored = await this.#storage.get(historyKeyOf(id));
    return Array.isArray(stored) ? (stored as Revision[]) : [];
  }
}

/** The entity tag of a revision. */
export const etagOf = ({ revision }: Pick<StoredDocument, "revision">) => `"${revision}"`;

/** Checks an `If-Match` header (RFC 9110, 13.1.1). Weak tags never match. */
function requireRevision(revision: number, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  if (ifMatch.split(",").some((tag) => tag.trim() === `"${revision}"`)) return;
  throw new MantelError(
    "revision_stale",
    `the automation has revision ${revision}, but ${ifMatch} was expected; read it again first`,
  );
}

const keyOf = (id: string) => `doc-${id}`;
const historyKeyOf = (id: string) => `history-${id}`;

/** An id from a name, with a number if it is taken: `hall-light`, `hall-light-2`. */
function freeId(name: string, isTaken: (id: string) => boolean): string {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST_ID)
    .replaceAll(/^-+|-+$/g, "");
  const slug =
    words === "" || RESERVED.includes(words) ? `automation${words && `-${words}`}` : words;
  for (let number = 1; ; number++) {
    const id = number === 1 ? slug : `${slug}-${number}`;
    if (!isTaken(id)) return id;
  }
}
