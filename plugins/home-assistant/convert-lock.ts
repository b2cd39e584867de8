import type { DeviceCommand } from "@mantel/plugin-sdk";
import { hasFeature, textIn, when } from "./attributes.ts";
import { type Call, CODE, commands, type Domain, SWITCH, YES_NO } from "./domain.ts";
import type { Attributes } from "./entities.ts";

const OPEN = 1;
const UNLATCHED = ["opening", "open", "unlocking", "unlocked"];

/** `lock`. Its code goes with each command, and is not stored anywhere. */
export const lock: Domain = {
  describe({ state, attributes }) {
    return {
      kind: "lock",
      capabilities: {
        locked: SWITCH,
        jammed: YES_NO,
        ...commands({ unlatch: hasFeature(attributes, OPEN) }),
        ...codeOf(attributes),
      },
      state: { locked: LOCKED[state] ?? null, jammed: state === "jammed" },
    };
  },

  calls({ locked, unlatch, code }) {
    return [
      ...(locked === undefined ? [] : [locked ? "lock.lock" : "lock.unlock"]),
      ...(unlatch === undefined ? [] : ["lock.open"]),
    ].map((service) => withCode(service, code));
  },

  confirms({ field }, { state }) {
    if (field === CODE) return "answered";
    return field === "unlatch" ? UNLATCHED.includes(state) : undefined;
  },

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

/** The field for the code of a lock or alarm that wants one. */
export function codeOf(attributes: Attributes) {
  const wantsCode = textIn(attributes, "code_format") !== undefined;
  return when(wantsCode, { [CODE]: { type: "text" } as const });
}

export function withCode(service: string, code: DeviceCommand[string] | undefined): Call {
  return code === undefined ? { service } : { service, data: { code } };
}
