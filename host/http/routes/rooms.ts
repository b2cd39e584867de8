import { CommandBody, DeviceKind } from "@mantel/plugin-sdk/device";
import { Type } from "typebox";
import { check } from "../../validate.ts";
import { causeOf } from "../cause-of.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { commandAll, Outcome, sendAll } from "./many-devices.ts";

/** Above any home, and a limit of what one request may ask for. */
const MAX_TARGETS = 2_000;
const MAX_TARGETS_BYTES = 512 * 2 ** 10;

const Params = Type.Object({
  room: Type.String({ minLength: 1, maxLength: 200, description: "the name of a room" }),
});
const Query = Type.Object({ kind: Type.Optional(DeviceKind) });
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
      handle(_, { params: { room }, query, body, principal }) {
        const inRoom = devices.list({ room, ...query });
        const place = { name: `the room "${room}"`, unknown: "room_unknown", ...query } as const;
        return commandAll(inRoom, place, { commands, body, cause: causeOf(principal) });
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
        return sendAll(targets, commands, causeOf(principal));
      },
    }),
  ];
}
