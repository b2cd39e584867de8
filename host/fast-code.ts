import { setFlagsFromString } from "node:v8";

/**
 * The bytecode that V8 of Node 20 runs of a function before it makes fast code of it, in bytes. Compiled code is taken
 * only in a process with the flags it was compiled with, so the first must be V8's own value.
 */
const BYTES = { usual: 67_584, later: 1_500_000 } as const;
/** From Node 22 on V8 has no such flag, and a second compiler that costs less. */
const HAS_FLAG = Number.parseInt(process.versions.node, 10) === 20;

/** V8's flags for code of which most runs too seldom for fast code to be worth while. */
export const LATER_FAST_CODE = flags("later");

/**
 * Postpones fast code from now on: while a host starts, it takes a seventh of the CPU time. Returns a function that ends
 * this, which must be called before compiled code is saved.
 */
export function postponeFastCode(): () => void {
  LATER_FAST_CODE.forEach(setFlagsFromString);
  return () => flags("usual").forEach(setFlagsFromString);
}

function flags(when: keyof typeof BYTES): string[] {
  return HAS_FLAG ? [`--interrupt-budget=${BYTES[when]}`] : [];
}
