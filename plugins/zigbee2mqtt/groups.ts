import type { Capability } from "@mantel/plugin-sdk";
import type { Feature } from "./feature.ts";

/** The capabilities that the members of a group have together. */
const TOGETHER = new Set(
  "on brightness colorTemperature color position tilt open close stop locked".split(" "),
);

interface Member {
  readonly features: readonly Feature[];
}

/**
 * The capabilities of a group: all that any member takes, because members ignore what they cannot do. So a group of
 * white and of coloured lamps has colour.
 */
export function featuresOfGroup(members: readonly Member[]): Feature[] {
  const found = new Map<string, Feature>();
  for (const feature of members.flatMap(({ features }) => features)) {
    const { name, write, group } = feature;
    if (!TOGETHER.has(name) || !write || group !== undefined) continue;
    const known = found.get(name);
    if (!known || spanOf(feature.capability) > spanOf(known.capability)) {
      found.set(name, ofGroup(feature));
    }
  }
  return [...found.values()];
}

/** Groups have no parts, and no locks among their canonical capabilities. */
function ofGroup(feature: Feature): Feature {
  const { part: _, pathInGroup: path, ...rest } = feature;
  return {
    ...rest,
    path,
    pathInGroup: path,
    ...(feature.name === "locked" ? { group: "main" } : {}),
  };
}

/** The width of a range: of two ranges, the group has the wider one. */
function spanOf(capability: Capability): number {
  if (capability.type !== "number") return 0;
  const { min = -Infinity, max = Infinity } = capability;
  return max - min;
}
