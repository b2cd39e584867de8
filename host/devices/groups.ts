import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Device } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Static, Type } from "typebox";
import { invalid } from "../validate.ts";
import { type DeviceOverrides, Text } from "./overrides.ts";

/** Devices that are commanded together. Its name is in the list `groups` of each of them. */
export const Group = Type.Object({
  /** Given by the request that made it; otherwise its name, with a number behind it if another group has that id. */
  id: Type.String(),
  name: Text,
  /** The ids of its devices. */
  devices: Type.Array(Type.String({ maxLength: 300 }), { maxItems: 2_000 }),
});
export type Group = Static<typeof Group>;

interface Dependencies {
  readonly devices: () => readonly Device[];
  readonly overrides: DeviceOverrides;
  /** Carries out a change when those before it have ended. */
  readonly inTurn: <T>(change: () => Promise<T>) => Promise<T>;
  /** Called with the devices whose groups have changed. */
  readonly changed: (ids: Iterable<string>, cause?: Cause) => void;
}

/** The groups of devices, and those that requests made, also without a device. */
export class DeviceGroups {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** All groups, ordered by name. */
  list(): Group[] {
    return groupsOf(this.#parts.devices(), this.#parts.overrides.groupNames);
  }

  /** @throws MantelError `group_unknown` */
  get(id: string): Group {
    const found = this.list().find((group) => group.id === id);
    if (!found) throw new MantelError("group_unknown", `no group has the id "${id}"`);
    return found;
  }

  /**
   * Makes a group, or gives one another name and other devices: all or nothing.
   * @throws MantelError `invalid`, `conflict` if another group has the name, `disk_full`
   */
  put(id: string, group: Omit<Group, "id">, cause?: Cause): Promise<Group> {
    return this.#parts.inTurn(async () => {
      const devices = this.#parts.devices();
      const groups = this.list();
      requireFree(groups, id, group.name);
      requireDevices(group.devices, devices);
      const from = groups.find((each) => each.id === id)?.name;
      await this.#store(id, regroup(devices, { from, to: group }), group.name, cause);
      return this.get(id);
    });
  }

  /** Removes a group; its devices stay. @throws MantelError `group_unknown`, `disk_full` */
  remove(id: string, cause?: Cause): Promise<void> {
    return this.#parts.inTurn(async () => {
      const { name: from } = this.get(id);
      await this.#store(id, regroup(this.#parts.devices(), { from }), undefined, cause);
    });
  }

  async #store(
    id: string,
    regrouped: ReadonlyMap<string, readonly string[]>,
    name: string | undefined,
    cause?: Cause,
  ): Promise<void> {
    await this.#parts.overrides.changeGroup(id, name, regrouped);
    this.#parts.changed(regrouped.keys(), cause);
  }
}

function groupsOf(devices: readonly Device[], names: ReadonlyMap<string, string>): Group[] {
  const members = new Map([...names.values()].map((name): [string, string[]] => [name, []]));
  for (const { id, groups } of devices) {
    for (const name of groups) members.set(name, [...(members.get(name) ?? []), id]);
  }
  const idsByName = new Map([...names].map(([id, name]) => [name, id]));
  const isFree = (id: string, name: string) => !names.has(id) && (id === name || !members.has(id));
  const freeId = (name: string): string => {
    let id = name;
    for (let number = 2; !isFree(id, name); number++) id = `${name} ${number}`;
    return id;
  };
  return [...members]
    .map(([name, ids]) => ({ id: idsByName.get(name) ?? freeId(name), name, devices: ids }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

/**
 * The groups of each device that a change of a group changes.
 * @param change the name before, absent for a new group; and the group afterwards, absent if it is removed
 */
function regroup(
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
function requireFree(groups: readonly Group[], id: string, name: string): void {
  const other = groups.find((group) => group.name === name && group.id !== id);
  if (!other) return;
  throw new MantelError("conflict", `the group "${other.id}" has the name "${name}"`);
}

/** @throws MantelError `invalid`, with each id of no device */
function requireDevices(ids: readonly string[], devices: readonly Device[]): void {
  const known = new Set(devices.map(({ id }) => id));
  const faults = ids.flatMap((id, at) =>
    known.has(id) ? [] : [{ pointer: `/devices/${at}`, detail: `is ${id}; no device has this id` }],
  );
  if (faults.length > 0) throw invalid("the group", faults);
}
