import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { TestedCapability } from "@mantel/plugin-sdk/conformance";
import { canonicalCapability } from "@mantel/plugin-sdk/vocabulary";

const FILE = resolve(import.meta.dirname, "../fixtures/conforming-devices.json");
/** From most to least. */
const RANKS = ["set", "sent", "read"] as const;

/** By kind, the canonical capabilities and what was done with them. */
type ByKind = Readonly<Record<string, Readonly<Record<string, TestedCapability["tested"]>>>>;

/**
 * Asserts that the page about devices says what a bridge was tested with: what the conformance suite has just done with
 * the canonical capabilities of its devices. With `WRITE_CONFORMING_DEVICES=1` stores it for the page instead;
 * `npm run format` and `npm run device-docs` follow.
 */
export async function assertListed(
  bridge: string,
  capabilities: readonly TestedCapability[],
): Promise<void> {
  const tested = byKind(capabilities);
  const stored = JSON.parse(await readFile(FILE, "utf8")) as Record<string, ByKind>;
  if (process.env["WRITE_CONFORMING_DEVICES"] === "1") {
    const all = Object.entries({ ...stored, [bridge]: tested }).toSorted(byName);
    await writeFile(FILE, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    return;
  }
  assert.deepEqual(stored[bridge], tested, "run this test with WRITE_CONFORMING_DEVICES=1");
}

/** Of several devices of a kind, the one that was tested most counts. */
function byKind(capabilities: readonly TestedCapability[]): ByKind {
  const kinds = new Map<string, Map<string, TestedCapability["tested"]>>();
  for (const { kind, capability, tested } of capabilities) {
    const name = capability.replace(/^parts\/.*\//, "");
    if (name.startsWith("extra/") || !canonicalCapability(kind, name)) continue;
    const names = kinds.get(kind) ?? new Map<string, TestedCapability["tested"]>();
    kinds.set(kind, names);
    const known = names.get(name);
    const isMore = !known || RANKS.indexOf(tested) < RANKS.indexOf(known);
    if (isMore) names.set(name, tested);
  }
  const sorted = [...kinds].toSorted(byName);
  return Object.fromEntries(
    sorted.map(([kind, names]) => [kind, Object.fromEntries([...names].toSorted(byName))]),
  );
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one.localeCompare(other);
