import { type ErrorCode, MantelError, ServiceError } from "@mantel/plugin-sdk/errors";
import {
  SERVICE_KEY,
  SERVICE_LIMITS,
  type ServiceScope,
  serviceKey,
} from "@mantel/plugin-sdk/service";
import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { checkInput } from "../../services/definitions.ts";
import type { ServiceRegistry } from "../../services/registry.ts";
import { requireScope } from "../authenticate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { notRunning } from "../not-running.ts";
import { type Call, type Context, operationIdOf, type Route, route } from "../route.ts";

const Params = Type.Object({
  name: Type.String({
    pattern: SERVICE_KEY,
    maxLength: SERVICE_LIMITS.nameLength + 5,
    description: "the service, such as acme.news.items or acme.news.items@2",
  }),
});

type Parts = Pick<HttpDependencies, "services" | "modules" | "audit" | "log">;

/** Calls of services with these scopes change the home, and are in the audit log. */
const AUDITED: readonly ServiceScope[] = ["edit", "admin"];

const ERRORS: readonly ErrorCode[] = [
  "not_found",
  "invalid",
  "conflict",
  "revision_stale",
  "service_error",
  "module_down",
  "service_unavailable",
  "outcome_unknown",
  "deadline_passed",
  "service_cycle",
];

const shared = { method: "POST", tag: "Services", errors: ERRORS } as const;

/** `POST /services/:name`: services that their plugins open to clients and widgets. */
export function serviceRoutes(parts: Parts): Route[] {
  return [
    route({
      ...shared,
      path: "/services/:name",
      operationId: "callService",
      scope: "read",
      summary: "Call a service of a plugin, with the scope that the service needs",
      params: Params,
      body: { schema: Type.Unknown(), optional: true },
      answers: {
        200: { description: "The answer, by the schema of the service", schema: Type.Unknown() },
        204: { description: "The service has no answer" },
      },
      handle: (ctx, { params, ...call }) => callService(parts, params.name, { ctx, ...call }),
    }),
  ];
}

/** The open services as operations of their own, with their schemas; only for the OpenAPI document. */
export function describedServices(services: Pick<ServiceRegistry, "open">): Route[] {
  return services.open().map((definition) => {
    const { open = "admin", title, input, output } = definition;
    const key = serviceKey(definition);
    return {
      ...shared,
      path: `/services/${key}`,
      operationId: operationIdOf("POST", `/services/${key.replaceAll(".", "/")}`),
      scope: open,
      summary: title ?? `Call ${key}`,
      body: { schema: input },
      answers: output
        ? { 200: { description: "The answer", schema: output } }
        : { 204: { description: "The service has no answer" } },
      handle: () => undefined,
    };
  });
}

async function callService(
  { services, modules, ...parts }: Parts,
  name: string,
  { ctx, body = {}, principal }: Pick<Call<never, never>, "body" | "principal"> & { ctx: Context },
): Promise<unknown> {
  const definition = services.findOpen(name);
  if (!definition?.open) {
    const stopped = definition ? undefined : modules.findStopped(name);
    if (stopped !== undefined) throw notRunning(stopped);
    throw new MantelError("not_found", `no running module opens the service ${name} to clients`);
  }
  requireScope(principal, definition.open);
  checkInput(definition, body);
  const answer = await services
    .callFor({ key: serviceKey(definition), input: body, chain: [] })
    .catch((error: unknown) => {
      throw forClient(error);
    });
  if (AUDITED.includes(definition.open)) {
    await recordCompleted(parts, principal, { action: "service.call", service: name });
  }
  if (definition.output) return answer;
  ctx.status = 204;
  return undefined;
}

function forClient(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  return new MantelError("service_error", error.message, {
    cause: error,
    serviceError: error.code,
  });
}
