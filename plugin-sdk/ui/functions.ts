import type { Device, NestedCommand } from "../device.ts";

/** A device, one of its parts, or its extras, as tiles and controls see it. */
export interface DeviceFunction extends Device {
  /** The keys of a command under which its values are, such as `["parts", "l1"]`. */
  readonly path?: readonly string[];
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
export function commandTo({ path = [] }: DeviceFunction, values: NestedCommand): NestedCommand {
  return path.reduceRight<NestedCommand>((inner, key) => ({ [key]: inner }), values);
}

function without({ parts: _parts, extra: _extra, ...device }: Device): Device {
  return device;
}
