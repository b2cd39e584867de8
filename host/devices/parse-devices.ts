import { faultsBelow, faultsOfState } from "@mantel/plugin-sdk/capability";
import {
  type Capabilities,
  DeviceDescription,
  type DeviceExtra,
  type DeviceKind,
  type DevicePart,
  DeviceUpdate,
} from "@mantel/plugin-sdk/device";
import { EXTRA } from "@mantel/plugin-sdk/device-sections";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { faultsOfExtras, faultsOfVocabulary } from "@mantel/plugin-sdk/vocabulary";
import { Type } from "typebox";
import { runWithoutPauses } from "../time-slices.ts";
import { check, faultsOf, invalid } from "../validate.ts";

const DEVICES_PER_BRIDGE = 5_000;
/** Of the device itself or of one part; and all together, with parts and extras. */
const CAPABILITIES_PER_SECTION = 100;
const CAPABILITIES_PER_DEVICE = 200;
const PARTS_PER_DEVICE = 50;
const CHOICES_PER_CAPABILITY = 1_000;
const MOST_FAULTS = 1_000;
/** Fewer, because a message is parsed at once: a thousand took a process that had not listed any before 107 ms. */
const MOST_FAULTS_OF_UPDATES = 100;
/** Longer native ids are not shown. */
const ID_LENGTH = 200;
const CAPABILITY_NAME = /^[a-z][A-Za-z0-9]{0,63}$/;
/** Keys of a command that address something else. */
const RESERVED: readonly string[] = ["parts", EXTRA];

/**
 * Parses the whole set of a bridge's devices from its process.
 * @throws MantelError `invalid`, with the first thousand faults
 */
export function parseDescriptions(bridgeId: string, input: unknown): DeviceDescription[] {
  return runWithoutPauses(parsingDescriptions(bridgeId, input));
}

/** The same in steps of one device each. */
export function* parsingDescriptions(
  bridgeId: string,
  input: unknown,
): Generator<undefined, DeviceDescription[]> {
  const devices = listOf(input, `the device list of ${bridgeId}`);
  if (devices.length > DEVICES_PER_BRIDGE) {
    throw new MantelError(
      "invalid",
      `${bridgeId} publishes ${devices.length} devices; a bridge may have at most ${DEVICES_PER_BRIDGE}`,
    );
  }
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const [index, device] of devices.entries()) {
    faults.push(...faultsBelow(String(index), faultsOfDescription(device, seen)));
    if (faults.length >= MOST_FAULTS) break;
    yield;
  }
  if (faults.length > 0) throw invalid(`the device list of ${bridgeId}`, faults);
  return devices as DeviceDescription[];
}

/** The valid updates of a message, and the faults of the others. */
export interface ParsedUpdates {
  readonly updates: readonly DeviceUpdate[];
  readonly faults: readonly Fault[];
}

/**
 * Parses updates of a bridge's devices from its process. After a hundred faults the rest is left out.
 * @throws MantelError `invalid` if the input is not a list
 */
export function parseUpdates(bridgeId: string, input: unknown): ParsedUpdates {
  const updates: DeviceUpdate[] = [];
  const faults: Fault[] = [];
  for (const update of listOf(input, `an update of ${bridgeId}`)) {
    const counts = faultsOfUpdateCounts(update);
    const found = counts.length > 0 ? counts : faultsOf(DeviceUpdate, update);
    if (found.length === 0) updates.push(update as DeviceUpdate);
    faults.push(...faultsOfDevice(fieldsOf(update)["nativeId"], found));
    if (faults.length >= MOST_FAULTS_OF_UPDATES) break;
  }
  return { updates, faults };
}

/** The same faults, with the device that the update is for; an author never sees its place in a message. */
export function faultsOfDevice(nativeId: unknown, faults: readonly Fault[]): readonly Fault[] {
  if (faults.length === 0 || typeof nativeId !== "string") return faults;
  if (nativeId.length > ID_LENGTH) return faults;
  return faults.map(({ pointer, detail }) =>
    pointer === "/nativeId"
      ? { pointer, detail } // names it
      : { pointer, detail: `of ${nativeId} ${detail}` },
  );
}

function listOf(input: unknown, what: string): readonly unknown[] {
  return Array.isArray(input) ? input : check(Type.Array(Type.Unknown()), input, what);
}

/** Counted before validation: listing the faults of a huge object takes long. */
function faultsOfCounts(device: unknown): Fault[] {
  const { parts, extra } = fieldsOf(device);
  const own = faultsOfSize(device);
  if (own.length > 0 || (parts === undefined && extra === undefined)) return own;
  const listed = Array.isArray(parts) ? parts : [];
  if (listed.length > PARTS_PER_DEVICE) return tooMany("/parts", listed.length, PARTS_PER_DEVICE);
  const count = [device, extra, ...listed]
    .map((section) => countOf(fieldsOf(section)["capabilities"]))
    .reduce((sum, each) => sum + each, 0);
  if (count > CAPABILITIES_PER_DEVICE) {
    const detail = `has ${count} capabilities with those of its parts and extras; it may have at most ${CAPABILITIES_PER_DEVICE}`;
    return [{ pointer: "", detail }];
  }
  return [
    ...listed.flatMap((part, index) => faultsOfPart(index, faultsOfSize(part))),
    ...faultsBelow(EXTRA, faultsOfSize(extra, CAPABILITIES_PER_DEVICE)),
  ];
}

function faultsOfUpdateCounts(update: unknown): Fault[] {
  const { state, parts, extra } = fieldsOf(update);
  const own = faultsOfSize({ state });
  if (own.length > 0 || (parts === undefined && extra === undefined)) return own;
  if (countOf(parts) > PARTS_PER_DEVICE) return tooMany("/parts", countOf(parts), PARTS_PER_DEVICE);
  if (countOf(extra) > CAPABILITIES_PER_DEVICE) {
    return tooMany("/extra", countOf(extra), CAPABILITIES_PER_DEVICE);
  }
  return Object.entries(fieldsOf(parts)).flatMap(([id, values]) => {
    const count = countOf(values);
    if (count <= CAPABILITIES_PER_SECTION) return [];
    return faultsBelow("parts", faultsBelow(id, tooMany("", count, CAPABILITIES_PER_SECTION)));
  });
}

/** The faults of the device itself, of a part, or of the extras. */
function faultsOfSize(section: unknown, most = CAPABILITIES_PER_SECTION): Fault[] {
  const { capabilities, state } = fieldsOf(section);
  for (const [name, part] of Object.entries({ capabilities, state })) {
    const count = countOf(part);
    if (count > most) return tooMany(`/${name}`, count, most);
  }
  return faultsOfChoices(capabilities);
}

function faultsOfChoices(capabilities: unknown): Fault[] {
  return Object.entries(capabilities ?? {}).flatMap(([name, capability]) => {
    const { values } = (capability ?? {}) as { values?: unknown };
    if (!Array.isArray(values) || values.length <= CHOICES_PER_CAPABILITY) return [];
    const faults = tooMany("/values", values.length, CHOICES_PER_CAPABILITY);
    return faultsBelow("capabilities", faultsBelow(name, faults));
  });
}

function tooMany(pointer: string, count: number, most: number): Fault[] {
  return [{ pointer, detail: `has ${count} entries; it may have at most ${most}` }];
}

const fieldsOf = (value: unknown) => (value ?? {}) as Readonly<Record<string, unknown>>;

const countOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? Object.keys(value).length : 0;

function faultsOfDescription(device: unknown, seen: Set<string>): Fault[] {
  const counts = faultsOfCounts(device);
  if (counts.length > 0) return counts;
  const faults = faultsOf(DeviceDescription, device);
  return faults.length > 0 ? faults : faultsBesideSchema(device as DeviceDescription, seen);
}

function faultsBesideSchema(device: DeviceDescription, seen: Set<string>): Fault[] {
  const { nativeId, kind, capabilities, state, parts, extra } = device;
  const faults =
    parts || extra
      ? [...faultsOfSections(device), ...faultsOfPartIds(parts ?? [])]
      : faultsOfSection({ kind, capabilities, state });
  if (seen.has(nativeId)) {
    faults.push({
      pointer: "/nativeId",
      detail: `is ${nativeId}, which another device of the list has`,
    });
  }
  seen.add(nativeId);
  return faults;
}

function faultsOfSections({ parts = [], extra, ...own }: DeviceDescription): Fault[] {
  return [
    ...faultsOfSection(own),
    ...parts.flatMap((part, index) => faultsOfPart(index, faultsOfSection(part))),
    ...(extra ? faultsBelow(EXTRA, faultsOfExtra(own.kind, extra)) : []),
  ];
}

function faultsOfExtra(kind: DeviceKind, extra: DeviceExtra): Fault[] {
  const misplaced = faultsOfExtras(kind, extra.capabilities);
  return [...faultsBelow("capabilities", misplaced), ...faultsOfSection(extra)];
}

/** The same faults, for a value in a part. */
function faultsOfPart(index: number, faults: readonly Fault[]): Fault[] {
  return faultsBelow("parts", faultsBelow(String(index), faults));
}

function faultsOfPartIds(parts: readonly DevicePart[]): Fault[] {
  const seen = new Set<string>();
  return parts.flatMap(({ id }, index) => {
    const isTaken = seen.has(id);
    seen.add(id);
    const fault = isTaken ? "which another part of the device has" : "which is reserved";
    if (!isTaken && !RESERVED.includes(id)) return [];
    return faultsOfPart(index, [{ pointer: "/id", detail: `is ${id}, ${fault}` }]);
  });
}

/** The faults of the device's own capabilities and state, of those of a part, or of the extras. */
function faultsOfSection({ kind, capabilities, state }: SectionLike): Fault[] {
  const misuses = kind ? faultsOfVocabulary(kind, capabilities) : [];
  return [
    ...faultsOfCapabilities(capabilities),
    ...faultsBelow("capabilities", misuses),
    ...faultsBelow("state", faultsOfState(capabilities, state, kind)),
  ];
}

type SectionLike = Pick<DevicePart, "capabilities" | "state"> & { readonly kind?: DeviceKind };

/** Rules that the schema cannot express: it ignores keys that its pattern does not match. */
function faultsOfCapabilities(capabilities: Capabilities): Fault[] {
  const entries = Object.entries(capabilities);
  const faults = entries.flatMap(([name, capability]) => {
    if (!CAPABILITY_NAME.test(name)) {
      return faultsBelow(name, [
        { pointer: "", detail: "must be named in camelCase, of letters and digits" },
      ]);
    }
    if (RESERVED.includes(name)) {
      return faultsBelow(name, [{ pointer: "", detail: "is reserved; choose another name" }]);
    }
    const { min = -Infinity, max = Infinity } = capability.type === "number" ? capability : {};
    return min > max
      ? faultsBelow(name, [{ pointer: "/min", detail: `is ${min}, which is above max, ${max}` }])
      : [];
  });
  return faultsBelow("capabilities", faults);
}
