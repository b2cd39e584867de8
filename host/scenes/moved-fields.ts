import type { CommandBody, Device, DeviceCommand } from "@mantel/plugin-sdk/device";
import { capabilityOf } from "../devices/sections.ts";

/**
 * A scene's command to a device that has moved some of its fields into parts or extras since the scene was made:
 * `onLeft` is then `on` of the part `left`. Other fields stay where they are.
 */
export function withMovedFields(device: Device, command: CommandBody): CommandBody {
  if (!isObject(command) || !isObject(command["parts"]) || !isObject(command["extra"]))
    return command;
  const { parts = {}, extra = {}, ...own } = command as Partial<Record<string, object>>;
  const moved = Object.entries(own).filter(([name]) => !capabilityOf(device, name));
  if (moved.length === 0 || (!device.parts && !device.extra)) return command;
  const kept = new Map<string, unknown>(Object.entries(own));
  const byPart = new Map(Object.entries(parts as Record<string, DeviceCommand>));
  const extras = new Map<string, unknown>(Object.entries(extra));
  for (const [name, value] of moved) {
    const part = device.parts?.find(({ id, capabilities }) => fieldOfPart(name, id, capabilities));
    if (part) {
      const field = fieldOfPart(name, part.id, part.capabilities) ?? "";
      byPart.set(part.id, { [field]: value as never, ...byPart.get(part.id) });
    } else if (device.extra && capabilityOf(device.extra, name)) {
      const isCommand = capabilityOf(device.extra, name)?.type === "command";
      extras.set(name, isCommand ? true : value); // a command was a choice of one value
    } else continue;
    kept.delete(name);
  }
  return {
    ...Object.fromEntries(kept),
    ...(byPart.size > 0 ? { parts: Object.fromEntries(byPart) } : {}),
    ...(extras.size > 0 ? { extra: Object.fromEntries(extras) } : {}),
  } as CommandBody;
}

/** True also for an absent one. A stored scene may have been edited by hand. */
function isObject(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null);
}

/** The capability of a part that a field such as `onLeft` means; `undefined` if it means none. */
function fieldOfPart(
  name: string,
  id: string,
  capabilities: Device["capabilities"],
): string | undefined {
  const suffix = id.replace(/(^|-)([a-z0-9])/g, (_, __, letter: string) => letter.toUpperCase());
  const field = name.slice(0, -suffix.length);
  return name.endsWith(suffix) && capabilityOf({ capabilities }, field) ? field : undefined;
}
