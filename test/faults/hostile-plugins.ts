import assert from "node:assert/strict";
import { test } from "node:test";
import type { Proof } from "../../scripts/attack/proof.ts";
import { PROOFS, runProofs } from "../../scripts/attack/run-proofs.ts";

/**
 * Tests that attacks do no harm, with bubblewrap if this machine has it, and without: there what
 * that level promises. `npm run attack` tries the slow attacks too, on each Node that Mantel runs on.
 */
export function testHostilePlugins(aims: readonly (keyof typeof PROOFS)[]): void {
  // A host under coverage runs its plugins without Node's permission model.
  delete process.env["NODE_V8_COVERAGE"];
  for (const withoutKernel of [false, true]) {
    const isTried = ({ attack, isSlow, heldFrom }: Proof): boolean =>
      !isSlow && !(withoutKernel && (attack === undefined || heldFrom === "kernel"));
    const proofs = aims.flatMap((aim): readonly Proof[] => PROOFS[aim]).filter(isTried);
    if (proofs.length === 0) continue;
    const how = withoutKernel ? "without bubblewrap" : "as this machine confines them";
    test(`attacks that aim at ${aims.join(" and ")} do no harm, ${how}`, async (t) => {
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
}
