import { SystemView } from "../../system/samples.ts";
import { sendRevision } from "../conditional.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

/** `/system`: the machine, as the last shared sample shows it. */
export function systemRoutes({ samples }: Pick<Parts, "samples">): Route[] {
  return [
    route({
      method: "GET",
      path: "/system",
      scope: "read",
      tag: "System",
      summary: "Read how the machine is",
      headers: ["If-None-Match"],
      answers: ok("The last sample; null stands for what has no sensor", SystemView),
      errors: ["service_unavailable"],
      handle(ctx) {
        const sample = samples.current();
        ctx.set("Cache-Control", "private, max-age=5");
        sendRevision(ctx, Date.parse(sample.sampledAt), () => sample);
      },
    }),
  ];
}
