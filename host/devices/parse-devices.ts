import { DeviceDescription, DeviceUpdate } from "@mantel/plugin-sdk/device";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { runWithoutPauses } from "../time-slices.ts";
import { check, faultsOf, invalid } from "../validate.ts";
import { faultsBelow, faultsOfState } from "./capability.ts";

const DEVICES_PER_BRIDGE = 5_000;
const CAPABILITIES_PER_DEVICE = 100;
const CHOICES_PER_CAPABILITY = 1_000;
const MOST_FAULTS = 1_000;
const CAPABILITY_NAME = /^[a-z][A-Za-z0-9]{0,63}$/;

/**
 * Parses the whole set of a bridge's devices from its process.
 * @throws MantelError `invalid`, with every fault
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

/**
 * Parses updates of a bridge's devices from its process.
 * @throws MantelError `invalid`, with every fault
 */
export function parseUpdates(bridgeId: string, input: unknown): DeviceUpdate[] {
  const updates = listOf(input, `an update of ${bridgeId}`);
  const faults: Fault[] = [];
  for (const [index, update] of updates.entries()) {
    const tooMany = faultsOfCounts(update);
    const found = tooMany.length > 0 ? tooMany : faultsOf(DeviceUpdate, update);
    faults.push(...faultsBelow(String(index), found));
    if (faults.length >= MOST_FAULTS) break;
  }
  if (faults.length > 0) throw invalid(`an update of ${bridgeId}`, faults);
  return updates as DeviceUpdate[];
}

function listOf(input: unknown, what: string): readonly unknown[] {
  return Array.isArray(input) ? input : check(Type.Array(Type.Unknown()), input, what);
}

/** Counted before validation: listing the faults of a huge object takes long. */
function faultsOfCounts(device: unknown): Fault[] {
  const { capabilities, state } = (device ?? {}) as Record<string, unknown>;
  for (const [name, part] of Object.entries({ capabilities, state })) {
    const count = typeof part === "object" && part !== null ? Object.keys(part).length : 0;
    if (count > CAPABILITIES_PER_DEVICE) {
      const detail = `has ${count} entries; it may have at most ${CAPABILITIES_PER_DEVICE}`;
      return [{ pointer: `/${name}`, detail }];
    }
  }
  return faultsOfChoices(capabilities);
}

function faultsOfChoices(capabilities: unknown): Fault[] {
  return Object.entries(capabilities ?? {}).flatMap(([name, capability]) => {
    const { values } = (capability ?? {}) as { values?: unknown };
    if (!Array.isArray(values) || values.length <= CHOICES_PER_CAPABILITY) return [];
    const detail = `has ${values.length} entries; it may have at most ${CHOICES_PER_CAPABILITY}`;
    return faultsBelow("capabilities", faultsBelow(name, [{ pointer: "/values", detail }]));
  });
}

function faultsOfDescription(device: unknown, seen: Set<string>): Fault[] {
  const tooMany = faultsOfCounts(device);
  if (tooMany.length > 0) return tooMany;
  const faults = faultsOf(DeviceDescription, device);
  return faults.length > 0 ? faults : faultsBesideSchema(device as DeviceDescription, seen);
}

function faultsBesideSchema(device: DeviceDescription, seen: Set<string>): Fault[] {
  const { nativeId, capabilities, state } = device;
  const faults = [
    ...faultsOfCapabilities(capabilities),
    ...faultsBelow("state", faultsOfState(capabilities, state)),
  ];
  if (seen.has(nativeId)) {
    faults.push({
      pointer: "/nativeId",
      detail: `is ${nativeId}, which another device of the list has`,
    });
  }
  seen.add(nativeId);
  return faults;
}

/** Rules that the schema cannot express: it ignores keys that its pattern does not match. */
function faultsOfCapabilities(capabilities: DeviceDescription["capabilities"]): Fault[] {
  const entries = Object.entries(capabilities);
  const faults = entries.flatMap(([name, capability]) => {
    if (!CAPABILITY_NAME.test(name)) {
      return faultsBelow(name, [
        { pointer: "", detail: "must be named in camelCase, of letters and digits" },
      ]);
    }
    const { min = -Infinity, max = Infinity } = capability.type === "number" ? capability : {};
    return min > max
      ? faultsBelow(name, [{ pointer: "/min", detail: `is ${min}, which is above max, ${max}` }])
      : [];
  });
  return faultsBelow("capabilities", faults);
}
