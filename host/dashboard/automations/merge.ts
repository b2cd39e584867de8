import { sameJson } from "../editor/document.ts";
import { type AutomationDocument, contentOf } from "./document.ts";

/** The parts of an automation that are merged as a whole. */
export const MERGED = [
  "name",
  "description",
  "enabled",
  "mode",
  "triggers",
  "conditions",
  "actions",
] as const;
export type MergedPart = (typeof MERGED)[number];

interface Versions {
  readonly base: AutomationDocument;
  readonly mine: AutomationDocument;
  readonly theirs: AutomationDocument;
}

/** The parts that both sides changed, and differently. */
export function conflictsOf({ base, mine, theirs }: Versions): readonly MergedPart[] {
  return MERGED.filter(
    (part) =>
      !sameJson(mine[part], base[part]) &&
      !sameJson(theirs[part], base[part]) &&
      !sameJson(mine[part], theirs[part]),
  );
}

/** Both sides' changes in one document. Of conflicts, those in `takeTheirs` are decided for their side. */
export function merged(
  versions: Versions,
  takeTheirs: ReadonlySet<MergedPart>,
): AutomationDocument {
  const { base, mine, theirs } = versions;
  const conflicts = conflictsOf(versions);
  const isTheirs = (part: MergedPart): boolean =>
    conflicts.includes(part) ? takeTheirs.has(part) : !sameJson(theirs[part], base[part]);
  const taken = MERGED.filter(isTheirs).map((part) => [part, theirs[part]] as const);
  return contentOf({ ...mine, ...Object.fromEntries(taken) });
}
