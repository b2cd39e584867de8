import { isDeepStrictEqual } from "node:util";
import type {
  Capability,
  DeviceCommand,
  DeviceDescription,
  DeviceState,
  DeviceUpdate,
  SceneDescription,
} from "@mantel/plugin-sdk";
import { textIn } from "./attributes.ts";
import { domainOf, viewOf } from "./convert.ts";
import { identityOf, isShown, nativeIdOf, NO_REGISTRIES, type Registries } from "./discovery.ts";
import { CODE, type Domain, isAssumed, type TemperatureUnit } from "./domain.ts";
import type { Entities, Entity } from "./entities.ts";
import { canGroup, NO_GROUPS, playerGroups, type PlayerGroups } from "./player-groups.ts";

/** Maximum number of devices that a bridge may publish. */
const MOST_DEVICES = 5_000;
const MOST_SCENES = 1_000;
const ICON = /^mdi:[a-z0-9-]{1,60}$/;

/** A published device or scene, with its entity. */
export interface Entry<Description> {
  readonly entityId: string;
  readonly description: Description;
}

/** The state that outlives a generation. */
export interface KeptDevices {
  readonly devices: readonly Entry<DeviceDescription>[];
  readonly scenes: readonly Entry<SceneDescription>[];
}

/** Settings of Home Assistant and its registries. */
export interface Setting {
  readonly unit: TemperatureUnit;
  readonly registries: Registries;
  /** False while it starts: what is missing then may only not be there yet. */
  readonly isRunning: boolean;
}

/** The devices and scenes of a Home Assistant, as last published to the host. */
export class DeviceStore {
  readonly #domains: ReadonlySet<string>;
  #devices = new Map<string, Entry<DeviceDescription>>();
  #scenes = new Map<string, Entry<SceneDescription>>();
  #nativeIds = new Map<string, string>();
  #setting: Setting = { unit: "°C", registries: NO_REGISTRIES, isRunning: false };
  #playerGroups: PlayerGroups = NO_GROUPS;
  /** Number of devices and scenes beyond the limit. */
  left = 0;

  constructor(domains: readonly string[]) {
    this.#domains = new Set(domains);
  }

  get unit(): TemperatureUnit {
    return this.#setting.unit;
  }

  get playerGroups(): PlayerGroups {
    return this.#playerGroups;
  }

  get kept(): KeptDevices {
    return { devices: [...this.#devices.values()], scenes: [...this.#scenes.values()] };
  }

  get devices(): DeviceDescription[] {
    return [...this.#devices.values()].map(({ description }) => description);
  }

  get scenes(): SceneDescription[] {
    return [...this.#scenes.values()].map(({ description }) => description);
  }

  /** The entities that are calendars, with their names. */
  get calendars(): { id: string; name: string }[] {
    return [...this.#devices.values()].flatMap(({ entityId, description }) =>
      entityId.startsWith("calendar.") ? [{ id: entityId, name: description.name }] : [],
    );
  }

  device(nativeId: string): Entry<DeviceDescription> | undefined {
    return this.#devices.get(nativeId);
  }

  scene(nativeId: string): Entry<SceneDescription> | undefined {
    return this.#scenes.get(nativeId);
  }

  nativeIdOf(entityId: string): string | undefined {
    return this.#nativeIds.get(entityId);
  }

  /** Takes over what an earlier generation, or an earlier run of the host, had. */
  restore({ devices, scenes }: KeptDevices): void {
    this.#devices = byNativeId(devices);
    this.#scenes = byNativeId(scenes);
    this.#index();
  }

  /** Rebuilds all devices from all entities. */
  rebuild(entities: Entities, setting: Setting): void {
    this.#setting = setting;
    const all = [...entities.all()].filter((entity) => this.#isWanted(entity));
    this.#playerGroups = this.#groupsOf(all);
    const devices = new Map<string, Entry<DeviceDescription>>();
    const scenes = new Map<string, Entry<SceneDescription>>();
    for (const entity of all) {
      const domain = domainOf(entity.domain);
      const description = domain ? this.#describe(entity, domain) : this.#describeScene(entity);
      const kept = { entityId: entity.id, description };
      if ("capabilities" in description)
        devices.set(description.nativeId, { ...kept, description });
      else scenes.set(description.nativeId, { ...kept, description });
    }
    if (!setting.isRunning) this.#keepMissing(devices, scenes);
    this.left = Math.max(0, devices.size - MOST_DEVICES) + Math.max(0, scenes.size - MOST_SCENES);
    this.#devices = new Map([...devices].slice(0, MOST_DEVICES));
    this.#scenes = new Map([...scenes].slice(0, MOST_SCENES));
    this.#index();
  }

  /**
   * Applies changed entities. Returns the updates to publish; an `undefined` among them means that the
   * description of a device or scene has changed, so that all of them must be rebuilt.
   */
  update(changed: readonly Entity[]): (DeviceUpdate | undefined)[] {
    return changed.flatMap((entity) => {
      const nativeId = this.#nativeIds.get(entity.id);
      const scene = nativeId === undefined ? undefined : this.#scenes.get(nativeId);
      if (scene) return isSameScene(scene, this.#describeScene(entity)) ? [] : [undefined];
      const before = nativeId === undefined ? undefined : this.#devices.get(nativeId);
      const domain = domainOf(entity.domain);
      if (!before || !domain) return [];
      // the other players have its name among their choices
      if (this.#canGroup(entity) !== this.#playerGroups.has(entity.id)) return [undefined];
      const description = this.#describe(entity, domain);
      if (!isSameDevice(before.description, description)) return [undefined];
      this.#devices.set(description.nativeId, { entityId: entity.id, description });
      return differences(before.description, description);
    });
  }

  /** Marks all devices as unavailable. Returns the updates. */
  lose(): DeviceUpdate[] {
    const lost = [...this.#devices].filter(([, { description }]) => description.available);
    return lost.map(([nativeId, kept]) => {
      const description = { ...kept.description, available: false };
      this.#devices.set(nativeId, { ...kept, description });
      return { nativeId, available: false };
    });
  }

  /** The values that wait for a command with which Home Assistant takes them. */
  storedValues(nativeId: string, { stored = [] }: Domain): DeviceCommand {
    const { state = {} } = this.#devices.get(nativeId)?.description ?? {};
    const known = stored.flatMap((field) => {
      const value = state[field];
      return value === undefined || value === null ? [] : [[field, value] as const];
    });
    return Object.fromEntries(known);
  }

  /** Takes over values of a confirmed command that Home Assistant does not report, or not yet. Returns the update. */
  store(nativeId: string, domain: Domain, command: DeviceCommand): DeviceUpdate[] {
    const entry = this.#devices.get(nativeId);
    const { stored = [], shownAsRequested = [] } = domain;
    const fields = [...stored, ...shownAsRequested];
    const values = Object.entries(command).filter(([field]) => fields.includes(field));
    if (!entry || values.length === 0) return [];
    const state = { ...entry.description.state, ...Object.fromEntries(values) };
    const description = { ...entry.description, state };
    this.#devices.set(nativeId, { ...entry, description });
    return differences(entry.description, description);
  }

  #isWanted(entity: Entity): boolean {
    return this.#domains.has(entity.domain) && isShown(entity, this.#setting.registries);
  }

  #groupsOf(all: readonly Entity[]): PlayerGroups {
    const { registries, isRunning } = this.#setting;
    const players = all
      .filter((entity) => this.#canGroup(entity))
      .map((entity) => ({ entityId: entity.id, name: identityOf(entity, registries).name }));
    const ids = new Set(all.map(({ id }) => id));
    const missing = isRunning ? [] : [...this.#devices.values()].filter(isKeptPlayer);
    const stillMissing = missing
      .filter(({ entityId }) => !ids.has(entityId))
      .map(({ entityId, description: { name } }) => ({ entityId, name }));
    return playerGroups(
      [...players, ...stillMissing].map((player) => ({
        ...player,
        platform: textIn(registries.entities.get(player.entityId) ?? {}, "platform") ?? "",
      })),
    );
  }

  /** A player that cannot be reached may not tell its features. */
  #canGroup(entity: Entity): boolean {
    if (canGroup(entity)) return true;
    const known = this.#devices.get(nativeIdOf(entity.id, this.#setting.registries));
    return entity.state === "unavailable" && known !== undefined && isKeptPlayer(known);
  }

  #describe(entity: Entity, domain: Domain): DeviceDescription {
    const { registries, unit } = this.#setting;
    const nativeId = nativeIdOf(entity.id, registries);
    const before = this.#devices.get(nativeId)?.description;
    const who = identityOf(entity, registries);
    const available = entity.state !== "unavailable";
    // what cannot be reached tells less of itself, and stays what it was
    if (!available && before) return { ...asItWas(before), ...who, available };
    const { kind, capabilities, state, extra, image, live } = viewOf(
      domain,
      entity,
      unit,
      this.#playerGroups,
    );
    return {
      nativeId,
      kind,
      ...who,
      available,
      ...(isAssumed(entity) ? { assumed: true } : {}),
      ...(image ? { image } : {}),
      ...(live ? { live } : {}),
      capabilities,
      state: completed(capabilities, state, before),
      ...(extra && {
        extra: { ...extra, state: completed(extra.capabilities, extra.state, before?.extra) },
      }),
    };
  }

  #describeScene(entity: Entity): SceneDescription {
    const { registries } = this.#setting;
    const nativeId = nativeIdOf(entity.id, registries);
    const { name, room } = identityOf(entity, registries);
    const isAvailable = entity.state !== "unavailable";
    const before = isAvailable ? undefined : this.#scenes.get(nativeId)?.description.icon;
    const icon = textIn(entity.attributes, "icon") ?? before ?? "";
    return {
      nativeId,
      name,
      ...(room === undefined ? {} : { room }),
      ...(ICON.test(icon) ? { icon } : {}),
      ...(isAvailable ? {} : { available: false }),
    };
  }

  /** Devices that are still missing keep their last known state. */
  #keepMissing(
    devices: Map<string, Entry<DeviceDescription>>,
    scenes: Map<string, Entry<SceneDescription>>,
  ): void {
    for (const [nativeId, kept] of this.#devices) {
      const description = { ...kept.description, available: false };
      if (!devices.has(nativeId)) devices.set(nativeId, { ...kept, description });
    }
    for (const [nativeId, kept] of this.#scenes) {
      const description = { ...kept.description, available: false };
      if (!scenes.has(nativeId)) scenes.set(nativeId, { ...kept, description });
    }
  }

  #index(): void {
    const all = [...this.#devices, ...this.#scenes];
    this.#nativeIds = new Map(all.map(([nativeId, { entityId }]) => [entityId, nativeId]));
  }
}

function byNativeId<T extends { readonly nativeId: string }>(
  kept: readonly Entry<T>[],
): Map<string, Entry<T>> {
  return new Map(kept.map((each) => [each.description.nativeId, each]));
}

/** True for a player that could play together with others. */
const isKeptPlayer = ({ description }: Entry<DeviceDescription>): boolean =>
  description.capabilities["group"] !== undefined;

/** Without what `identityOf` may leave out now. */
function asItWas({
  room: _room,
  info: _info,
  available: _available,
  ...device
}: DeviceDescription) {
  return device;
}

/** The state with all fields: what an entity does not tell now stays as it was, or is unknown. */
function completed(
  capabilities: Readonly<Record<string, Capability>>,
  state: DeviceState,
  before: Pick<DeviceDescription, "capabilities" | "state"> | undefined,
): DeviceState {
  const isSame = before && isDeepStrictEqual(before.capabilities, capabilities);
  const fields = Object.keys(capabilities).filter(
    (name) => capabilities[name]?.type !== "command" && name !== CODE,
  );
  return Object.fromEntries(
    fields.map((field) => {
      const known = isSame ? before.state[field] : null;
      return [field, state[field] !== undefined ? state[field] : (known ?? null)] as const;
    }),
  );
}

function isSameScene(one: Entry<SceneDescription>, other: SceneDescription): boolean {
  return isDeepStrictEqual(one.description, other);
}

function isSameDevice(one: DeviceDescription, other: DeviceDescription): boolean {
  return isDeepStrictEqual(identity(one), identity(other));
}

/** The devices without their states, and the scenes, as JSON. */
export function shapeOf({ devices, scenes }: KeptDevices): string {
  return JSON.stringify([devices.map(({ description }) => identity(description)), scenes]);
}

/** The description of a device without its state. */
function identity({ extra, ...device }: DeviceDescription): DeviceDescription {
  return {
    ...device,
    available: true,
    state: {},
    ...(extra && { extra: { ...extra, state: {} } }),
  };
}

function differences(before: DeviceDescription, now: DeviceDescription): DeviceUpdate[] {
  const { nativeId, available = true } = now;
  const state = changedIn(before.state, now.state);
  const extra = changedIn(before.extra?.state, now.extra?.state);
  if (!state && !extra && before.available === available) return [];
  return [{ nativeId, available, ...(state && { state }), ...(extra && { extra }) }];
}

/** The changed values; `undefined` if there are none. */
function changedIn(before: DeviceState = {}, now: DeviceState = {}): DeviceState | undefined {
  const changed = Object.entries(now).filter(
    ([field, value]) => !isDeepStrictEqual(before[field], value),
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
