import { DeviceDescription, DeviceUpdate } from "@mantel/plugin-sdk/device";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { check, invalid } from "../validate.ts";
import { below, faultsOfState } from "./capability.ts";

const DEVICES_PER_BRIDGE = 5_000;
const CAPABILITIES_PER_DEVICE = 100;
const CAPABILITY_NAME = /^[a-z][A-Za-z0-9]{0,63}$/;

const Descriptions = Type.Array(DeviceDescription);
const Updates = Type.Array(DeviceUpdate);

/**
 * The whole set of a bridge's devices, as its process sent it.
 * @throws MantelError `invalid`, with every fault
 */
export function parseDescriptions(bridgeId: string, input: unknown): DeviceDescription[] {
  // Counted before anything is looked at: listing the faults of a huge list takes long.
  if (Array.isArray(input) && input.length > DEVICES_PER_BRIDGE) {
    throw new MantelError(
      "invalid",
      `${bridgeId} publishes ${input.length} devices; a bridge may have ${DEVICES_PER_BRIDGE}`,
    );
  }
  const what = `the device list of ${bridgeId}`;
  const devices = check(Descriptions, input, what);
  const seen = new Set<string>();
  const faults = devices.flatMap((device, index) => below(String(index), faultsOf(device, seen)));
  if (faults.length > 0) throw invalid(what, faults);
  return devices;
}

/**
 * Changes to a bridge's devices, as its process sent them.
 * @throws MantelError `invalid`, with every fault
 */
export function parseUpdates(bridgeId: string, input: unknown): DeviceUpdate[] {
  return check(Updates, input, `an update of ${bridgeId}`);
}

function faultsOf(device: DeviceDescription, seen: Set<string>): Fault[] {
  const { nativeId, capabilities, state } = device;
  const faults = [
    ...faultsOfCapabilities(capabilities),
    ...below("state", faultsOfState(capabilities, state)),
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

/** The schema cannot say these: it leaves keys alone that its pattern does not match. */
function faultsOfCapabilities(capabilities: DeviceDescription["capabilities"]): Fault[] {
  const entries = Object.entries(capabilities);
  if (entries.length > CAPABILITIES_PER_DEVICE) {
    return [
      {
        pointer: "/capabilities",
        detail: `has ${entries.length} entries; it may have ${CAPABILITIES_PER_DEVICE}`,
      },
    ];
  }
  const faults = entries.flatMap(([name, capability]) => {
    if (!CAPABILITY_NAME.test(name)) {
      return below(name, [
        { pointer: "", detail: "must be named in camelCase, of letters and digits" },
      ]);
    }
    const { min = -Infinity, max = Infinity } = capability.type === "number" ? capability : {};
    return min > max
      ? below(name, [{ pointer: "/min", detail: `is ${min}, which is above max, ${max}` }])
      : [];
  });
  return below("capabilities", faults);
}
