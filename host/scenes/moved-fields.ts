import type { CommandBody, Device, DeviceCommand } from "@mantel/plugin-sdk/device";
import { capabilityOf } from "@mantel/plugin-sdk/device-sections";

/**
 * A scene's command to a device that has moved some of its fields into parts or extras since the scene was made:
 * `onLeft` is then `on` of the part `left`. Other fields stay where they are.
 */
export function withMovedFields(device: Device, command: CommandBody): CommandBody {
  if (!hasSections(command) || (!device.parts && !device.extra)) return command;
  const { parts = {}, extra = {}, ...own } = command as Partial<Record<string, object>>;
  const kept = new Map<string, unknown>();
  const byPart = new Map(Object.entries(parts as Record<string, DeviceCommand>));
  const extras = new Map<string, unknown>(Object.entries(extra));
  for (const [name, value] of Object.entries(own)) {
    const place = placeOf(device, name);
    if (!place) kept.set(name, value);
    else if ("part" in place) {
      byPart.set(place.part, { [place.field]: value as never, ...byPart.get(place.part) });
    } else extras.set(name, place.isCommand ? true : value); // a command was a choice of one value
  }
  return {
    ...Object.fromEntries(kept),
    ...(byPart.size > 0 ? { parts: Object.fromEntries(byPart) } : {}),
    ...(extras.size > 0 ? { extra: Object.fromEntries(extras) } : {}),
  } as CommandBody;
}

/** The place that a field has moved to. */
type Place = { readonly part: string; readonly field: string } | { readonly isCommand: boolean };

/** The place of a field that the device itself does not have; `undefined` if it has not moved. */
function placeOf(device: Device, name: string): Place | undefined {
  if (capabilityOf(device, name)) return undefined;
  for (const { id, capabilities } of device.parts ?? []) {
    const field = fieldOfPart(name, id, capabilities);
    if (field !== undefined) return { part: id, field };
  }
  const extra = device.extra && capabilityOf(device.extra, name);
  return extra && { isCommand: extra.type === "command" };
}

/** False for a command whose parts or extras are not objects: a stored scene may have been edited by hand. */
function hasSections(command: CommandBody): boolean {
  return isObject(command) && isObject(command["parts"]) && isObject(command["extra"]);
}

/** True also for an absent one. */
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
