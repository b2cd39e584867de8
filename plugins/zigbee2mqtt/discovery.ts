import type {
  Capabilities,
  DeviceDescription,
  DevicePart,
  SceneDescription,
} from "@mantel/plugin-sdk";
import { type DeviceLayout, layoutOf, type Part } from "./device-layout.ts";
import { parseExposes } from "./exposes.ts";
import type { Feature } from "./feature.ts";
import { featuresOfGroup } from "./groups.ts";

/** Reason for leaving out a device that is listed correctly. */
export const NOT_SUPPORTED = "Zigbee2MQTT does not support the device, or does not know it yet";

const MOST_DEVICES = 5_000;
const MOST_SCENES = 1_000;
const LONGEST_NAME = 200;
/** Maximum characters of all descriptions, because they are sent to the host in one message. */
const MOST_TEXT = 6 * 2 ** 20;

type Raw = Readonly<Record<string, unknown>>;

/** A device or group in the lists of the bridge. */
export interface Thing {
  /** The IEEE address, or `group:<id>`. It stays the same after renaming and pairing again. */
  readonly nativeId: string;
  /** The name used in its topics. */
  readonly topicName: string;
  readonly description: Omit<DeviceDescription, "state" | "available">;
  readonly features: readonly Feature[];
  /** The names of capabilities that were left out, because there are too many. */
  readonly leftOut: readonly string[];
  readonly isDisabled: boolean;
  /** True if it answers at any time; battery devices sleep. */
  readonly isAwake: boolean;
}

/** A scene, and the message that activates it. */
export interface ThingScene {
  readonly description: SceneDescription;
  /** The native id of the device or group that has it. */
  readonly owner: string;
  /** Set if the scene belongs to one of several endpoints. */
  readonly endpoint?: string;
  readonly id: number;
}

/** The content of both lists of a bridge. */
export interface Inventory {
  readonly things: readonly Thing[];
  readonly scenes: readonly ThingScene[];
  /** Listed devices that are not ready yet, for example while they are paired again. */
  readonly unready: ReadonlySet<string>;
  /** Reasons for leaving out entries, and their counts. */
  readonly ignored: ReadonlyMap<string, number>;
}

/** The content of `bridge/devices`. */
export interface DeviceList {
  readonly things: Map<string, Thing>;
  readonly scenes: ThingScene[];
  readonly unready: Set<string>;
  readonly ignored: Map<string, number>;
  /** Characters of all descriptions. */
  text: number;
}

export const emptyDeviceList = (): DeviceList => ({
  things: new Map(),
  scenes: [],
  unready: new Set(),
  ignored: new Map(),
  text: 0,
});

/** Reads one entry of `bridge/devices`. An invalid one is counted and left out. */
export function addDevice(list: DeviceList, raw: unknown): void {
  if (raw === undefined) return addThing(list, "an entry is too long");
  if (!isObject(raw) || raw["type"] === "Coordinator") return;
  if (!isObject(raw["definition"])) list.unready.add(textOf(raw["ieee_address"]));
  list.scenes.push(...scenesOfDevice(raw));
  addThing(list, deviceOf(raw));
}

function addThing(list: DeviceList, thing: Thing | string): void {
  const { things, ignored } = list;
  const leaveOut = (why: string) => void ignored.set(why, (ignored.get(why) ?? 0) + 1);
  if (typeof thing === "string") leaveOut(thing);
  else if (things.has(thing.nativeId)) leaveOut("it is listed twice");
  else if (things.size >= MOST_DEVICES) leaveOut(`there are more than ${MOST_DEVICES}`);
  else {
    list.text += JSON.stringify(thing.description).length;
    if (list.text > MOST_TEXT) leaveOut("all that is listed is too long");
    else things.set(thing.nativeId, thing);
  }
}

/** Combines the devices with the groups, the entries of `bridge/groups`. An invalid group is left out. */
export function inventoryOf(devices: DeviceList, groups: readonly unknown[]): Inventory {
  const rawGroups = groups.filter(isObject);
  const groupsOf = membershipsIn(rawGroups);
  const list: DeviceList = {
    ...devices,
    things: new Map(
      [...devices.things].map(([id, thing]) => [id, inGroups(thing, groupsOf.get(id) ?? [])]),
    ),
    ignored: new Map(devices.ignored),
  };
  for (const raw of rawGroups) addThing(list, groupOf(raw, devices.things));
  const scenes = [...devices.scenes, ...rawGroups.flatMap(scenesOfGroup)];
  const owned = scenes.filter(({ owner }) => list.things.has(owner));
  return {
    things: [...list.things.values()],
    scenes: distinct(owned).slice(0, MOST_SCENES),
    unready: list.unready,
    ignored: list.ignored,
  };
}

function inGroups(thing: Thing, groups: readonly string[]): Thing {
  return { ...thing, description: { ...thing.description, groups: groups.slice(0, 100) } };
}

/** The device, or the reason for leaving it out. */
function deviceOf(raw: Raw): Thing | string {
  const nativeId = raw["ieee_address"];
  const topicName = raw["friendly_name"];
  if (!isName(nativeId) || !isName(topicName)) return "a device has no address or no name";
  const definition = raw["definition"];
  if (!isObject(definition)) return NOT_SUPPORTED;
  const layout = layoutOf(parseExposes(definition["exposes"]));
  return {
    nativeId,
    topicName,
    features: layout.features,
    leftOut: layout.leftOut,
    isDisabled: raw["disabled"] === true,
    isAwake: raw["power_source"] !== "Battery",
    description: {
      nativeId,
      kind: layout.kind,
      name: nameOf(topicName),
      info: infoOf(raw, definition),
      ...capabilitiesOf(layout),
    },
  };
}

/** A group takes what any of its members takes: members ignore what they cannot do. */
function groupOf(raw: Raw, devices: ReadonlyMap<string, Thing>): Thing | string {
  const topicName = raw["friendly_name"];
  if (!isNumber(raw["id"]) || !isName(topicName)) return "a group has no id or no name";
  const nativeId = `group:${raw["id"]}`;
  const members = objectsIn(raw["members"]).flatMap(
    ({ ieee_address }) => devices.get(textOf(ieee_address)) ?? [],
  );
  const features = featuresOfGroup(members);
  return {
    nativeId,
    topicName,
    features,
    leftOut: [],
    isDisabled: false,
    isAwake: members.some(({ isAwake }) => isAwake),
    description: {
      nativeId,
      kind: "group",
      name: nameOf(topicName),
      ...capabilitiesOf({ features, parts: [] }),
    },
  };
}

/** The names of the groups of each device. */
function membershipsIn(groups: readonly Raw[]): Map<string, string[]> {
  const groupsOf = new Map<string, string[]>();
  for (const group of groups) {
    for (const { ieee_address } of objectsIn(group["members"])) {
      const names = groupsOf.get(textOf(ieee_address)) ?? [];
      const name = nameOf(textOf(group["friendly_name"]));
      groupsOf.set(textOf(ieee_address), names.includes(name) ? names : [...names, name]);
    }
  }
  return groupsOf;
}

function scenesOfDevice(raw: Raw): ThingScene[] {
  const owner = textOf(raw["ieee_address"]);
  const endpoints = isObject(raw["endpoints"]) ? Object.entries(raw["endpoints"]) : [];
  const isOne = endpoints.filter(([, each]) => scenesIn(each).length > 0).length < 2;
  return endpoints.flatMap(([endpoint, each]) =>
    scenesIn(each).map(({ id, name }) => ({
      owner,
      id,
      ...(isOne ? {} : { endpoint }),
      description: {
        nativeId: `${owner}/${endpoint}/${id}`.slice(0, LONGEST_NAME),
        name: nameOf(`${textOf(raw["friendly_name"])}: ${name}`),
      },
    })),
  );
}

function scenesOfGroup(raw: Raw): ThingScene[] {
  const owner = `group:${textOf(raw["id"])}`;
  return scenesIn(raw).map(({ id, name }) => ({
    owner,
    id,
    description: {
      nativeId: `${owner}/${id}`,
      name: nameOf(`${textOf(raw["friendly_name"])}: ${name}`),
    },
  }));
}

function scenesIn(input: unknown): { id: number; name: string }[] {
  const scenes = isObject(input) ? objectsIn(input["scenes"]) : [];
  return scenes.flatMap(({ id, name }) =>
    isNumber(id) ? [{ id, name: isName(name) ? name : `scene ${id}` }] : [],
  );
}

function distinct(scenes: readonly ThingScene[]): ThingScene[] {
  return [...new Map(scenes.map((scene) => [scene.description.nativeId, scene])).values()];
}

function infoOf(raw: Raw, definition: Raw): NonNullable<DeviceDescription["info"]> {
  const found = {
    manufacturer: definition["vendor"] ?? raw["manufacturer"],
    model: definition["model"] ?? raw["model_id"],
    firmware: raw["software_build_id"],
    serial: raw["ieee_address"],
  };
  const texts = Object.entries(found).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts.map(([key, value]) => [key, nameOf(String(value))]));
}

/** The capabilities of the device itself, of its parts and of its extras, without state. */
function capabilitiesOf({
  features,
  parts,
}: Pick<DeviceLayout, "features" | "parts">): Pick<
  DeviceDescription,
  "capabilities" | "parts" | "extra"
> {
  const those = (isThat: (feature: Feature) => boolean) =>
    Object.fromEntries(features.filter(isThat).map(({ name, capability }) => [name, capability]));
  const extras = features.flatMap(({ name, capability, group }) =>
    group === undefined ? [] : [[name, { ...capability, group }] as const],
  );
  return {
    capabilities: those(({ part, group }) => part === undefined && group === undefined),
    ...(parts.length === 0 ? {} : { parts: parts.map((part) => describePart(part, those)) }),
    ...(extras.length === 0
      ? {}
      : { extra: { capabilities: Object.fromEntries(extras), state: {} } }),
  };
}

function describePart(
  { id, kind, name }: Part,
  those: (isThat: (feature: Feature) => boolean) => Capabilities,
): DevicePart {
  return { id, kind, name, capabilities: those(({ part }) => part === id), state: {} };
}

/** Names and numbers as text; an empty text for other values. */
function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

const nameOf = (text: string): string => text.slice(0, LONGEST_NAME) || "?";

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST_NAME;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isObject(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectsIn(value: unknown): Raw[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
