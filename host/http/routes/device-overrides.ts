import { Device } from "@mantel/plugin-sdk/device";
import { recordCompleted } from "../../auth/audit.ts";
import { DevicePatch } from "../../devices/overrides.ts";
import { causeOf } from "../cause-of.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { DeviceParams } from "./devices.ts";

const shared = {
  path: "/smart-home/devices/:id",
  scope: "admin",
  tag: "Devices",
  params: DeviceParams,
} as const;

/** The user's settings of a device, which override its bridge. */
export function deviceOverrideRoutes(parts: HttpDependencies): Route[] {
  const { devices } = parts;
  return [
    route({
      ...shared,
      method: "PATCH",
      operationId: "updateDevice",
      summary:
        "Rename a device, put it into a room or groups, or hide it; null restores the bridge's value",
      body: { schema: DevicePatch, mergePatch: true },
      answers: jsonAnswer("The changed device", Device),
      errors: ["device_unknown", "invalid", "disk_full"],
      async handle(_, { params: { id }, body, principal }) {
        const device = await devices.adjust(id, body, causeOf(principal));
        await recordCompleted(parts, principal, { action: "device.adjust", device: id });
        return device;
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      operationId: "forgetDevice",
      summary: "Forget an unavailable device until its bridge finds it again",
      answers: { 204: { description: "The device is forgotten" } },
      errors: ["device_unknown", "device_present", "disk_full"],
      async handle(ctx, { params: { id }, principal }) {
        await devices.forget(id);
        await recordCompleted(parts, principal, { action: "device.forget", device: id });
        ctx.status = 204;
      },
    }),
  ];
}
