import { MantelError } from "@mantel/plugin-sdk/errors";

/** The entity tag of a document at a revision. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/**
 * Checks an `If-Match` header (RFC 9110, section 13.1.1). Weak tags never match; absent means that
 * the caller does not care.
 *
 * @throws MantelError `revision_stale`, naming the revision there is
 */
export function assertCurrent(revision: number, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (tags.includes(entityTag(revision))) return;
  throw new MantelError(
    "revision_stale",
    `the document is at revision ${revision}, and ${ifMatch} was expected; read it again first`,
  );
}
