import { Type } from "typebox";
import { TOPICS } from "../../events/fan-out.ts";
import { isAuthenticated, requireScope } from "../authenticate.ts";
import type { Parts } from "../parts.ts";
import { type Route, route } from "../route.ts";

const Query = Type.Object({
  topics: Type.Optional(
    Type.Array(Type.Enum([...TOPICS]), {
      description:
        "joined by commas; all but module.log when absent. device.event {deviceId, event, at, data?} tells of a press and the like: twice the same is two events. module.log needs the scope admin, and is neither numbered nor sent again",
    }),
  ),
});

/** `/events`: what happens in the house, as it happens. */
export function eventRoutes({ streams, tokens }: Pick<Parts, "streams" | "tokens">): Route[] {
  return [
    route({
      method: "GET",
      path: "/events",
      scope: "read",
      tag: "Events",
      summary: "Follow what happens, as server-sent events",
      query: Query,
      headers: ["Last-Event-ID"],
      answers: { 200: { description: "A stream without end", type: "text/event-stream" } },
      errors: ["invalid", "insufficient_scope"],
      handle(ctx, { query, principal }) {
        if (query.topics?.includes("module.log")) requireScope(principal, "admin");
        ctx.type = "text/event-stream; charset=utf-8";
        ctx.set("X-Accel-Buffering", "no"); // nginx would hold events back
        ctx.status = 200;
        if (ctx.method === "HEAD") return;
        streams.open(ctx.res, {
          lastEventId: ctx.get("Last-Event-ID") || undefined,
          topics: query.topics && new Set(query.topics),
          permitted: () => isAuthenticated(ctx, tokens),
        });
        ctx.respond = false; // The stream writes by itself from here on.
      },
    }),
  ];
}
