import type { Device } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Static, Type } from "typebox";
import { invalid } from "../validate.ts";
import { Text } from "./overrides.ts";

/** Devices that are commanded together. Its name is in the list `groups` of each of them. */
export const Group = Type.Object({
  /** The name, unless a request made the group with another id. */
  id: Type.String(),
  name: Text,
  /** The ids of its devices. */
  devices: Type.Array(Type.String({ maxLength: 300 }), { maxItems: 2_000 }),
});
export type Group = Static<typeof Group>;

/** The groups of devices, and those that requests made, also without a device; ordered by name. */
export function groupsOf(devices: readonly Device[], names: ReadonlyMap<string, string>): Group[] {
  const members = new Map([...names.values()].map((name): [string, string[]] => [name, []]));
  for (const { id, groups } of devices) {
    for (const name of groups) members.set(name, [...(members.get(name) ?? []), id]);
  }
  const idsByName = new Map([...names].map(([id, name]) => [name, id]));
  return [...members]
    .map(([name, ids]) => ({ id: idsByName.get(name) ?? name, name, devices: ids }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/**
 * The groups of each device that a change of a group changes.
 * @param change the name before, absent for a new group; and the group afterwards, absent if it is removed
 */
export function regroup(
  devices: readonly Device[],
  { from, to }: { readonly from?: string | undefined; readonly to?: Omit<Group, "id"> },
): Map<string, string[]> {
  const members = new Set(to?.devices);
  const changed = new Map<string, string[]>();
  for (const { id, groups } of devices) {
    const others = groups.filter((name) => name !== from && name !== to?.name);
    const next = to && members.has(id) ? [...others, to.name] : others;
    const isSame = next.length === groups.length && next.every((name) => groups.includes(name));
    if (!isSame) changed.set(id, next);
  }
  return changed;
}

/** @throws MantelError `conflict` if another group has the name */
export function requireFree(groups: readonly Group[], id: string, name: string): void {
  const other = groups.find((group) => group.name === name && group.id !== id);
  if (!other) return;
  throw new MantelError("conflict", `the group "${other.id}" has the name "${name}"`);
}

/** @throws MantelError `invalid`, with each id of no device */
export function requireDevices(ids: readonly string[], isKnown: (id: string) => boolean): void {
  const faults = ids.flatMap((id, at) =>
    isKnown(id) ? [] : [{ pointer: `/devices/${at}`, detail: `is ${id}; no device has this id` }],
  );
  if (faults.length > 0) throw invalid("the group", faults);
}
