import { Device } from "@mantel/plugin-sdk/device";
import { recordDone } from "../../auth/audit.ts";
import { DevicePatch } from "../../devices/wishes.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";
import { DeviceParams } from "./devices.ts";

const shared = {
  path: "/smart-home/devices/:id",
  scope: "admin",
  tag: "Devices",
  params: DeviceParams,
} as const;

/** What people want of a device, over what its bridge says. */
export function deviceWishRoutes(parts: Pick<Parts, "devices" | "audit" | "log">): Route[] {
  const { devices } = parts;
  return [
    route({
      ...shared,
      method: "PATCH",
      summary: "Rename a device, put it into a room, or hide it; null is as its bridge says",
      body: { schema: DevicePatch, mergePatch: true },
      answers: ok("The device after it", Device),
      errors: ["device_unknown", "invalid", "disk_full"],
      async handle(_, { params: { id }, body, principal }) {
        const device = await devices.adjust(id, body);
        await recordDone(parts, principal, { action: "device.adjust", device: id });
        return device;
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      summary: "Forget a device that is not there, until its bridge reaches it again",
      answers: { 204: { description: "It is off the list" } },
      errors: ["device_unknown", "device_present", "disk_full"],
      async handle(ctx, { params: { id }, principal }) {
        await devices.forget(id);
        await recordDone(parts, principal, { action: "device.forget", device: id });
        ctx.status = 204;
      },
    }),
  ];
}
