import type { NodeProgram } from "./node-programs.ts";
import type { Proof } from "./proof.ts";
import { type Outcome, runProofs } from "./run-proofs.ts";

const LEVELS = ["kernel", "permission-model"] as const;
const DETAIL_LENGTH = 100;

/**
 * Tries attacks on each Node, with bubblewrap and without it, and prints a row for each. Gives true if
 * nothing is broken that its level promises to hold.
 */
export async function runAllProofs(
  proofs: readonly Proof[],
  nodes: readonly NodeProgram[],
): Promise<boolean> {
  let isHeld = nodes.length > 0;
  const width = Math.max(...proofs.map(({ name }) => name.length));
  const row = (...[attack, level, node, result, detail]: readonly string[]): void => {
    const parts = [attack?.padEnd(width), level?.padEnd(16), node?.padEnd(9), result?.padEnd(7)];
    console.log([...parts, detail?.slice(0, DETAIL_LENGTH)].join("  ").trimEnd());
  };
  row("attack", "level", "node", "result", "detail");
  for (const { program, version } of nodes) {
    for (const level of LEVELS) {
      const withoutKernel = level !== "kernel";
      // Attacks from outside meet no plugin's process that matters, so they are tried once.
      const tried = proofs.filter(({ attack }) => attack !== undefined || !withoutKernel);
      if (tried.length === 0) continue;
      for await (const outcome of runProofs(tried, { program, withoutKernel })) {
        row(outcome.attack, outcome.level, version, resultOf(outcome), detailOf(outcome));
        if (!outcome.isHeld && outcome.isPromised) isHeld = false;
      }
    }
  }
  return isHeld;
}

function resultOf({ isHeld, isSkipped }: Outcome): string {
  if (isSkipped) return "skipped";
  return isHeld ? "held" : "broken";
}

function detailOf({ isHeld, isPromised, detail }: Outcome): string {
  const oneLine = detail.replaceAll(/\s+/g, " ");
  return isHeld || isPromised ? oneLine : `not promised at this level: ${oneLine}`;
}
