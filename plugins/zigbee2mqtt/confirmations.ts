import type { DeviceCommand } from "@mantel/plugin-sdk";
import type { Thing } from "./discovery.ts";
import { type Feature, valueAt } from "./feature.ts";

/** A value that was set, and the way its device reports it. */
export interface Expected {
  readonly feature: Feature;
  readonly written: unknown;
}

/** The values to set, and the way they are reported. A light that is switched off is not sent a level. */
export function expectedOf({ features }: Thing, command: DeviceCommand): Expected[] {
  return Object.entries(command).flatMap(([name, value]) => {
    const feature = features.find((each) => each.name === name);
    if (!feature?.write || (name === "brightness" && command["on"] === false)) return [];
    return [{ feature, written: feature.write(value) }];
  });
}

/** Returns a function that gets each payload of a device, and returns true when all values have been reported. */
export function confirmsAll(expected: readonly Expected[]): (payload: unknown) => boolean {
  let open = expected;
  return (payload) => {
    open = open.filter((each) => !isConfirmed(each, payload));
    return open.length === 0;
  };
}

function isConfirmed({ feature, written }: Expected, payload: unknown): boolean {
  const raw = valueAt(payload, feature.path);
  if (raw === undefined || raw === null) return false;
  return feature.confirms?.(raw, written) ?? raw === written;
}
