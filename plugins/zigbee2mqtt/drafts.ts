import { ACCESS, type Expose } from "./exposes.ts";
import type { Feature, Form } from "./feature.ts";
import { formOf, isSettable, isTold, readOnly } from "./forms.ts";

type Details = Pick<Feature, "isConfirmedByAny" | "isUnused" | "leaves">;

/** A capability that has no place in its device yet. */
export interface Draft extends Form, Details {
  readonly expose: Expose;
  /** Its name if it keeps to the vocabulary of the place; otherwise it is an extra. */
  readonly name?: string;
  readonly path: readonly string[];
  readonly isTold: boolean;
  readonly isGettable: boolean;
}

/** A capability for an exposed value, only reported if the value cannot be set. */
export function draftOf(expose: Expose, form: Form, more: Partial<Draft> = {}): Draft {
  return {
    ...(isSettable(expose) ? form : readOnly(form)),
    expose,
    path: [expose.property],
    isTold: isTold(expose) && form.capability.type !== "command", // a command has no state
    isGettable: (expose.access & ACCESS.gettable) !== 0,
    ...more,
  };
}

/** The capabilities of values without a special meaning; a `composite` is an object in the payload. */
export function plainDrafts(expose: Expose, path: readonly string[] = []): Draft[] {
  const { type, features, property } = expose;
  if (type === "composite") {
    const inside = [...path, property];
    return features.flatMap((each) => plainDrafts(inherited(each, expose), inside));
  }
  if (features.length > 0) return features.flatMap((each) => plainDrafts(each, path));
  return property === "" ? [] : [draftOf(expose, formOf(expose), { path: [...path, property] })];
}

/** A value in a composite has what it does not say from the composite. */
function inherited(expose: Expose, { access, category, endpoint }: Expose): Expose {
  return {
    ...expose,
    access: expose.access || access,
    category: expose.category ?? category,
    endpoint: expose.endpoint ?? endpoint,
  };
}
