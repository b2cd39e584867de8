import assert from "node:assert/strict";
import { test } from "node:test";
import type { Proof } from "../../scripts/attack/proof.ts";
import { PROOFS, runProofs } from "../../scripts/attack/run-proofs.ts";

interface Choice {
  /** Without bubblewrap, and with the promises of that level. */
  readonly withoutKernel?: boolean;
}

/** The aims of attacks by plugins. */
export const OF_PLUGINS = [
  "files to read",
  "files to write",
  "the network",
  "the channel",
  "other processes",
  "the storage limit",
] as const;

/**
 * Tests that attacks with an aim do no harm, with bubblewrap if this machine has it. `npm run attack` tries also the
 * slow attacks, on each Node that Mantel runs on.
 */
export function testAttacks(
  aim: keyof typeof PROOFS,
  { withoutKernel = false }: Choice = {},
): void {
  const isTried = ({ attack, isSlow, heldFrom }: Proof): boolean =>
    !isSlow && !(withoutKernel && (attack === undefined || heldFrom === "kernel"));
  const proofs = PROOFS[aim].filter(isTried);
  const how = withoutKernel ? "without bubblewrap" : "as this machine confines them";
  test(`attacks that aim at ${aim} do no harm, ${how}`, async (t) => {
    for await (const outcome of runProofs(proofs, {
      program: process.execPath,
      withoutKernel,
    })) {
      const skip = outcome.isSkipped && outcome.detail;
      await t.test(`${outcome.attack} (${outcome.level})`, { skip }, () => {
        assert.ok(outcome.isHeld || !outcome.isPromised, outcome.detail);
      });
    }
  });
}
