import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { type Route, route } from "../route.ts";

/** `/restart`: the whole host again, for example to finish a planned restore. */
export function restartRoutes(parts: HttpDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/restart",
      operationId: "restartHost",
      scope: "admin",
      tag: "Health",
      summary: "Stop the host and start it again; answers in flight are finished",
      answers: { 202: { description: "The restart has begun", schema: Type.Object({}) } },
      async handle(ctx, { principal }) {
        await recordCompleted(parts, principal, { action: "host.restart" });
        ctx.status = 202;
        setImmediate(parts.restart);
        return {};
      },
    }),
  ];
}
