import { MantelError } from "./errors.ts";

/** Makes a document of the next version. What it gives is checked like any other content. */
export type Migration = (document: unknown) => unknown;

/** Versions of one kind of document. One without a `version` of its own counts as version 0. */
export interface Versions {
  /** The version that this program writes. */
  readonly version: number;
  /** `migrations[n]` makes a document of version n + 1 from one of version n. */
  readonly migrations: Readonly<Record<number, Migration>>;
}

/** A document that only a newer program can read. It is neither damaged nor to be overwritten. */
export class NewerDocument extends MantelError {
  constructor(name: string, found: number, known: number) {
    super(
      "invalid",
      `${name} is of version ${found}, and this Mantel knows up to ${known}; start the newer Mantel that wrote it, or restore a backup of this one's`,
    );
  }
}

/** The version that a document says it has, and 0 for one that says nothing of the kind. */
function versionOf(document: unknown): number {
  if (typeof document !== "object" || document === null || !Object.hasOwn(document, "version")) {
    return 0;
  }
  const { version } = document as { version: unknown };
  return typeof version === "number" && Number.isSafeInteger(version) ? version : 0;
}

/**
 * The document in the newest version, made step by step. Where a step is not known, the document is
 * given as it is, for its parser to refuse.
 * @throws NewerDocument
 */
export function migrated(document: unknown, { version, migrations }: Versions, name: string) {
  const found = versionOf(document);
  if (found > version) throw new NewerDocument(name, found, version);
  let current = document;
  for (let from = found; from < version; from++) {
    const step = migrations[from];
    if (!step) return document;
    current = step(current);
  }
  return current;
}
