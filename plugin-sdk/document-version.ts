import { MantelError } from "./errors.ts";

/** Converts a document to the next version. The result is validated like any other content. */
export type Migration = (document: unknown) => unknown;

/** The versions of one kind of document. A document without a `version` field has version 0. */
export interface Versions {
  /** The version that this program writes. */
  readonly version: number;
  /** `migrations[n]` converts a document from version n to version n + 1. */
  readonly migrations: Readonly<Record<number, Migration>>;
}

/** A document that only a newer Mantel can read. It is not damaged and must not be overwritten. */
export class NewerDocument extends MantelError {
  constructor(name: string, found: number, known: number) {
    super(
      "invalid",
      `${name} has version ${found}, but this Mantel supports versions up to ${known}; start the newer Mantel that wrote it, or restore a backup of this version`,
    );
  }
}

/** The value of the document's `version` field, or 0 without a valid one. */
function versionOf(document: unknown): number {
  if (typeof document !== "object" || document === null || !Object.hasOwn(document, "version")) {
    return 0;
  }
  const { version } = document as { version: unknown };
  return typeof version === "number" && Number.isSafeInteger(version) ? version : 0;
}

/**
 * Migrates a document to the newest version, one step at a time. When a step is missing, the document is
 * returned unchanged, and its parser refuses it.
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
