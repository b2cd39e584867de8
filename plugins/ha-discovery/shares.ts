import {
  type DeviceCommand,
  type DeviceState,
  MantelError,
  type StateValue,
} from "@mantel/plugin-sdk";
import type { Arranged, Part } from "./arrange.ts";
import { DO } from "./components/capabilities.ts";
import type { Message } from "./payload.ts";
import { TemplateError } from "./template/values.ts";

/** The part of a command for one component, in the component's own field names. */
export interface Share {
  readonly part: Part;
  readonly command: DeviceCommand;
  readonly messages: readonly Message[];
}

/**
 * Splits a command between the components of a device.
 * @throws MantelError `invalid` if a template of the device cannot express it
 */
export function sharesOf({ parts, name }: Arranged, command: DeviceCommand): Share[] {
  try {
    return parts.flatMap((part) => {
      const own = localCommand(part, command);
      if (Object.keys(own).length === 0) return [];
      const messages = part.known.handler.write?.(own, part.known.state) ?? [];
      return [{ part, command: own, messages }];
    });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new MantelError("invalid", `${name} cannot be asked that: ${error.message}`, {
      cause: error,
    });
  }
}

function localCommand({ names }: Part, command: DeviceCommand): DeviceCommand {
  const entries = [...names].flatMap(([local, name]) => {
    const value = command[name];
    return value === undefined ? [] : [[local, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Splits a share into fields that the device will report and those that it will not. */
export function split({ part, command }: Share): { told: DeviceState; assumed: DeviceState } {
  const { unreported = new Set(), capabilities, rounded = {} } = part.known.handler;
  const told: Record<string, StateValue> = {};
  const assumed: Record<string, StateValue> = {};
  for (const [name, requested] of Object.entries(command)) {
    const value =
      typeof requested === "number" ? (rounded[name]?.(requested) ?? requested) : requested;
    // An action has no state: a button is not pressed afterwards.
    if (capabilities[name] === DO) continue;
    if (unreported.has(name)) assumed[name] = value;
    else told[part.names.get(name) ?? name] = value;
  }
  return { told, assumed };
}
