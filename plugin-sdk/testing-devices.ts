import { functionsOf } from "./conformance/device-function.ts";
import { wrongValues } from "./conformance/wrong-values.ts";
import { DeviceDescription, DeviceUpdate } from "./device.ts";
import { type Fault, MantelError } from "./errors.ts";
import { faultsOfNumbers } from "./finite-numbers.ts";
import { faultsOf } from "./validate.ts";
import { faultsOfNames } from "./vocabulary/index.ts";

/**
 * Checks a list of devices as the host does when a bridge publishes it: form, names, values, and that each native id
 * is there once.
 * @throws MantelError `invalid`, with a JSON pointer for each fault
 */
export function checkDevices(devices: readonly DeviceDescription[]): void {
  const ids = new Set<string>();
  const errors = devices.flatMap((device, at) => {
    const twin = {
      pointer: "/nativeId",
      detail: `is ${device.nativeId}, which another device has`,
    };
    const faults = [...faultsOfDevice(device), ...(ids.has(device.nativeId) ? [twin] : [])];
    ids.add(device.nativeId);
    return faults.map((fault) => ({ ...fault, pointer: `/${at}${fault.pointer}` }));
  });
  refuse("the device list", errors);
}

/** The device after an update, which changes only the fields that it has. @throws MantelError `invalid` */
export function updated(device: DeviceDescription, update: DeviceUpdate): DeviceDescription {
  refuse(`an update of ${device.nativeId}`, faultsOfNumbers(update));
  refuse(`an update of ${device.nativeId}`, faultsOf(DeviceUpdate, update));
  const { nativeId, state, parts = {}, extra, ...rest } = update;
  const unknown = Object.keys(parts).find((id) => !device.parts?.some((part) => part.id === id));
  if (unknown !== undefined || (extra && !device.extra)) {
    const what = unknown === undefined ? "extras" : `part ${unknown}`;
    throw new MantelError("invalid", `${nativeId} was published without ${what}`);
  }
  const next = {
    ...device,
    ...rest,
    state: { ...device.state, ...state },
    ...(device.parts && {
      parts: device.parts.map((part) => ({ ...part, state: { ...part.state, ...parts[part.id] } })),
    }),
    ...(device.extra && {
      extra: { ...device.extra, state: { ...device.extra.state, ...extra } },
    }),
  };
  refuse(`an update of ${nativeId}`, faultsOfValues(next));
  return next;
}

function faultsOfDevice(device: DeviceDescription): Fault[] {
  const numbers = faultsOfNumbers(device);
  const faults = numbers.length > 0 ? numbers : faultsOf(DeviceDescription, device);
  return faults.length > 0 ? faults : [...faultsOfNames(device), ...faultsOfValues(device)];
}

function faultsOfValues(device: DeviceDescription): Fault[] {
  return functionsOf(device).flatMap(({ path, ...of }) =>
    wrongValues(of).map(({ name, expected, value }) => ({
      pointer: `/${path}state/${name}`,
      detail: `is ${JSON.stringify(value)}; expected ${expected}`,
    })),
  );
}

function refuse(what: string, errors: readonly Fault[]): void {
  const [first] = errors;
  if (!first) return;
  throw new MantelError("invalid", `${what} is invalid: ${first.pointer} ${first.detail}`, {
    errors,
  });
}
