import type { Device, DeviceState, NestedCommand } from "@mantel/plugin-sdk/device";

/** Fields that contradict each other: of those, only the latest is sent. */
const MOVES = new Set(["open", "close", "stop", "position", "start", "pause", "dock"]);

/** The values of both commands, also those of parts and extras. Later values replace earlier ones. */
export function mergeCommands(earlier: NestedCommand, later: NestedCommand): NestedCommand {
  const moves = Object.keys(later).some((field) => MOVES.has(field));
  const kept = Object.entries(earlier).filter(([field]) => !(moves && MOVES.has(field)));
  const merged = Object.entries(later).map(([field, value]) => {
    const before = earlier[field];
    const isNested = typeof before === "object" && typeof value === "object";
    return [field, isNested ? mergeCommands(before, value) : value];
  });
  return Object.fromEntries([...kept, ...merged]) as NestedCommand;
}

/** The device with the requested values under `pending`, also those of its parts and extras. */
export function withPending(device: Device, asked: NestedCommand): Device {
  if (Object.keys(asked).length === 0) return device;
  const { parts: ofParts = {}, extra: ofExtra, ...own } = asked;
  const { parts, extra } = device;
  return {
    ...pendingIn(device, own),
    ...(parts && {
      parts: parts.map((part) => pendingIn(part, (ofParts as NestedCommand)[part.id])),
    }),
    ...(extra && { extra: pendingIn(extra, ofExtra) }),
  };
}

/** A code is never kept. */
function pendingIn<T extends { pending: DeviceState }>(of: T, asked: unknown): T {
  if (typeof asked !== "object") return of;
  const { code: _, ...shown } = asked as DeviceState;
  return { ...of, pending: { ...of.pending, ...shown } };
}
