import type { Stage } from "./stage.ts";

/** A host answers in a few milliseconds; this is for a machine that is busy. */
export const LONGEST_STALL_MS = 2_000;

/** The confinement of a plugin's process: `confinement.level` in `GET /modules`. */
export type Level = "kernel" | "permission-model" | "none";

/** The levels that promise something. */
export type PromisedLevel = Exclude<Level, "none">;

/** The report of a hostile plugin at its end. One that was ended or never finished has none. */
export interface AttackResult {
  readonly got?: string;
  readonly failed?: string;
}

/** An attack that worked once, and a look from outside at whether it works now. */
export interface Proof {
  /** Names the attack, in words. */
  readonly name: string;
  /** The weakest level that promises to hold it. */
  readonly heldFrom: PromisedLevel;
  /**
   * The body of an async function in the hostile plugin, with Node's modules, `facts` and what
   * `hostile-plugin.ts` offers. It returns what it got. Absent for an attack from outside: over HTTP, by a
   * browser, or by a client of the broker.
   */
  readonly attack?: string;
  /** `mantel.permissions` of the hostile plugin; it has none when absent. */
  readonly permissions?: object;
  /** `mantel.limits` of the hostile plugin; it has the usual ones when absent. */
  readonly limits?: object;
  /** Gives what this machine lacks for the attack, if anything: it is then skipped. */
  readonly missing?: () => Promise<string | undefined>;
  /** True for one that takes too long for the test suite. */
  readonly isSlow?: boolean;
  /** Gives the harm that was done, or `undefined` when there is none. */
  readonly look: (stage: Stage, told: AttackResult) => Promise<string | undefined>;
}
