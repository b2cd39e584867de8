import { commandable } from "@mantel/plugin-sdk/capability";
import { Cause } from "@mantel/plugin-sdk/cause";
import type { CommandBody, Device } from "@mantel/plugin-sdk/device";
import { type ErrorCode, MantelError } from "@mantel/plugin-sdk/errors";
import { parseCommand } from "@mantel/plugin-sdk/parse-command";
import type { Scene } from "@mantel/plugin-sdk/scene";
import { type Static, Type } from "typebox";
import type { Commands } from "../../devices/commands.ts";
import { sendTargets } from "../../scenes/activate.ts";
import { SceneResult } from "../../scenes/schema.ts";
import { invalid } from "../../validate.ts";

/** The answer to a command for many devices. */
export const Outcome = Type.Object({
  /** `partial`: not every device took the command. */
  status: Type.Enum(["ok", "partial"]),
  cause: Cause,
  /** One for each device that the command was sent to. */
  results: Type.Array(SceneResult),
});
type Outcome = Static<typeof Outcome>;

/** A room or a group, for the errors about it. */
interface Place {
  /** Such as `the room "Kitchen"`. */
  readonly name: string;
  /** The error if no device is in it. */
  readonly unknown: ErrorCode;
  /** The kind of devices that the request is limited to. */
  readonly kind?: string | undefined;
}

interface Sending {
  readonly commands: Commands;
  readonly body: unknown;
  readonly cause: Cause;
}

/**
 * Sends a command to each reachable device of a place that has all its fields.
 * @throws MantelError `invalid` if no device has them, or none may have these values; the error of the place if it is empty
 */
export async function commandAll(
  devices: readonly Device[],
  place: Place,
  { commands, body, cause }: Sending,
): Promise<Outcome> {
  const visible = devices.filter(({ hidden }) => hidden !== true);
  if (visible.length === 0) throw emptyPlace(place);
  const command = body as CommandBody; // as its schema has checked
  const taking = visible.filter((device) => takes(device, command));
  if (taking.length === 0) throw untaken(place);
  requireAccepted(taking, command);
  const reachable = taking.filter(({ available }) => available);
  const targets = Object.fromEntries(reachable.map(({ id }) => [id, command]));
  return sendAll(targets, commands, cause);
}

/** Sends each device its command. */
export async function sendAll(
  targets: Scene["targets"],
  commands: Commands,
  cause: Cause,
): Promise<Outcome> {
  const results = await sendTargets(targets, commands, cause);
  const isWhole = results.length > 0 && results.every(({ status }) => status !== "failed");
  return { status: isWhole ? "ok" : "partial", cause, results };
}

/** True if the device has a capability for each field of the command. */
function takes({ capabilities }: Device, body: CommandBody): boolean {
  const fields = new Set(commandable(capabilities));
  return Object.keys(body).length > 0 && Object.keys(body).every((field) => fields.has(field));
}

/** @throws the error of the first device if no device may have these values */
function requireAccepted(devices: readonly Device[], command: CommandBody): void {
  let first: unknown;
  for (const device of devices) {
    try {
      parseCommand(device, command);
      return;
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

function emptyPlace({ name, unknown, kind }: Place): MantelError {
  const what = kind === undefined ? "no device is" : `no device of the kind ${kind} is`;
  return new MantelError(unknown, `${what} in ${name}`);
}

function untaken({ name }: Place): MantelError {
  const detail = `must have only fields that a device in ${name} can be sent`;
  return invalid("the command", [{ pointer: "", detail }]);
}
