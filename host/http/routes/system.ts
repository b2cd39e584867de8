import { SystemView } from "../../system/samples.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { sendRevision } from "../etag.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

/** `/system`: the machine's figures from the last shared sample. */
export function systemRoutes({ samples }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/system",
      scope: "read",
      tag: "System",
      summary: "Read the state of the machine",
      headers: ["If-None-Match"],
      answers: jsonAnswer("The last sample; null for missing sensors", SystemView),
      errors: ["service_unavailable"],
      handle(ctx) {
        const sample = samples.current();
        ctx.set("Cache-Control", "private, max-age=5");
        sendRevision(ctx, Date.parse(sample.sampledAt), () => sample);
      },
    }),
  ];
}
