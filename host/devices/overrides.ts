import { basename } from "node:path";
import type { Device } from "@mantel/plugin-sdk/device";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { type Static, Type } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

/** The most devices with settings, far above any home; it limits what requests can add. */
const MAX_DEVICES = 5_000;
const MAX_GROUPS = 1_000;

const Strict = { additionalProperties: false } as const;
/** A name of a device or a group. */
export const Text = Type.String({ minLength: 1, maxLength: 200, pattern: "\\S" });
/** The most groups that a device is in. */
const MAX_OF_DEVICE = 100;
const Groups = Type.Array(Text, { maxItems: MAX_OF_DEVICE });

/** A merge patch of a user's settings for one device; `null` restores the bridge's value. */
export const DevicePatch = Type.Object(
  {
    name: Type.Optional(Nullable(Text)),
    /** Empty for no room, even if the bridge names one. */
    room: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
    /** The groups that the device is in, instead of those of its bridge. */
    groups: Type.Optional(Nullable(Groups)),
    hidden: Type.Optional(Nullable(Type.Boolean())),
  },
  { ...Strict, minProperties: 1 },
);
export type DevicePatch = Static<typeof DevicePatch>;

const Override = Type.Object(
  {
    name: Type.Optional(Text),
    room: Type.Optional(Type.String({ maxLength: 200 })),
    groups: Type.Optional(Groups),
    hidden: Type.Optional(Type.Literal(true)),
    /** Not listed until its bridge reaches it again. */
    forgotten: Type.Optional(Type.Literal(true)),
  },
  Strict,
);
type Override = Static<typeof Override>;
export const OverridesFile = Type.Object({
  version: Type.Literal(1),
  devices: Type.Record(Type.String(), Override),
  /** The names of groups that requests made, by id. */
  groups: Type.Optional(Type.Record(Type.String(), Text)),
});
type OverridesFile = Static<typeof OverridesFile>;

/** The fields of a device that a user may set, as its bridge describes them. */
export type DescribedPlace = Pick<Device, "name" | "room" | "groups">;

/** The users' settings of devices, which override the bridges: names, rooms, groups, and hidden devices. */
export class DeviceOverrides {
  readonly #file: DocumentFile<OverridesFile>;
  readonly #log: HostLog;
  readonly #queue = new SerialQueue();
  #overrides: ReadonlyMap<string, Override>;
  #groupNames: ReadonlyMap<string, string>;

  static async open(path: string, log: HostLog): Promise<DeviceOverrides> {
    const parse = (value: unknown) => check(OverridesFile, value, basename(path));
    const file = new DocumentFile({ path, parse, log, version: 1 });
    return new DeviceOverrides(file, await file.load(), log);
  }

  private constructor(
    file: DocumentFile<OverridesFile>,
    stored: OverridesFile | undefined,
    log: HostLog,
  ) {
    this.#file = file;
    this.#log = log;
    this.#overrides = new Map(Object.entries(stored?.devices ?? {}));
    this.#groupNames = new Map(Object.entries(stored?.groups ?? {}));
  }

  /** The names of groups that requests made, by id. */
  get groupNames(): ReadonlyMap<string, string> {
    return this.#groupNames;
  }

  /** A device's fields with the user's settings applied. */
  over(id: string, described: DescribedPlace): DescribedPlace & { hidden: boolean } {
    const {
      name = described.name,
      room = described.room,
      groups = described.groups,
      hidden = false,
    } = this.#overrides.get(id) ?? {};
    return { name, room: room === "" ? null : room, groups, hidden };
  }

  isForgotten(id: string): boolean {
    return this.#overrides.get(id)?.forgotten === true;
  }

  /** Resolves when the change is stored. @throws MantelError `invalid`, `disk_full` */
  change(id: string, input: unknown): Promise<void> {
    const patch = check(DevicePatch, input, "the patch");
    return this.#replace(id, (override) => merged(override, patch));
  }

  /**
   * Names a group, or removes its name, and sets the groups of devices with it: all or nothing.
   * @param groups the groups of each changed device, by its id
   * @throws MantelError `invalid`, `disk_full`
   */
  async changeGroup(
    id: string,
    name: string | undefined,
    groups: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    await this.#queue.take(() => {
      const names = new Map(this.#groupNames);
      if (name === undefined) names.delete(id);
      else names.set(id, name);
      if (names.size > MAX_GROUPS)
        throw new MantelError("invalid", `at most ${MAX_GROUPS} groups can be made`);
      const next = new Map(this.#overrides);
      for (const [device, of] of groups) {
        if (of.length > MAX_OF_DEVICE)
          throw new MantelError("invalid", `${device} can be in at most ${MAX_OF_DEVICE} groups`);
        next.set(device, { ...next.get(device), groups: [...of] });
      }
      return this.#save(next, names);
    });
  }

  /** Removes all settings, and hides the device until it reports. @throws MantelError `disk_full` */
  forget(id: string): Promise<void> {
    return this.#replace(id, () => ({ forgotten: true }));
  }

  /**
   * Records that a forgotten device has returned. If that cannot be stored, it is forgotten again after a restart.
   */
  heard(id: string): void {
    this.#replace(id, withoutForgotten).catch((error: unknown) => {
      this.#log.warn("could not save that the device returned", { device: id, error });
    });
  }

  #replace(id: string, change: (override: Override) => Override): Promise<void> {
    return this.#queue.take(async () => {
      const next = new Map(this.#overrides);
      const override = change(next.get(id) ?? {});
      if (Object.keys(override).length > 0) next.set(id, override);
      else next.delete(id);
      await this.#save(next, this.#groupNames);
    });
  }

  async #save(
    overrides: ReadonlyMap<string, Override>,
    groupNames: ReadonlyMap<string, string>,
  ): Promise<void> {
    if (overrides.size > MAX_DEVICES) {
      throw new MantelError("invalid", `at most ${MAX_DEVICES} devices can be renamed or hidden`);
    }
    await this.#file.write({
      version: 1,
      devices: Object.fromEntries(overrides),
      ...(groupNames.size > 0 && { groups: Object.fromEntries(groupNames) }),
    });
    this.#overrides = overrides;
    this.#groupNames = groupNames;
  }
}

function withoutForgotten(override: Override): Override {
  const { forgotten: _dropped, ...present } = override;
  return present;
}

function merged(override: Override, { name, room, groups, hidden }: DevicePatch): Override {
  const next = {
    ...override,
    ...(name === undefined ? {} : { name: name?.trim() }),
    ...(room === undefined ? {} : { room: room?.trim() }),
    ...(groups === undefined ? {} : { groups: groups === null ? undefined : unique(groups) }),
    ...(hidden === undefined ? {} : { hidden: hidden === true ? true : undefined }),
  };
  const definedFields = Object.entries(next).filter(([, value]) => value !== undefined);
  return Object.fromEntries(definedFields) as Override;
}

const unique = (names: readonly string[]): string[] => [
  ...new Set(names.map((name) => name.trim())),
];
