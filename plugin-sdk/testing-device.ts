import type { Capabilities, Capability, Device, DeviceKind, StateValue } from "./device.ts";
import { canonicalCapability, KINDS } from "./vocabulary/index.ts";

/** A device of a test's home; other fields have defaults. */
export interface FakeDevice extends Partial<Omit<Device, "id" | "kind">> {
  /** `<bridge_kind>:<device_kind>:<number>`, such as `hue:light:3`. */
  readonly id: string;
}

/** The whole device, with defaults for the absent fields. */
export function toDevice(device: FakeDevice): Device {
  const [bridgeKind = "", kind = "", number = ""] = device.id.split(":");
  return {
    bridgeKind,
    kind: kind as DeviceKind,
    number: Number(number),
    bridge: bridgeKind,
    name: device.id,
    room: null,
    groups: [],
    info: { manufacturer: null, model: null, serial: null, firmware: null },
    available: true,
    lastSeenAt: null,
    stateChangedAt: null,
    revision: 0,
    capabilities: {},
    state: {},
    pending: {},
    ...device,
  };
}

/** The whole device. Absent capabilities are those that the values of its state suggest. */
export function withCapabilities(device: FakeDevice): Device {
  const whole = toDevice(device);
  if (device.capabilities) return whole;
  const capabilities: Capabilities = Object.fromEntries(
    Object.entries(whole.state).map(([name, value]) => [name, suggested(whole.kind, name, value)]),
  );
  return { ...whole, capabilities };
}

function suggested(kind: DeviceKind, name: string, value: StateValue): Capability {
  const canonical = Object.hasOwn(KINDS, kind) ? canonicalCapability(kind, name) : undefined;
  const { types: [first = "text"] = [], access, unit, min, max, values } = canonical ?? {};
  const type = value === null ? first : typeOf(value, values !== undefined);
  const fields = { number: { unit, min, max }, choice: { values } }[type as "number" | "choice"];
  const given = { type, ...fields, readOnly: access === "reading" ? true : undefined };
  return JSON.parse(JSON.stringify(given)) as Capability; // without absent fields
}

function typeOf(value: NonNullable<StateValue>, hasChoices: boolean): Capability["type"] {
  if (typeof value === "string") return hasChoices ? "choice" : "text";
  return typeof value === "object" ? "color" : (typeof value as "boolean" | "number");
}
