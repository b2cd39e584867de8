import { joinParts, type DocumentParts, splitDocument } from "./document-parts.ts";
import { sameJson, type LayoutDocument } from "./document.ts";

/** The subject of a change: a widget or a page by its id, or a property of the layout. */
export interface ChangedItem {
  readonly kind: "widget" | "page" | "order" | "displays" | "grid" | "name";
  /** Empty for things that exist only once. */
  readonly id: string;
}

export interface Change extends ChangedItem {
  readonly how: "added" | "removed" | "moved" | "changed";
}

/** A thing that both sides changed in incompatible ways. */
export interface Conflict extends ChangedItem {
  readonly mine: Change["how"];
  readonly theirs: Change["how"];
}

export interface Merge {
  readonly conflicts: readonly Conflict[];
  /**
   * The document with the changes of both sides. `takeTheirs` lists conflicts to resolve with their
   * version; the others use mine.
   */
  readonly resolve: (takeTheirs: ReadonlySet<string>) => LayoutDocument;
}

interface Sides {
  readonly base: LayoutDocument;
  readonly mine: LayoutDocument;
  readonly theirs: LayoutDocument;
}

/** The key of a thing in `takeTheirs`. */
export function keyOf({ kind, id }: ChangedItem): string {
  return id === "" ? kind : `${kind}/${id}`;
}

/**
 * Three-way merge of two documents with a common base. Changes of only one side are taken,
 * separately for place, settings and arrangement for each screen. Different changes of both sides
 * are conflicts for the user. A page that one side removed stays if the other side put a widget on
 * it. The result has their revision.
 */
export function merge(sides: Sides): Merge {
  const documents = [sides.base, sides.mine, sides.theirs];
  const [base, mine, theirs] = partsOfAll(documents) as [
    DocumentParts,
    DocumentParts,
    DocumentParts,
  ];
  const keys = new Set([...base, ...mine, ...theirs].map(([key]) => key));
  const conflicts = new Map<string, Conflict>();
  for (const key of keys) {
    const [before, own, other] = [base.get(key), mine.get(key), theirs.get(key)];
    if (sameJson(before, own) || sameJson(before, other) || sameJson(own, other)) continue;
    const thing = changedItemOf(key);
    conflicts.set(keyOf(thing), {
      ...thing,
      mine: kindOfChange(thing, base, mine),
      theirs: kindOfChange(thing, base, theirs),
    });
  }
  return {
    conflicts: [...conflicts.values()],
    resolve(takeTheirs) {
      const parts = new Map<string, unknown>();
      for (const key of keys) {
        const thing = keyOf(changedItemOf(key));
        const own = mine.get(key);
        const untouched = sameJson(base.get(key), own);
        const other = conflicts.has(thing) ? takeTheirs.has(thing) : untouched;
        const part = other ? theirs.get(key) : own;
        if (part !== undefined) parts.set(key, part);
      }
      return joinParts(parts, sides);
    },
  };
}

/** The changes from `before` to `after`. */
export function changesBetween(before: LayoutDocument, after: LayoutDocument): Change[] {
  const [old, now] = partsOfAll([before, after]) as [DocumentParts, DocumentParts];
  const changed = [...new Set([...old, ...now].map(([key]) => key))].filter(
    (key) => !sameJson(old.get(key), now.get(key)),
  );
  const things = new Map(changed.map((key) => [keyOf(changedItemOf(key)), changedItemOf(key)]));
  return [...things.values()].map((thing) => ({ ...thing, how: kindOfChange(thing, old, now) }));
}

/** True if two documents are equal except for their revisions. */
export function sameContent(a: LayoutDocument, b: LayoutDocument): boolean {
  return a === b || changesBetween(a, b).length === 0;
}

/**
 * Only pages that exist in all documents are compared by order; the others count as added or
 * removed.
 */
function partsOfAll(documents: readonly LayoutDocument[]): DocumentParts[] {
  const [first, ...others] = documents.map(({ pages }) => new Set(pages.map(({ id }) => id)));
  const common = [...(first ?? [])].filter((id) => others.every((ids) => ids.has(id)));
  return documents.map((document) => splitDocument(document, new Set(common)));
}

function changedItemOf(key: string): ChangedItem {
  const [kind = "", id = ""] = key.split("/");
  return { kind: kind as ChangedItem["kind"], id };
}

function kindOfChange(
  { kind, id }: ChangedItem,
  before: DocumentParts,
  after: DocumentParts,
): Change["how"] {
  if (kind !== "widget" && kind !== "page") return "changed";
  const proof = kind === "widget" ? `widget/${id}/home` : `page/${id}/face`;
  if (!before.has(proof)) return "added";
  if (!after.has(proof)) return "removed";
  return sameJson(before.get(proof), after.get(proof)) || kind === "page" ? "changed" : "moved";
}
