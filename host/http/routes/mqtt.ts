import { PublishReceipt, PublishRequest } from "../../mqtt/publish.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

/** 256 KiB of payload still fit if each of their bytes is an escape of six. */
const MAX_PUBLISH_BYTES = 2 * 2 ** 20;

/** `/mqtt`: raw publishes. They may execute code in other programs, so they need the admin scope. */
export function mqttRoutes({ publisher }: HttpDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/mqtt/publish",
      operationId: "publishMessage",
      scope: "admin",
      tag: "MQTT",
      summary: "Publish a message to the broker",
      body: { schema: PublishRequest, maxBytes: MAX_PUBLISH_BYTES },
      answers: jsonAnswer("The broker has acknowledged the message", PublishReceipt),
      errors: [
        "invalid",
        "topic_denied",
        "broker_refused",
        "broker_down",
        "outcome_unknown",
        "deadline_passed",
      ],
      handle: (_, { body, principal }) => publisher.publish(body, principal),
    }),
  ];
}
