import type { Device, CommandBody } from "../device.ts";

/** A device, one of its parts, or its extras, as tiles and controls see it. */
export interface DeviceFunction extends Device {
  /** Where in a command its values are. */
  readonly path?: readonly ["parts", string] | readonly ["extra"];
}

/** The parts of a device, each as a device of its kind. */
export function partsOf(device: Device): DeviceFunction[] {
  return (device.parts ?? []).map(({ id, ...part }) => ({
    ...without(device),
    ...part,
    path: ["parts", id],
  }));
}

/** The extras of a device, as a device that has nothing else. */
export function extrasOf(device: Device): DeviceFunction | undefined {
  return device.extra && { ...without(device), ...device.extra, path: ["extra"] };
}

/** The command to the device for values of one of its functions. */
export function commandTo({ path }: DeviceFunction, values: CommandBody): CommandBody {
  if (!path) return values;
  const [section, id] = path;
  return { [section]: id === undefined ? values : { [id]: values } } as CommandBody;
}

function without({ parts: _parts, extra: _extra, ...device }: Device): Device {
  return device;
}
