import { Type, type Static } from "typebox";
import { DEVICE_KINDS } from "./device.ts";
import { Strict } from "./schema.ts";

const KIND = `(${[...DEVICE_KINDS, "scene"].join("|")}):\\*`;
const DEVICE = "[a-z][a-z0-9]{0,30}:[a-z][a-z-]{0,30}:[1-9]\\d{0,14}";
const SCENE = "[a-z][a-z0-9]{0,30}:scene:[a-z0-9][a-z0-9-]{0,99}";

const listOf = (pattern: string) =>
  Type.Optional(
    Type.Array(Type.String({ pattern: `^(${pattern})$`, maxLength: 150 }), {
      uniqueItems: true,
      maxItems: 200,
    }),
  );

/**
 * The parts of the home that a plugin reads and controls through `ctx.home`: `light:*` for a kind of device, `scene:*`
 * for every scene, the id of a device or scene, or `*` for every device and scene. `calendar` and `location` (the
 * coordinates of the home) are read only if named, also beside `*`.
 */
export const HomePermissions = Type.Object(
  {
    /** Such as `light:*`, `scene:*`, `hue:light:3`, `calendar`, `location`; `*` is every device and scene. */
    read: listOf(`\\*|calendar|location|${KIND}|${DEVICE}|${SCENE}`),
    /** Such as `light:*`, `scene:*`, `hue:light:3`; `*` is every device and scene. */
    control: listOf(`\\*|${KIND}|${DEVICE}|${SCENE}`),
  },
  Strict,
);
export type HomePermissions = Static<typeof HomePermissions>;

/** True if the entries include a device or scene, by its id. */
export function includesPart(entries: readonly string[] | undefined, id: string): boolean {
  if (!entries) return false;
  return entries.includes("*") || entries.includes(id) || entries.includes(kindEntryOf(id));
}

/** The entry for all devices of the kind of this one, or for all scenes: `light:*` for `hue:light:3`. */
export function kindEntryOf(id: string): string {
  const [, kind = ""] = id.split(":");
  return `${kind}:*`;
}

/** The meaning of an entry, and the kind or id in it. */
export function kindOfHomeEntry(
  entry: string,
): readonly [
  kind: "all" | "calendar" | "location" | "scenes" | "kind" | "scene" | "device",
  name: string,
] {
  if (entry === "*") return ["all", entry];
  if (entry === "calendar" || entry === "location") return [entry, entry];
  if (entry === "scene:*") return ["scenes", entry];
  if (entry.endsWith(":*")) return ["kind", entry.slice(0, -2)];
  return [kindEntryOf(entry) === "scene:*" ? "scene" : "device", entry];
}
