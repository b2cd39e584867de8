import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import { canonicalCapability } from "@mantel/plugin-sdk/vocabulary";

const FILE = resolve(import.meta.dirname, "../fixtures/conforming-devices.json");

/** The canonical capabilities by kind, of devices and their parts. */
type ByKind = Readonly<Record<string, readonly string[]>>;

/**
 * Asserts that the page about devices names what a bridge was tested with: the canonical capabilities of the devices
 * that have just passed the conformance suite. With `WRITE_CONFORMING_DEVICES=1` stores them for the page instead;
 * `npm run format` and `npm run device-docs` follow.
 */
export async function assertListed(
  bridge: string,
  devices: Iterable<DeviceDescription>,
): Promise<void> {
  const tested = capabilitiesByKind(devices);
  const stored = JSON.parse(await readFile(FILE, "utf8")) as Record<string, ByKind>;
  if (process.env["WRITE_CONFORMING_DEVICES"] === "1") {
    const all = Object.entries({ ...stored, [bridge]: tested }).toSorted(([a], [b]) =>
      a.localeCompare(b),
    );
    await writeFile(FILE, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    return;
  }
  assert.deepEqual(stored[bridge], tested, "run this test with WRITE_CONFORMING_DEVICES=1");
}

function capabilitiesByKind(devices: Iterable<DeviceDescription>): ByKind {
  const byKind = new Map<string, Set<string>>();
  for (const device of devices) {
    for (const { kind, capabilities } of [device, ...(device.parts ?? [])]) {
      const names = byKind.get(kind) ?? new Set();
      byKind.set(kind, names);
      for (const name of Object.keys(capabilities)) {
        if (canonicalCapability(kind, name)) names.add(name);
      }
    }
  }
  const sorted = [...byKind].toSorted(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(sorted.map(([kind, names]) => [kind, [...names].toSorted()]));
}
