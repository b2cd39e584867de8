import { MantelError } from "@mantel/plugin-sdk/errors";

/** The entity tag of a document at a revision. */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/**
 * Checks an `If-Match` header (RFC 9110, section 13.1.1). Weak tags never match; without a header
 * any revision is accepted.
 *
 * @throws MantelError `revision_stale`, naming the current revision
 */
export function assertIfMatch(revision: number, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (tags.includes(entityTag(revision))) return;
  throw new MantelError(
    "revision_stale",
    `the document has revision ${revision}, but ${ifMatch} was expected; read it again first`,
  );
}
