import { randomUUID } from "node:crypto";
import type { Cause } from "@mantel/plugin-sdk/cause";
import { serviceKey } from "@mantel/plugin-sdk/service";
import { HomeNotification, homeNotify } from "@mantel/plugin-sdk/services";
import type { Bus } from "../events/bus.ts";
import type { ServiceRegistry } from "../services/registry.ts";
import { check } from "../validate.ts";

/** Long enough for a mail server. */
const DEADLINE_MS = 10_000;

interface Dependencies {
  readonly bus: Bus;
  readonly services: Pick<ServiceRegistry, "callProvider" | "providersOf">;
}

/**
 * Shows a message on the dashboards, and gives it to all plugins that provide `home.notify`. One that fails does not
 * keep it from the others.
 * @throws MantelError `invalid`
 * @throws MantelError, ServiceError the failure of the first plugin that failed
 */
export async function notify(
  { bus, services }: Dependencies,
  input: unknown,
  cause?: Cause,
): Promise<void> {
  const notification = check(HomeNotification, input, "a message");
  const { message, to = [], from } = notification;
  const sender = { ...(from !== undefined && { from }), ...(cause && { cause }) };
  const at = new Date().toISOString();
  bus.emit("notification", { id: randomUUID(), at, message, to, ...sender });
  const key = serviceKey(homeNotify);
  const sent = services
    .providersOf(key)
    .map((id) => services.callProvider(id, key, notification, DEADLINE_MS));
  const failure = (await Promise.allSettled(sent)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
}
