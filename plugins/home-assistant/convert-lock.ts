import { textIn } from "./attributes.ts";
import { type Domain, SWITCH, YES_NO } from "./domain.ts";

/** A lock that wants a code is only shown: a code does not belong into a dashboard. */
export const lock: Domain = {
  describe({ state, attributes }) {
    const wantsCode = textIn(attributes, "code_format") !== undefined;
    return {
      kind: "lock",
      capabilities: { locked: wantsCode ? YES_NO : SWITCH, jammed: YES_NO },
      state: { locked: LOCKED[state] ?? null, jammed: state === "jammed" },
    };
  },
  calls: ({ locked }) => [{ service: locked ? "lock.lock" : "lock.unlock" }],
  fails: ({ id, state }, before) =>
    state === "jammed" && before.state !== "jammed" ? `${id} is jammed` : undefined,
};

/** A bolt that moves is still where it was. */
const LOCKED: Readonly<Record<string, boolean>> = {
  locked: true,
  unlocking: true,
  unlocked: false,
  locking: false,
  open: false,
  opening: false,
};
