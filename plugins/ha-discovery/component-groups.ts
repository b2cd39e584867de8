import type { DeviceDescription, DeviceKind } from "@mantel/plugin-sdk";
import { importanceOf } from "@mantel/plugin-sdk/joined-devices";
import type { Fields } from "./abbreviations.ts";
import type { ComponentStates } from "./component-state.ts";
import { viaOf } from "./gateways.ts";
import { nameFields, type NamedFields } from "./named-fields.ts";
import { nativeId } from "./names.ts";

/** The components of one function of a device: one that leads, such as a light, and others that add to it. */
export interface ComponentGroup extends NamedFields {
  readonly nativeId: string;
  readonly kind: DeviceKind;
  readonly name: string;
  readonly room: string | undefined;
  readonly info: NonNullable<DeviceDescription["info"]>;
  /** The identifier of the gateway through which it is reached, if it names one. */
  readonly via: string | undefined;
  /** False when nothing leads: then it can be reached while any component of it can. */
  readonly isLed: boolean;
  /** The physical device; absent for a component that names none. */
  readonly of: PhysicalDevice | undefined;
}

interface PhysicalDevice {
  readonly id: string;
  readonly name: string | undefined;
  /** The function's own name. */
  readonly partName: string | undefined;
  /** True if the function has the components of the device that do not lead. */
  readonly hasReadings: boolean;
}

const NAME_LENGTH = 200;

/** Gives the id of the function that a physical device is; `undefined` if its functions are devices. */
export type MainOf = (device: string, functionIds: readonly string[]) => string | undefined;

/**
 * Groups components (docs/decisions/0068): each that can be lit, opened, locked … leads a function of its device. One
 * of these has the components that do not lead.
 */
export function groupComponents(all: Iterable<ComponentStates>, mainOf: MainOf): ComponentGroup[] {
  const devices = new Map<string, ComponentStates[]>();
  for (const known of all) {
    if (known.handler.scene) continue;
    const key = deviceKeyOf(known);
    const ofDevice = devices.get(key);
    if (ofDevice) ofDevice.push(known);
    else devices.set(key, [known]);
  }
  return [...devices].flatMap(([key, ofDevice]) =>
    functionsOf(key, ofDevice.toSorted(byPlace), mainOf),
  );
}

/** Primary components come before pictures, configuration and diagnostics, then alphabetically. */
function byPlace(a: ComponentStates, b: ComponentStates): number {
  return asideness(a) - asideness(b) || (a.identity < b.identity ? -1 : 1);
}

function asideness({ component: { fields }, handler }: ComponentStates): number {
  if (handler.picture) return 3;
  if (fields.get("entity_category")) return 2;
  return typeof fields.get("name") === "string" ? 1 : 0;
}

/** Components with the same first identifier, or connection, are of one device. */
function deviceKeyOf(known: ComponentStates): string {
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

function functionsOf(
  key: string,
  group: readonly ComponentStates[],
  mainOf: MainOf,
): ComponentGroup[] {
  const byName = group.filter(({ handler }) => handler.leads);
  const others = group.filter(({ handler }) => !handler.leads);
  const leaders = byName.toSorted(byImportance);
  const idOf = ({ identity }: ComponentStates) => nativeId(identity);
  const mainId = mainOf(key, leaders.map(idOf));
  const main = leaders.find((leader) => idOf(leader) === mainId) ?? byName[0];
  if (!main) return [unled(key, others)];
  return leaders.map((leader) => led(key, leader, leader === main ? others : undefined));
}

function byImportance(a: ComponentStates, b: ComponentStates): number {
  const [first, second] = [a, b].map(({ handler }) => importanceOf(handler.leads ?? "switch"));
  return asideness(a) - asideness(b) || (first ?? 0) - (second ?? 0);
}

/** @param others the components of the device that do not lead, if this function has them */
function led(
  key: string,
  leader: ComponentStates,
  others: readonly ComponentStates[] | undefined,
): ComponentGroup {
  const { device, fields, objectId } = leader.component;
  const kind = leader.handler.leads ?? "switch";
  const own = fields.get("name");
  const partName = typeof own === "string" && own !== "" ? own : undefined;
  return {
    ...nameFields(kind, leader, others ?? []),
    nativeId: nativeId(leader.identity),
    kind,
    name: nameOf(device, partName, objectId),
    room: textIn(device, "suggested_area"),
    info: infoOf(device),
    via: viaOf(device),
    isLed: true,
    of: device && {
      id: key,
      name: textIn(device, "name"),
      partName: partName?.slice(0, NAME_LENGTH),
      hasReadings: others !== undefined,
    },
  };
}

function unled(key: string, others: readonly ComponentStates[]): ComponentGroup {
  const [first] = others;
  const device = first?.component.device;
  const alone = others.length === 1 ? first?.component.fields.get("name") : undefined;
  const kind = kindOf(others);
  return {
    ...nameFields(kind, undefined, others),
    nativeId: nativeId(key),
    kind,
    name: nameOf(device, device ? undefined : alone, first?.component.objectId ?? "device"),
    room: textIn(device, "suggested_area"),
    info: infoOf(device),
    via: viaOf(device),
    isLed: false,
    of: undefined,
  };
}

const MEASURING = new Set(["sensor", "number", "select", "text", "switch"]);

/** The kind of a device with only sensors or triggers. */
function kindOf(all: readonly ComponentStates[]): DeviceKind {
  const main = all.filter(({ component }) => !component.fields.get("entity_category"));
  const platforms = new Set(main.map(({ component }) => component.platform));
  if (platforms.has("binary_sensor")) return "binary-sensor";
  if ([...platforms].some((platform) => MEASURING.has(platform))) return "sensor";
  if (all.some(isDoorbell)) return "doorbell";
  if (all.every(({ component }) => component.platform === "update")) return "update";
  return all.some(({ handler, component }) => handler.events || component.platform === "button")
    ? "button"
    : "sensor";
}

const isDoorbell = ({ component, handler }: ComponentStates) =>
  handler.events !== undefined && component.fields.get("device_class") === "doorbell";

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
