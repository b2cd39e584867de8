import { abbreviations, type Fields, spelledOut } from "./abbreviations.ts";
import type { CreateHandler } from "./component-handler.ts";
import { DiscoveryError } from "./discovery-error.ts";

/** One component of a device, as it was announced, with all keys and topics in full. */
export interface Component {
  /** The place of the announcement: the topic and, within a device's announcement, its id. */
  readonly key: string;
  /** `light`, `sensor` … */
  readonly platform: string;
  /** The last part of the topic, or the id within a device's announcement. */
  readonly objectId: string;
  readonly fields: Fields;
  /** Creates its handler; absent for the platforms of Home Assistant. */
  readonly create?: CreateHandler;
  /** The device it belongs to, if announced. */
  readonly device: Fields | undefined;
}

/** The content of one announcement. */
export interface Announcement {
  readonly components: readonly Component[];
  /** True when the same components are about to be announced elsewhere, and stay until then. */
  readonly migrates: boolean;
  /** Components that are there but cannot be read, and why. */
  readonly refused: readonly DiscoveryError[];
}

const COMPONENTS_PER_DEVICE = 200;
const NAME = /^[a-zA-Z0-9_-]+$/;

/** The subscriptions for all announcements below a prefix. */
export function discoveryFilters(prefix: string): string[] {
  return [`${prefix}/+/+/config`, `${prefix}/+/+/+/config`];
}

/** The place announced by a topic below the discovery prefix, or `undefined` for other topics. */
export function placeOf(
  topic: string,
  prefix: string,
): { platform: string; objectId: string } | undefined {
  if (!topic.startsWith(`${prefix}/`)) return undefined;
  const parts = topic.slice(prefix.length + 1).split("/");
  if (parts.pop() !== "config" || parts.length < 2 || parts.length > 3) return undefined;
  if (!parts.every((part) => NAME.test(part))) return undefined;
  return { platform: parts[0] ?? "", objectId: parts.at(-1) ?? "" };
}

/**
 * Parses the payload of a discovery topic that is not empty.
 * @throws DiscoveryError if it is not an announcement
 */
export function readAnnouncement(
  topic: string,
  place: { platform: string; objectId: string },
  text: string,
): Announcement {
  const fields = spelledOut(objectIn(text), abbreviations.component);
  if (fields.get("migrate_discovery") === true) {
    return { components: [], migrates: true, refused: [] };
  }
  if (place.platform === "device") return readDevice(topic, fields);
  const component = componentOf({ ...place, key: topic }, fields, fields.get("device"));
  return { components: [component], migrates: false, refused: [] };
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new DiscoveryError("it is not JSON", { cause: error });
  }
  if (!isObject(value)) throw new DiscoveryError("it is not a JSON object");
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Properties that components inherit from their device. */
const INHERITED = [
  ...["availability", "availability_mode", "availability_template", "availability_topic"],
  ...["payload_available", "payload_not_available", "command_topic", "state_topic"],
  ...["encoding", "qos", "~"],
];

/** The announcement of a whole device; a component in it that only has a platform is not there. */
function readDevice(topic: string, fields: Fields): Announcement {
  const [device, list] = [fields.get("device"), fields.get("components")];
  if (!isObject(device) || !isObject(fields.get("origin")) || !isObject(list)) {
    throw new DiscoveryError("the announcement of a device needs device, origin and components");
  }
  const entries = Object.entries(list);
  if (entries.length > COMPONENTS_PER_DEVICE) {
    throw new DiscoveryError(`a device announces more than ${COMPONENTS_PER_DEVICE} components`);
  }
  const shared = INHERITED.flatMap((name) =>
    fields.has(name) ? [[name, fields.get(name)] as const] : [],
  );
  const components: Component[] = [];
  const refused: DiscoveryError[] = [];
  for (const [id, value] of entries) {
    try {
      const component = partOf(id, value, { topic, shared, device });
      if (component) components.push(component);
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error;
      refused.push(error);
    }
  }
  return { components, migrates: false, refused };
}

interface Common {
  readonly topic: string;
  readonly shared: readonly (readonly [string, unknown])[];
  readonly device: unknown;
}

function partOf(id: string, value: unknown, common: Common): Component | undefined {
  if (!isObject(value)) throw new DiscoveryError("a component of a device is not an object");
  const own = spelledOut(value, abbreviations.component);
  const platform = own.get("platform");
  if (typeof platform !== "string")
    throw new DiscoveryError("a component of a device has no platform");
  if (own.size === 1) return undefined;
  const place = {
    platform,
    objectId: id.slice(0, 200),
    key: `${common.topic}#${id.slice(0, 200)}`,
  };
  return componentOf(place, new Map([...common.shared, ...own]), common.device);
}

function componentOf(
  place: { platform: string; objectId: string; key: string },
  fields: Fields,
  device: unknown,
): Component {
  return {
    ...place,
    fields: withTopicsInFull(fields),
    device: isObject(device) ? spelledOut(device, abbreviations.device) : undefined,
  };
}

/** Puts what `~` stands for into topics, at whose start or end it may stand. */
function withTopicsInFull(fields: Fields): Fields {
  const base = fields.get("~");
  const full = new Map(fields);
  full.set("availability", availabilityOf(fields.get("availability"), base));
  if (typeof base !== "string") return full;
  for (const [key, value] of fields) {
    if (key.endsWith("topic") && typeof value === "string") full.set(key, withBase(value, base));
  }
  return full;
}

function withBase(topic: string, base: string): string {
  const start = topic.startsWith("~") ? base + topic.slice(1) : topic;
  return start.endsWith("~") ? start.slice(0, -1) + base : start;
}

function availabilityOf(value: unknown, base: unknown): readonly Fields[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter(isObject).map((each) => {
    const fields = new Map(spelledOut(each, abbreviations.component));
    const topic = fields.get("topic");
    if (typeof topic === "string" && typeof base === "string") {
      fields.set("topic", withBase(topic, base));
    }
    return fields;
  });
}
