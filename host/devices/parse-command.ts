import type { Device, DeviceCommand } from "@mantel/plugin-sdk/device";
import type { Fault } from "@mantel/plugin-sdk/errors";
import { invalid } from "../validate.ts";
import { faultsOfCommand } from "./capability.ts";

/**
 * Parses a command for the bridge. A brightness of 0 becomes `on: false`, which
 * keeps the level; one above 0 turns the device on unless the body sets `on`.
 *
 * @throws MantelError `invalid`, with every fault; a value out of range is never clamped
 */
export function parseCommand(device: Device, body: unknown): DeviceCommand {
  const faults = faultsOfBody(device, body);
  if (faults.length > 0) throw invalid(`the command to ${device.id}`, faults);
  return canTurnOn(device) ? withSwitch(body as DeviceCommand) : (body as DeviceCommand);
}

/** The faults of a body as a command to the device. */
export function faultsOfBody({ capabilities }: Device, body: unknown): Fault[] {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return [{ pointer: "", detail: 'must be an object, such as {"on": true}' }];
  }
  return Object.keys(body).length === 0
    ? [{ pointer: "", detail: "must have at least one capability of the device" }]
    : faultsOfCommand(capabilities, body);
}

function canTurnOn({ capabilities }: Device): boolean {
  return capabilities["on"]?.type === "boolean" && !capabilities["on"].readOnly;
}

function withSwitch(command: DeviceCommand): DeviceCommand {
  const { brightness, ...rest } = command;
  if (brightness === undefined) return command;
  return brightness === 0 ? { ...rest, on: false } : { on: true, ...command };
}
