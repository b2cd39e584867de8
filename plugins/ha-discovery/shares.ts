import {
  type DeviceCommand,
  type DeviceState,
  MantelError,
  type StateValue,
} from "@mantel/plugin-sdk";
import type { ComponentGroup } from "./component-groups.ts";
import type { ComponentHandler } from "./component-handler.ts";
import type { NamedComponent } from "./named-fields.ts";
import type { Message } from "./payload.ts";
import { TemplateError } from "./template/values.ts";

/** The share of a command for one component, in the component's own field names. */
export interface Share {
  readonly component: NamedComponent;
  readonly command: DeviceCommand;
  readonly messages: readonly Message[];
}

/**
 * Splits a command between the components of a device.
 * @throws MantelError `invalid` if a template of the device cannot express it
 */
export function sharesOf({ components, name }: ComponentGroup, command: DeviceCommand): Share[] {
  try {
    return components.flatMap((component) => {
      const own = localCommand(component, command);
      if (Object.keys(own).length === 0) return [];
      const { handler, state } = component.known;
      return [{ component, command: own, messages: handler.write?.(own, state) ?? [] }];
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

function localCommand({ names }: NamedComponent, command: DeviceCommand): DeviceCommand {
  const entries = [...names].flatMap(([local, name]) => {
    const value = command[name];
    return value === undefined ? [] : [[local, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Splits what a share leads to into fields that the device will report and those that it will not. */
export function split({ component, command }: Share): { told: DeviceState; assumed: DeviceState } {
  const { unreported = new Set() } = component.known.handler;
  const told: Record<string, StateValue> = {};
  const assumed: Record<string, StateValue> = {};
  for (const [name, value] of Object.entries(expectedOf(component.known.handler, command))) {
    if (unreported.has(name)) assumed[name] = value;
    else told[component.names.get(name) ?? name] = value;
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
