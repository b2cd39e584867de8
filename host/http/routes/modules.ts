import { MantelError } from "@mantel/plugin-sdk/errors";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { LOG_LEVELS } from "@mantel/plugin-sdk/protocol";
import { Nullable } from "@mantel/plugin-sdk/schema";
import { Type } from "typebox";
import { recordDone } from "../../auth/audit.ts";
import { ModuleView, ReloadReceipt } from "../../modules/view.ts";
import { check, invalid } from "../../validate.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";
import { ConfigChange, patchConfig } from "./config.ts";

/** The path of one module. */
export const ModuleParams = Type.Object({
  id: Type.String({
    pattern: PLUGIN_ID,
    maxLength: 64,
    description: "the id of a module, such as demo-home",
  }),
});
const ModuleList = Type.Object({ modules: Type.Array(ModuleView), revision: Type.Integer() });
const LogEntries = Type.Object({
  entries: Type.Array(
    Type.Object({
      at: Type.String({ format: "date-time" }),
      level: Type.Enum([...LOG_LEVELS]),
      sentence: Type.String(),
      fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
  ),
  /** Records that were left out since the host started, because there were too many at once. */
  dropped: Type.Integer(),
});
export const Options = Type.Record(Type.String(), Type.Unknown());
const OptionsForm = Type.Object({
  /** JSON Schema, for a form; null for a module without options, or whose code was never loaded. */
  schema: Nullable(Options),
  options: Options,
  revision: Type.Integer(),
});
const shared = { tag: "Modules", params: ModuleParams } as const;

/** `/modules`: what plugins run, and how they are reloaded and managed. */
export function moduleRoutes(parts: Pick<Parts, "modules" | "config" | "audit" | "log">): Route[] {
  return [
    ...readingRoutes(parts),
    logRoute(parts),
    reloadRoute(parts),
    rollBackRoute(parts),
    ...managingRoutes(parts),
  ];
}

function readingRoutes({ modules }: Pick<Parts, "modules">): Route[] {
  return [
    route({
      method: "GET",
      path: "/modules",
      scope: "read",
      tag: "Modules",
      summary: "List modules",
      answers: ok("All modules, also those that failed", ModuleList),
      handle: () => ({ modules: modules.list(), revision: modules.revision }),
    }),
    route({
      ...shared,
      method: "GET",
      path: "/modules/:id",
      scope: "read",
      summary: "Read one module",
      answers: ok("The module", ModuleView),
      errors: ["module_unknown"],
      handle: (_, { params }) => modules.get(params.id),
    }),
  ];
}

function logRoute({ modules }: Pick<Parts, "modules">): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/modules/:id/logs",
    scope: "admin",
    summary: "Read the last records of a module's log",
    answers: ok("Oldest first", LogEntries),
    query: Type.Object({
      level: Type.Optional(
        Type.Enum([...LOG_LEVELS], { description: "the least level; all when absent" }),
      ),
      since: Type.Optional(
        Type.String({ format: "date-time", description: "records of this time and later" }),
      ),
    }),
    errors: ["module_unknown", "invalid"],
    handle(_, { params, query }) {
      const entries = modules.logs(params.id, query);
      const work = modules.work().find(({ id }) => id === params.id);
      return { entries, dropped: work?.logDrops ?? 0 };
    },
  });
}

function reloadRoute(parts: Pick<Parts, "modules" | "audit" | "log">): Route {
  const { modules, log } = parts;
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/reload",
    scope: "edit",
    summary: "Load a module's code again, and swap to it when it starts",
    query: Type.Object({ wait: Type.Optional(Type.Enum(["true", "false"])) }),
    answers: {
      200: {
        description: "The module and how the reload went",
        schema: Type.Object({ module: ModuleView, reload: ReloadReceipt }),
      },
      202: {
        description: "The reload has begun, as `wait=false` asks for",
        schema: Type.Object({ module: ModuleView }),
      },
    },
    errors: ["module_unknown", "reload_failed", "module_down", "deadline_passed"],
    handle(ctx, { params, query, principal }) {
      modules.get(params.id); // An id that does not exist is refused at once.
      // Not waited for: a reload is measured in milliseconds, and requests that come together are one.
      void recordDone(parts, principal, { action: "module.reload", module: params.id });
      if (query.wait !== "false") return modules.reload(params.id);
      modules.reload(params.id).catch((error: unknown) => {
        log.debug("a reload that nobody waited for failed", { module: params.id, error });
      });
      ctx.status = 202;
      return { module: modules.get(params.id) };
    },
  });
}

function rollBackRoute(parts: Pick<Parts, "modules" | "audit" | "log">): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/rollback",
    scope: "edit",
    summary: "Go back to the code a module ran before, until its files change or it is reloaded",
    answers: ok(
      "The module and how that went",
      Type.Object({ module: ModuleView, reload: ReloadReceipt }),
    ),
    errors: ["module_unknown", "no_earlier_code", "reload_failed", "module_down"],
    async handle(_, { params: { id }, principal }) {
      parts.modules.get(id);
      void recordDone(parts, principal, { action: "module.rollback", module: id });
      return parts.modules.rollBack(id);
    },
  });
}

type ManagingParts = Pick<Parts, "modules" | "config" | "audit" | "log">;

function managingRoutes(parts: ManagingParts): Route[] {
  return [
    switchRoute(parts, "enable", "Let a module run"),
    switchRoute(parts, "disable", "Stop a module until it is enabled again"),
    formRoute(parts),
    optionsRoute(parts),
  ];
}

function switchRoute(parts: ManagingParts, action: "enable" | "disable", summary: string): Route {
  return route({
    ...shared,
    method: "POST",
    path: `/modules/:id/${action}`,
    scope: "admin",
    summary,
    answers: ok("The module after it", Type.Object({ module: ModuleView })),
    errors: ["module_unknown", "disk_full"],
    async handle(_, { params, principal }) {
      const module = await parts.modules[action](params.id);
      await recordDone(parts, principal, { action: `module.${action}`, module: params.id });
      return { module };
    },
  });
}

function formRoute({ modules, config }: Pick<Parts, "modules" | "config">): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/modules/:id/config",
    scope: "admin",
    summary: "Read the options of a module, and what they may be",
    answers: ok("Secrets appear only as whether they are set", OptionsForm),
    errors: ["module_unknown"],
    handle(_, { params: { id } }) {
      modules.get(id);
      return config.formOf(id);
    },
  });
}

function optionsRoute(parts: ManagingParts): Route {
  return route({
    ...shared,
    method: "PATCH",
    path: "/modules/:id/config",
    scope: "admin",
    summary: "Change options of a module",
    headers: ["If-Match"],
    body: { schema: Options, mergePatch: true },
    answers: ok("The whole config after it", ConfigChange),
    errors: ["module_unknown", "invalid", "revision_stale", "disk_full"],
    async handle(ctx, { params: { id }, body, principal }) {
      parts.modules.get(id);
      const patch = { [id]: check(Options, body, "the patch") };
      try {
        return await patchConfig(parts, ctx, { patch, principal });
      } catch (error) {
        throw withinSection(error, id);
      }
    },
  });
}

/** Faults of a patch as they are in the body, which has one section of the patch. */
export function withinSection(error: unknown, section: string): unknown {
  const { code, extras } = error instanceof MantelError ? error : {};
  if (code !== "invalid" || !extras?.errors) return error;
  const errors = extras.errors.map(({ pointer, detail }) => {
    const inside = pointer.slice(`/${section}`.length);
    return { pointer: inside, detail: inside === "" ? "is for a module without options" : detail };
  });
  return invalid("the patch", errors);
}
