import type { DeviceDescription, SceneDescription } from "@mantel/plugin-sdk";
import { featuresOf, kindOf } from "./convert.ts";
import { parseExposes } from "./exposes.ts";
import type { Feature } from "./feature.ts";

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
  ...{ things: new Map(), scenes: [], unready: new Set(), ignored: new Map(), text: 0 },
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
  const exposes = parseExposes(definition["exposes"]);
  const features = featuresOf(exposes);
  return {
    nativeId,
    topicName,
    features,
    isDisabled: raw["disabled"] === true,
    isAwake: raw["power_source"] !== "Battery",
    description: {
      nativeId,
      kind: kindOf(exposes),
      name: nameOf(topicName),
      info: infoOf(raw, definition),
      capabilities: capabilitiesOf(features),
    },
  };
}

/** A group has the features that all of its members have. */
function groupOf(raw: Raw, devices: ReadonlyMap<string, Thing>): Thing | string {
  const topicName = raw["friendly_name"];
  if (!isNumber(raw["id"]) || !isName(topicName)) return "a group has no id or no name";
  const nativeId = `group:${raw["id"]}`;
  const members = objectsIn(raw["members"]).flatMap(
    ({ ieee_address }) => devices.get(textOf(ieee_address)) ?? [],
  );
  const features = commonFeatures(members);
  return {
    nativeId,
    topicName,
    features,
    isDisabled: false,
    isAwake: members.some(({ isAwake }) => isAwake),
    description: {
      nativeId,
      kind: "group",
      name: nameOf(topicName),
      capabilities: capabilitiesOf(features),
    },
  };
}

const OF_GROUPS = new Set(["on", "brightness", "colorTemperature", "color", "position", "locked"]);

function commonFeatures(members: readonly Thing[]): Feature[] {
  const [first, ...others] = members.map(({ features }) =>
    features.filter(({ name, write }) => OF_GROUPS.has(name) && write),
  );
  const isCommon = ({ name, capability }: Feature) =>
    others.every((features) =>
      features.some((each) => each.name === name && each.capability.type === capability.type),
    );
  return (first ?? []).filter(isCommon);
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

function capabilitiesOf(features: readonly Feature[]): DeviceDescription["capabilities"] {
  return Object.fromEntries(features.map(({ name, capability }) => [name, capability]));
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
