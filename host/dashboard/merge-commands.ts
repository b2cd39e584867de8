import type { CommandBody, Device, DeviceCommand, DeviceState } from "@mantel/plugin-sdk/device";
import { mergedCommand } from "@mantel/plugin-sdk/vocabulary/contradictions";

/** Both commands as one, also those for parts and extras. */
export function mergeCommands(earlier: CommandBody, later: CommandBody): CommandBody {
  const [before, after] = [sectionsOf(earlier), sectionsOf(later)];
  const parts = { ...before.parts };
  for (const [id, values] of Object.entries(after.parts)) {
    parts[id] = mergedCommand(parts[id] ?? {}, values);
  }
  const extra = { ...before.extra, ...after.extra };
  return {
    ...mergedCommand(before.own, after.own),
    ...(Object.keys(parts).length > 0 ? { parts } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

interface Sections {
  readonly own: DeviceCommand;
  readonly parts: Readonly<Record<string, DeviceCommand>>;
  readonly extra: DeviceCommand;
}

function sectionsOf({ parts = {}, extra = {}, ...own }: CommandBody): Sections {
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
