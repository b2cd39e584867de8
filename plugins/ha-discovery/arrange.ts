import type { Capability, DeviceDescription, DeviceKind } from "@mantel/plugin-sdk";
import type { Fields } from "./abbreviations.ts";
import type { ComponentStates } from "./component-state.ts";
import { viaOf } from "./gateways.ts";
import { fieldNames, freeName, nativeId } from "./names.ts";

/** A component as a part of a device, with what its fields are called there. */
export interface Part {
  readonly known: ComponentStates;
  readonly names: ReadonlyMap<string, string>;
}

/** A device, made of one component that leads and others that add to it. */
export interface Arranged {
  readonly nativeId: string;
  readonly kind: DeviceKind;
  readonly name: string;
  readonly room: string | undefined;
  readonly info: NonNullable<DeviceDescription["info"]>;
  readonly capabilities: Readonly<Record<string, Capability>>;
  readonly parts: readonly Part[];
  /** The identifier of the gateway through which it is reached, if it names one. */
  readonly via: string | undefined;
  /** False when nothing leads: then it can be reached while any part of it can. */
  readonly isLed: boolean;
}

/** Maximum capabilities of one device. */
const MOST_CAPABILITIES = 100;
const NAME_LENGTH = 200;

/**
 * Makes devices of components (docs/decisions/0021): of those that belong together, each that can be
 * lit, opened, locked … is a device, and the first of them has the rest as capabilities.
 */
export function arrange(all: Iterable<ComponentStates>): Arranged[] {
  const groups = new Map<string, ComponentStates[]>();
  for (const known of all) {
    if (known.handler.scene) continue;
    const key = groupOf(known);
    const group = groups.get(key);
    if (group) group.push(known);
    else groups.set(key, [known]);
  }
  return [...groups].flatMap(([key, group]) => devicesOf(key, group.toSorted(byPlace)));
}

/** Primary components come before configuration and diagnostics, then alphabetically. */
function byPlace(a: ComponentStates, b: ComponentStates): number {
  return asideness(a) - asideness(b) || (a.identity < b.identity ? -1 : 1);
}

function asideness({ component: { fields } }: ComponentStates): number {
  if (fields.get("entity_category")) return 2;
  return typeof fields.get("name") === "string" ? 1 : 0;
}

/** Components with the same first identifier, or connection, are of one device. */
function groupOf(known: ComponentStates): string {
  const { device } = known.component;
  const identifiers = device?.get("identifiers");
  const first: unknown = Array.isArray(identifiers) ? identifiers[0] : identifiers;
  if (typeof first === "string" || typeof first === "number") return `device:${first}`;
  const connections = device?.get("connections");
  const connection: unknown = Array.isArray(connections) ? connections[0] : undefined;
  return Array.isArray(connection)
    ? `connection:${connection.join(" ").slice(0, 300)}`
    : known.identity;
}

function devicesOf(key: string, group: readonly ComponentStates[]): Arranged[] {
  const leaders = group.filter(({ handler }) => handler.leads);
  const others = group.filter(({ handler }) => !handler.leads);
  if (leaders.length === 0) return [unled(key, others)];
  return leaders.map((leader, index) => led(leader, index === 0 ? others : []));
}

function led(leader: ComponentStates, others: readonly ComponentStates[]): Arranged {
  const { device, fields } = leader.component;
  const own = Object.keys(leader.handler.capabilities).map((name) => [name, name] as const);
  const part = { known: leader, names: new Map(own) };
  return {
    ...joined([part], others),
    nativeId: nativeId(leader.identity),
    kind: leader.handler.leads ?? "switch",
    name: nameOf(device, fields.get("name"), leader.component.objectId),
    room: textIn(device, "suggested_area"),
    info: infoOf(device),
    via: viaOf(device),
    isLed: true,
  };
}

function unled(key: string, others: readonly ComponentStates[]): Arranged {
  const [first] = others;
  const device = first?.component.device;
  const alone = others.length === 1 ? first?.component.fields.get("name") : undefined;
  return {
    ...joined([], others),
    nativeId: nativeId(key),
    kind: kindOf(others),
    name: nameOf(device, device ? undefined : alone, first?.component.objectId ?? "device"),
    room: textIn(device, "suggested_area"),
    info: infoOf(device),
    via: viaOf(device),
    isLed: false,
  };
}

const READINGS = new Set(["sensor", "number", "select", "text", "switch"]);

/** The kind of a device with only sensors or triggers. */
function kindOf(all: readonly ComponentStates[]): DeviceKind {
  const main = all.filter(({ component }) => !component.fields.get("entity_category"));
  const platforms = new Set(main.map(({ component }) => component.platform));
  if (platforms.has("binary_sensor")) return "binary-sensor";
  if ([...platforms].some((platform) => READINGS.has(platform))) return "sensor";
  return all.some(({ handler, component }) => handler.events || component.platform === "button")
    ? "button"
    : "sensor";
}

/** Fields shared by several components, such as the last action of a remote's triggers. */
const SHARED = new Set(["lastAction"]);

/** Adds the fields of others to a device's own, under names of their own. */
function joined(
  own: readonly Part[],
  others: readonly ComponentStates[],
): Pick<Arranged, "parts" | "capabilities"> {
  const capabilities: Record<string, Capability> = {};
  for (const { known } of own) Object.assign(capabilities, known.handler.capabilities);
  const parts = [...own];
  for (const known of others) {
    const names = new Map<string, string>();
    for (const [local, capability] of Object.entries(known.handler.capabilities)) {
      const name = SHARED.has(local)
        ? local
        : nameFor(known, local, new Set(Object.keys(capabilities)));
      if (Object.keys(capabilities).length >= MOST_CAPABILITIES) break;
      names.set(local, name);
      capabilities[name] = capability;
    }
    parts.push({ known, names });
  }
  return { parts, capabilities };
}

/** The one field of a component is called after the component. */
function nameFor(
  { component }: ComponentStates,
  local: string,
  taken: ReadonlySet<string>,
): string {
  const isOnly = local === "value" || local === "on";
  return freeName(isOnly ? fieldNames(component) : [local], taken);
}

/** The device's name, and after it the component's own if it has one. */
function nameOf(device: Fields | undefined, name: unknown, fallback: string): string {
  const whole = textIn(device, "name");
  const own = typeof name === "string" && name !== "" ? name : undefined;
  return inFull(whole, own ?? (whole === undefined ? fallback : undefined)).slice(0, NAME_LENGTH);
}

function inFull(whole: string | undefined, own: string | undefined): string {
  if (whole === undefined || own?.startsWith(whole)) return own ?? "device";
  return own === undefined ? whole : `${whole} ${own}`;
}

function infoOf(device: Fields | undefined): NonNullable<DeviceDescription["info"]> {
  const found = {
    manufacturer: textIn(device, "manufacturer"),
    model: textIn(device, "model"),
    serial: textIn(device, "serial_number"),
    firmware: textIn(device, "sw_version"),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function textIn(fields: Fields | undefined, name: string): string | undefined {
  const value = fields?.get(name);
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? text.slice(0, NAME_LENGTH) : undefined;
}
