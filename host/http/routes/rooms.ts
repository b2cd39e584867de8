import { commandable } from "@mantel/plugin-sdk/capability";
import { CommandBody, type Device, DeviceKind } from "@mantel/plugin-sdk/device";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Static, Type } from "typebox";
import { sendTargets } from "../../scenes/activate.ts";
import { SceneResult } from "../../scenes/schema.ts";
import { check, invalid } from "../../validate.ts";
import { causeOf } from "../cause-of.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

/** Above any home, and a limit of what one request may ask for. */
const MAX_TARGETS = 2_000;
const MAX_TARGETS_BYTES = 512 * 2 ** 10;

const Params = Type.Object({
  room: Type.String({ minLength: 1, maxLength: 200, description: "the name of a room" }),
});
const Query = Type.Object({ kind: Type.Optional(DeviceKind) });
const Outcome = Type.Object({
  /** `partial`: not every device took the command. */
  status: Type.Enum(["ok", "partial"]),
  /** One for each device that the command was sent to. */
  results: Type.Array(SceneResult),
});

const Targets = Type.Object(
  {
    targets: Type.Record(Type.String({ maxLength: 300 }), CommandBody, {
      minProperties: 1,
      maxProperties: MAX_TARGETS,
      description: "the command of each device, by its id",
    }),
  },
  { additionalProperties: false },
);

/** `/rooms` and `/smart-home/commands`: one command for many devices. */
export function roomRoutes({ devices, commands }: HttpDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/rooms/:room/command",
      operationId: "sendRoomCommand",
      scope: "control",
      tag: "Devices",
      summary:
        "Send a command to every reachable device of a room that takes it, such as all lights",
      params: Params,
      query: Query,
      body: { schema: CommandBody },
      answers: jsonAnswer("The result for each device", Outcome),
      errors: ["room_unknown", "invalid"],
      async handle(_, { params: { room }, query, body, principal }) {
        const inRoom = devices.list({ room, ...query }).filter(({ hidden }) => hidden !== true);
        if (inRoom.length === 0) throw unknown(room, query.kind);
        const command = body as CommandBody; // as its schema has checked
        const taking = inRoom.filter((device) => takes(device, command));
        if (taking.length === 0) throw untaken(room);
        const reachable = taking.filter(({ available }) => available);
        const targets = Object.fromEntries(reachable.map(({ id }) => [id, command]));
        return outcomeOf(await sendTargets(targets, commands, causeOf(principal)));
      },
    }),
    route({
      method: "POST",
      path: "/smart-home/commands",
      operationId: "sendCommands",
      scope: "control",
      tag: "Devices",
      summary: "Send each of many devices a command of its own, such as levels for a room",
      body: { schema: Targets, maxBytes: MAX_TARGETS_BYTES },
      answers: jsonAnswer("The result for each device", Outcome),
      errors: ["invalid"],
      async handle(_, { body, principal }) {
        const { targets } = check(Targets, body, "the commands");
        return outcomeOf(await sendTargets(targets, commands, causeOf(principal)));
      },
    }),
  ];
}

function outcomeOf(results: SceneResult[]): Static<typeof Outcome> {
  const isWhole = results.length > 0 && results.every(({ status }) => status !== "failed");
  return { status: isWhole ? "ok" : "partial", results };
}

/** True if the device has a capability for each field of the command. */
function takes({ capabilities }: Device, body: CommandBody): boolean {
  const fields = new Set(commandable(capabilities));
  return Object.keys(body).length > 0 && Object.keys(body).every((field) => fields.has(field));
}

function unknown(room: string, kind: string | undefined): MantelError {
  const what = kind === undefined ? "no device is" : `no device of the kind ${kind} is`;
  return new MantelError("room_unknown", `${what} in the room "${room}"`);
}

function untaken(room: string): MantelError {
  const detail = `must have only fields that a device in the room "${room}" can be sent`;
  return invalid("the command", [{ pointer: "", detail }]);
}
