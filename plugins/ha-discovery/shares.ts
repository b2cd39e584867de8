import {
  type DeviceCommand,
  type DeviceState,
  MantelError,
  type StateValue,
} from "@mantel/plugin-sdk";
import type { Arranged } from "./arrange.ts";
import type { ComponentHandler } from "./component-handler.ts";
import type { Part } from "./named-fields.ts";
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
    throw new MantelError(
      "invalid",
      `${name}: its template does not take the command: ${error.message}`,
      {
        cause: error,
      },
    );
  }
}

function localCommand({ names }: Part, command: DeviceCommand): DeviceCommand {
  const entries = [...names].flatMap(([local, name]) => {
    const value = command[name];
    return value === undefined ? [] : [[local, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Splits what a share leads to into fields that the device will report and those that it will not. */
export function split({ part, command }: Share): { told: DeviceState; assumed: DeviceState } {
  const { unreported = new Set() } = part.known.handler;
  const told: Record<string, StateValue> = {};
  const assumed: Record<string, StateValue> = {};
  for (const [name, value] of Object.entries(expectedOf(part.known.handler, command))) {
    if (unreported.has(name)) assumed[name] = value;
    else told[part.names.get(name) ?? name] = value;
  }
  return { told, assumed };
}

/** The state that a command leads to. */
function expectedOf(handler: ComponentHandler, command: DeviceCommand): DeviceState {
  const { capabilities, stateless, rounded = {}, implied } = handler;
  const entries = Object.entries({ ...command, ...implied?.(command) }).flatMap(([name, value]) => {
    const type = capabilities[name]?.type;
    const hasState = type !== undefined && type !== "command" && !stateless?.has(name);
    if (!hasState || value === undefined) return [];
    const level = typeof value === "number" ? rounded[name]?.(value) : undefined;
    return [[name, level ?? value] as const];
  });
  return Object.fromEntries(entries);
}
