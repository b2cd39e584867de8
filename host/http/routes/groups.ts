import { CommandBody, DeviceKind } from "@mantel/plugin-sdk/device";
import { Type } from "typebox";
import { Group } from "../../devices/groups.ts";
import { check } from "../../validate.ts";
import { causeOf } from "../cause-of.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { commandAll, Outcome } from "./many-devices.ts";

const Params = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: "\\S",
    description: "the id of a group; the name for one that no request made",
  }),
});
const Query = Type.Object({ kind: Type.Optional(DeviceKind) });
const Groups = Type.Object({ groups: Type.Array(Group), revision: Type.Integer() });
const GroupBody = Type.Object(
  { name: Type.Optional(Group.properties.name), devices: Group.properties.devices },
  { additionalProperties: false },
);
const MAX_BYTES = 2 ** 20;
const shared = { path: "/groups/:id", tag: "Devices", params: Params } as const;

/** `/groups`: devices that are commanded together. */
export function groupRoutes({ devices, commands }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/groups",
      operationId: "listGroups",
      scope: "read",
      tag: "Devices",
      summary: "List the groups of devices",
      answers: jsonAnswer("The groups, ordered by name", Groups),
      handle: () => ({ groups: devices.groups.list(), revision: devices.revision }),
    }),
    route({
      ...shared,
      method: "GET",
      operationId: "getGroup",
      scope: "read",
      summary: "Read a group",
      answers: jsonAnswer("The group", Group),
      errors: ["group_unknown"],
      handle: (_, { params: { id } }) => devices.groups.get(id),
    }),
    route({
      ...shared,
      method: "PUT",
      operationId: "putGroup",
      scope: "edit",
      summary:
        "Make a group, or give one another name and other devices; the name is the id if it is absent",
      body: { schema: GroupBody, maxBytes: MAX_BYTES },
      answers: jsonAnswer("The stored group", Group),
      errors: ["invalid", "conflict", "disk_full"],
      handle(_, { params: { id }, body, principal }) {
        const { name = id, ...group } = check(GroupBody, body, "the group");
        return devices.groups.put(id, { name: name.trim(), ...group }, causeOf(principal));
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      operationId: "removeGroup",
      scope: "edit",
      summary: "Remove a group; its devices stay",
      answers: { 204: { description: "The group is removed" } },
      errors: ["group_unknown", "disk_full"],
      async handle(ctx, { params: { id }, principal }) {
        await devices.groups.remove(id, causeOf(principal));
        ctx.status = 204;
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/groups/:id/command",
      operationId: "sendGroupCommand",
      scope: "control",
      summary: "Send a command to every reachable device of a group that takes it",
      query: Query,
      body: { schema: CommandBody },
      answers: jsonAnswer("The result for each device", Outcome),
      errors: ["group_unknown", "conflict", "invalid"],
      handle(_, { params: { id }, query: { kind }, body, principal }) {
        const { name, devices: ids } = devices.groups.get(id);
        const all = ids.map((each) => devices.get(each));
        const members = all.filter((device) => kind === undefined || device.kind === kind);
        const place = { name: `the group "${name}"`, unknown: "conflict", kind } as const;
        return commandAll(members, place, { commands, body, cause: causeOf(principal) });
      },
    }),
  ];
}
