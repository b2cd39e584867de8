import { type Draft, draftOf, plainDrafts } from "./drafts.ts";
import { ACCESS, type Expose } from "./exposes.ts";
import { formOf, readOnly } from "./forms.ts";

const STUCK = "not_fully_locked";

/** A lock, and whether its bolt is stuck. */
export function lockDrafts({ features }: Expose): Draft[] {
  return features.flatMap((each) => {
    if (each.name === "state") {
      const leaves = (locked: unknown) => ({ locked: locked === true });
      return [draftOf(each, formOf(each), { name: "locked", leaves })];
    }
    if (each.name !== "lock_state" || !each.values.includes(STUCK)) return plainDrafts(each);
    const isKnown = (raw: unknown) => each.values.includes(String(raw));
    const jammed = readOnly({
      capability: { type: "boolean" },
      read: (raw) => (isKnown(raw) ? raw === STUCK : null),
    });
    return [
      draftOf({ ...each, access: each.access & ~ACCESS.settable }, jammed, { name: "jammed" }),
    ];
  });
}
