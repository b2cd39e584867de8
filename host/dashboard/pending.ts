import type { CommandBody, Device, DeviceCommand, DeviceState } from "@mantel/plugin-sdk/device";

interface Sections {
  readonly own: DeviceCommand;
  readonly parts: Readonly<Record<string, DeviceCommand>>;
  readonly extra: DeviceCommand;
}

/** The fields of a command for the device itself, for its parts and for its extras. */
export function sectionsOf({ parts = {}, extra = {}, ...own }: CommandBody): Sections {
  return { own, parts, extra } as Sections;
}

/** The device with the requested values under `pending`, also those of its parts and extras. */
export function withPending(device: Device, command: CommandBody): Device {
  if (Object.keys(command).length === 0) return device;
  const asked = sectionsOf(command);
  const { parts, extra } = device;
  return {
    ...pendingIn(device, asked.own),
    ...(parts && {
      parts: parts.map((part) => pendingIn(part, asked.parts[part.id])),
    }),
    ...(extra && { extra: pendingIn(extra, asked.extra) }),
  };
}

/** A code is never kept. */
function pendingIn<T extends { pending: DeviceState }>(of: T, asked: DeviceCommand = {}): T {
  const { code: _, ...shown } = asked;
  return { ...of, pending: { ...of.pending, ...shown } };
}
