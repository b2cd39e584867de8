import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import type { Metrics } from "../metrics.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

const SETTLING_RETRY_MS = 1_000;

const Health = Type.Object({
  /** `warn`: some modules have failed. `fail`: none works. */
  status: Type.Enum(["pass", "warn", "fail"]),
  version: Type.String(),
  uptimeSeconds: Type.Integer(),
  modules: Type.Object({ active: Type.Integer(), failed: Type.Integer() }),
});

interface HealthParts extends Pick<Parts, "version" | "modules"> {
  readonly metrics: Metrics;
}

/** How the host is: for people, for what starts it, and for Prometheus. */
export function healthRoutes({ version, modules, metrics }: HealthParts): Route[] {
  const health = () => {
    const counts = modules.counts();
    return {
      status: statusOf(counts),
      version,
      uptimeSeconds: Math.floor(process.uptime()),
      modules: counts,
    };
  };
  return [
    route({
      method: "GET",
      path: "/health",
      scope: "public",
      tag: "Health",
      summary: "See that the host answers",
      answers: ok("It does", Health),
      handle: health,
    }),
    route({
      method: "GET",
      path: "/health/ready",
      scope: "read",
      tag: "Health",
      summary: "See whether every module has settled",
      answers: ok("All have", Health),
      errors: ["service_unavailable"],
      handle() {
        if (modules.settled()) return health();
        throw new MantelError("service_unavailable", "some modules are still starting", {
          retryAfterMs: SETTLING_RETRY_MS,
        });
      },
    }),
    route({
      method: "GET",
      path: "/metrics",
      scope: "read",
      tag: "Health",
      summary: "Read figures in Prometheus' text format",
      answers: { 200: { description: "Requests, event-loop lag, modules", type: "text/plain" } },
      async handle(ctx) {
        ctx.body = await metrics.text();
        ctx.set("Content-Type", metrics.contentType);
      },
    }),
  ];
}

function statusOf({ active, failed }: { active: number; failed: number }): "pass" | "warn" | "fail" {
  if (failed === 0) return "pass";
  return active > 0 ? "warn" : "fail";
}
