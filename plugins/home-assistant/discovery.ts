import type { DeviceDescription } from "@mantel/plugin-sdk";
import type { MessageBase } from "home-assistant-js-websocket";
import { textIn } from "./attributes.ts";
import { type Attributes, type Entity, record } from "./entities.ts";

const NAME_LENGTH = 200;

/** The used parts of the registries: stable ids, areas and manufacturers. */
export interface Registries {
  /** By entity id. */
  readonly entities: ReadonlyMap<string, Attributes>;
  /** By id. */
  readonly devices: ReadonlyMap<string, Attributes>;
  /** Names by id. */
  readonly areas: ReadonlyMap<string, string>;
}

export const NO_REGISTRIES: Registries = {
  entities: new Map(),
  devices: new Map(),
  areas: new Map(),
};

/** Events after which the registries are others. */
export const REGISTRY_EVENTS = [
  "entity_registry_updated",
  "device_registry_updated",
  "area_registry_updated",
] as const;

/** Reads all three. @throws as `ask` */
export async function readRegistries(
  ask: (message: MessageBase) => Promise<unknown>,
): Promise<Registries> {
  const [entities, devices, areas] = await Promise.all(
    ["entity", "device", "area"].map((name) => ask({ type: `config/${name}_registry/list` })),
  );
  const areaNames = byText(areas, "area_id");
  return {
    entities: byText(entities, "entity_id"),
    devices: byText(devices, "id"),
    areas: new Map([...areaNames].map(([id, area]) => [id, bounded(textIn(area, "name")) ?? id])),
  };
}

/** Domains whose entities are user-facing although Home Assistant counts them among settings and diagnostics. */
const SHOWN_DOMAINS = ["update", "device_tracker"];

/**
 * True if an entity is user-facing: not hidden, and not a setting or diagnostic of its device,
 * except a battery, an update or a tracker.
 */
export function isShown({ id, domain, attributes }: Entity, { entities }: Registries): boolean {
  const entry = entities.get(id) ?? {};
  if (textIn(entry, "hidden_by") !== undefined) return false;
  const category = textIn(entry, "entity_category");
  if (category === undefined || SHOWN_DOMAINS.includes(domain)) return true;
  return attributes["device_class"] === "battery";
}

/** The lasting id: that of the registry, which a rename keeps, or else the entity's own. */
export function nativeIdOf(entityId: string, { entities }: Registries): string {
  return bounded(textIn(entities.get(entityId) ?? {}, "id")) ?? entityId;
}

/** Name, room and maker of an entity. */
export function identityOf(
  { id, attributes }: Entity,
  { entities, devices, areas }: Registries,
): Pick<DeviceDescription, "name" | "room" | "info"> {
  const entry = entities.get(id) ?? {};
  const device = devices.get(textIn(entry, "device_id") ?? "") ?? {};
  const room = areas.get(textIn(entry, "area_id") ?? textIn(device, "area_id") ?? "");
  const name = textIn(attributes, "friendly_name") ?? textIn(entry, "name");
  const info = {
    manufacturer: bounded(textIn(device, "manufacturer")),
    model: bounded(textIn(device, "model")),
    serial: bounded(textIn(device, "serial_number")),
    firmware: bounded(textIn(device, "sw_version")),
  };
  const known = Object.entries(info).filter(([, value]) => value !== undefined);
  return {
    name: bounded(name) ?? id.slice(0, NAME_LENGTH),
    ...(room === undefined ? {} : { room }),
    ...(known.length === 0 ? {} : { info: Object.fromEntries(known) }),
  };
}

function byText(list: unknown, key: string): Map<string, Attributes> {
  const found = new Map<string, Attributes>();
  for (const each of Array.isArray(list) ? list : []) {
    const entry = record(each);
    const id = textIn(entry, key);
    if (id !== undefined) found.set(id, entry);
  }
  return found;
}

function bounded(text: string | undefined): string | undefined {
  return text?.trim().slice(0, NAME_LENGTH) || undefined;
}
