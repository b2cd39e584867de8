import { MantelError } from "@mantel/plugin-sdk/errors";
import { type Static, Type } from "typebox";
import type { HttpDependencies } from "../dependencies.ts";
import type { Metrics } from "../metrics.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const SETTLING_RETRY_MS = 1_000;

const Health = Type.Object({
  /** `warn`: some modules have failed. `fail`: none works. */
  status: Type.Enum(["pass", "warn", "fail"]),
  version: Type.String(),
  uptimeSeconds: Type.Integer(),
  modules: Type.Object({ active: Type.Integer(), failed: Type.Integer() }),
});

interface HealthDependencies extends HttpDependencies {
  readonly metrics: Metrics;
}

/** The health of the host: for users, the service manager and Prometheus. */
export function healthRoutes(parts: HealthDependencies): Route[] {
  return [healthRoute(parts), readinessRoute(parts), metricsRoute(parts)];
}

function healthRoute(parts: HealthDependencies): Route {
  return route({
    method: "GET",
    path: "/health",
    operationId: "getHealth",
    scope: "public",
    tag: "Health",
    summary: "Check that the host answers",
    answers: jsonAnswer("It does", Health),
    handle: () => healthOf(parts),
  });
}

function readinessRoute(parts: HealthDependencies): Route {
  return route({
    method: "GET",
    path: "/health/ready",
    operationId: "getReadiness",
    scope: "read",
    tag: "Health",
    summary: "Check that every module has settled",
    answers: jsonAnswer("All have", Health),
    errors: ["service_unavailable"],
    handle() {
      if (parts.modules.settled()) return healthOf(parts);
      throw new MantelError("service_unavailable", "some modules are still starting", {
        retryAfterMs: SETTLING_RETRY_MS,
      });
    },
  });
}

function metricsRoute({ metrics }: HealthDependencies): Route {
  return route({
    method: "GET",
    path: "/metrics",
    operationId: "getMetrics",
    scope: "read",
    tag: "Health",
    summary: "Read metrics in Prometheus' text format",
    answers: { 200: { description: "Requests, event-loop lag, modules", type: "text/plain" } },
    async handle(ctx) {
      ctx.body = await metrics.text();
      ctx.set("Content-Type", metrics.contentType);
    },
  });
}

function healthOf({ version, startedAt, modules }: HealthDependencies): Static<typeof Health> {
  const counts = modules.counts();
  const uptimeSeconds = Math.floor((performance.now() - startedAt) / 1_000);
  return { status: statusOf(counts), version, uptimeSeconds, modules: counts };
}

function statusOf({
  active,
  failed,
}: {
  active: number;
  failed: number;
}): "pass" | "warn" | "fail" {
  if (failed === 0) return "pass";
  return active > 0 ? "warn" : "fail";
}
