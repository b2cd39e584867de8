import { MantelError } from "@mantel/plugin-sdk/errors";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { LOG_LEVELS } from "@mantel/plugin-sdk/protocol";
import { Nullable, Strict } from "@mantel/plugin-sdk/schema";
import { Type } from "typebox";
import { ModuleView, ReloadResult } from "../../api/module.ts";
import { recordCompleted } from "../../auth/audit.ts";
import { check, invalid } from "../../validate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { ConfigChange, patchConfig } from "./config.ts";

/** The path of one module. */
export const ModuleParams = Type.Object({
  id: Type.String({
    pattern: PLUGIN_ID,
    maxLength: 64,
    description: "the id of a module, such as garden-lamp",
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
  /** The number of records dropped since the host started, because there were too many at once. */
  dropped: Type.Integer(),
});
export const Options = Type.Record(Type.String(), Type.Unknown());
const OptionsForm = Type.Object({
  /** JSON Schema for a form; null for a module without options, or whose code was never loaded. */
  schema: Nullable(Options),
  options: Options,
  /** Translations of the texts in the schema, by language and English text. */
  texts: Type.Record(Type.String(), Type.Record(Type.String(), Type.String())),
  revision: Type.Integer(),
});
const Consent = Type.Object(
  {
    /** `consent.needed` as the user saw it. If more is needed by now, nothing is granted. */
    needed: Type.Optional(
      Type.Array(Type.String({ maxLength: 2_000 }), {
        maxItems: 10_000,
        description: "the `consent.needed` that the user saw; absent accepts the current one",
      }),
    ),
  },
  Strict,
);
const SourceFile = Type.Object({ code: Type.String({ maxLength: 262_144 }) }, Strict);
const WidgetError = Type.Object(
  {
    hash: Type.String({ maxLength: 64, description: "the hash of the code that threw" }),
    message: Type.String({ maxLength: 1_000 }),
    stack: Type.Optional(
      Type.String({ maxLength: 8_000, description: "the stack as the browser gives it" }),
    ),
  },
  Strict,
);
const shared = { tag: "Modules", params: ModuleParams } as const;

/** `/modules`: the installed plugins, and their reloads and settings. */
export function moduleRoutes(parts: HttpDependencies): Route[] {
  return [
    ...readingRoutes(parts),
    logRoute(parts),
    reloadRoute(parts),
    rollBackRoute(parts),
    consentRoute(parts),
    sourceRoute(parts),
    widgetErrorRoute(parts),
    ...managingRoutes(parts),
  ];
}

function readingRoutes({ modules }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/modules",
      operationId: "listModules",
      scope: "read",
      tag: "Modules",
      summary: "List modules",
      answers: jsonAnswer("All modules, including failed ones", ModuleList),
      handle: () => ({ modules: modules.list(), revision: modules.revision }),
    }),
    route({
      ...shared,
      method: "GET",
      path: "/modules/:id",
      operationId: "getModule",
      scope: "read",
      summary: "Read one module",
      answers: jsonAnswer("The module", ModuleView),
      errors: ["module_unknown"],
      handle: (_, { params }) => modules.get(params.id),
    }),
  ];
}

function logRoute({ modules }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/modules/:id/logs",
    operationId: "getModuleLogs",
    scope: "admin",
    summary: "Read the last records of a module's log",
    answers: jsonAnswer("Oldest first", LogEntries),
    query: Type.Object({
      level: Type.Optional(
        Type.Enum([...LOG_LEVELS], { description: "the lowest level; all if absent" }),
      ),
      since: Type.Optional(
        Type.String({ format: "date-time", description: "records from this time on" }),
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

function reloadRoute(parts: HttpDependencies): Route {
  const { modules, log } = parts;
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/reload",
    operationId: "reloadModule",
    scope: "edit",
    summary: "Reload a module's code",
    query: Type.Object({ wait: Type.Optional(Type.Enum(["true", "false"])) }),
    answers: {
      200: {
        description: "The module and the result of its reload",
        schema: Type.Object({ module: ModuleView, reload: ReloadResult }),
      },
      202: {
        description: "The reload has begun, as requested by `wait=false`",
        schema: Type.Object({ module: ModuleView }),
      },
    },
    errors: ["module_unknown", "reload_failed", "consent_needed", "module_down", "deadline_passed"],
    handle(ctx, { params, query, principal }) {
      modules.get(params.id); // An unknown id is refused at once.
      // Not waited for: a reload takes milliseconds, and simultaneous requests share one.
      void recordCompleted(parts, principal, { action: "module.reload", module: params.id });
      if (query.wait !== "false") return modules.reload(params.id);
      modules.reload(params.id).catch((error: unknown) => {
        log.debug("a reload in the background failed", { module: params.id, error });
      });
      ctx.status = 202;
      return { module: modules.get(params.id) };
    },
  });
}

function rollBackRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/rollback",
    operationId: "rollBackModule",
    scope: "edit",
    summary: "Roll back to the previous code of a module, until its files change or it is reloaded",
    answers: jsonAnswer(
      "The module and the result of the rollback",
      Type.Object({ module: ModuleView, reload: ReloadResult }),
    ),
    errors: ["module_unknown", "no_earlier_code", "reload_failed", "module_down"],
    async handle(_, { params: { id }, principal }) {
      parts.modules.get(id);
      void recordCompleted(parts, principal, { action: "module.rollback", module: id });
      return parts.modules.rollBack(id);
    },
  });
}

/** Only for `admin`, who may install plugins: the code runs with the permissions of this one. */
function sourceRoute(parts: HttpDependencies): Route {
  return route({
    tag: "Modules",
    params: Type.Object({
      ...ModuleParams.properties,
      name: Type.String({
        maxLength: 100,
        description: "the name of a file, such as hall-light.ts",
      }),
    }),
    method: "POST",
    path: "/modules/:id/sources/:name",
    operationId: "addModuleSource",
    scope: "admin",
    summary: "Add a file to the sources of the home that a plugin runs, such as an automation",
    body: { schema: SourceFile },
    answers: { 201: { description: "The file is stored, and is built" } },
    errors: ["module_unknown", "not_found", "conflict", "invalid", "disk_full", "disk_read_only"],
    async handle(ctx, { params: { id, name }, body, principal }) {
      await parts.audit.record(principal, { action: "module.source", module: id, file: name });
      const { code } = check(SourceFile, body, "the file");
      await parts.modules.addSource(id, name, code);
      ctx.body = null; // otherwise Koa sends the name of the status
      ctx.status = 201;
    },
  });
}

function consentRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/consent",
    operationId: "consentToModule",
    scope: "admin",
    summary: "Consent to the permissions a plugin asks for",
    body: { schema: Consent, optional: true },
    answers: jsonAnswer(
      "The granted permissions in words, and the result of its reload",
      Type.Object({
        module: ModuleView,
        reload: ReloadResult,
        granted: Type.Array(Type.String()),
      }),
    ),
    errors: ["module_unknown", "invalid", "consent_needed", "reload_failed", "disk_full"],
    async handle(_, { params: { id }, body = {}, principal }) {
      parts.modules.get(id);
      const { needed } = check(Consent, body, "the consent");
      const granted = await parts.modules.allow(id, needed);
      if (granted.length > 0) {
        await recordCompleted(parts, principal, { action: "module.consent", module: id, granted });
      }
      return { ...(await parts.modules.takeOver(id)), granted };
    },
  });
}

function widgetErrorRoute({ modules }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "POST",
    path: "/modules/:id/widget-errors",
    operationId: "reportWidgetError",
    scope: "read",
    summary: "Report an error of a widget in a browser, for the log and the state of its module",
    body: { schema: WidgetError },
    answers: { 204: { description: "Recorded, unless other code is served by now" } },
    errors: ["module_unknown", "invalid"],
    handle(ctx, { params, body }) {
      modules.widgetFailed(params.id, check(WidgetError, body, "the error"));
      ctx.status = 204;
      return undefined;
    },
  });
}

function managingRoutes(parts: HttpDependencies): Route[] {
  return [
    switchRoute(parts, "enable", "Enable a module"),
    switchRoute(parts, "disable", "Stop a module until it is enabled again"),
    formRoute(parts),
    optionsRoute(parts),
  ];
}

function switchRoute(
  parts: HttpDependencies,
  action: "enable" | "disable",
  summary: string,
): Route {
  return route({
    ...shared,
    method: "POST",
    path: `/modules/:id/${action}`,
    operationId: `${action}Module`,
    scope: "admin",
    summary,
    answers: jsonAnswer("The changed module", Type.Object({ module: ModuleView })),
    errors: ["module_unknown", "disk_full"],
    async handle(_, { params, principal }) {
      const module = await parts.modules[action](params.id);
      await recordCompleted(parts, principal, { action: `module.${action}`, module: params.id });
      return { module };
    },
  });
}

function formRoute({ modules, config }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/modules/:id/config",
    operationId: "getModuleConfig",
    scope: "admin",
    summary: "Read the options of a module, and their schema",
    answers: jsonAnswer("The options; secrets show only if they are set", OptionsForm),
    errors: ["module_unknown"],
    handle(_, { params: { id } }) {
      modules.get(id);
      const { translations = {} } = modules.running(id)?.manifest ?? {};
      return { ...config.formOf(id), texts: translations };
    },
  });
}

function optionsRoute(parts: HttpDependencies): Route {
  return route({
    ...shared,
    method: "PATCH",
    path: "/modules/:id/config",
    operationId: "updateModuleConfig",
    scope: "admin",
    summary: "Change options of a module",
    headers: ["If-Match"],
    body: { schema: Options, mergePatch: true },
    answers: jsonAnswer("The whole config after the change", ConfigChange),
    errors: ["module_unknown", "invalid", "revision_stale", "disk_full"],
    async handle(ctx, { params: { id }, body, principal }) {
      parts.modules.get(id);
      const patch = { [id]: check(Options, body, "the patch") };
      try {
        return await patchConfig(parts, ctx, { patch, principal });
      } catch (error) {
        throw pointersWithinSection(error, id);
      }
    },
  });
}

/** Moves the pointers of a patch's faults to the body, which is one section of the patch. */
export function pointersWithinSection(error: unknown, section: string): unknown {
  const { code, extras } = error instanceof MantelError ? error : {};
  if (code !== "invalid" || !extras?.errors) return error;
  const errors = extras.errors.map(({ pointer, detail }) => {
    const inside = pointer.slice(`/${section}`.length);
    return { pointer: inside, detail: inside === "" ? "is for a module without options" : detail };
  });
  return invalid("the patch", errors);
}
