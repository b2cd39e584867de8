import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { Strict, type ValueOf } from "@mantel/plugin-sdk/schema";
import { type TSchema, Type } from "typebox";
import { ModuleView } from "../../api/module.ts";
import { FoundPackage, Operation, PluginView } from "../../api/plugin.ts";
import { type AuditRecord, recordCompleted } from "../../auth/audit.ts";
import type { TokenIdentity } from "../../auth/tokens.ts";
import { MAX_SOURCE } from "../../packages/source.ts";
import { check } from "../../validate.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";

const Params = Type.Object({
  id: Type.String({
    pattern: PLUGIN_ID,
    maxLength: 64,
    description: "the id of an installed plugin",
  }),
});
const Version = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "a version, range or tag; only for a package of a registry",
});
const Scripts = Type.Array(Type.String({ minLength: 1, maxLength: 214 }), {
  maxItems: 50,
  description:
    "dependencies whose install scripts may run, with the rights of the user who runs Mantel",
});
const InstallBody = Type.Object(
  {
    source: Type.String({
      minLength: 1,
      maxLength: MAX_SOURCE,
      description:
        "an npm package, the address of a .tgz file, a git address, an absolute path, or `link:` and an absolute path",
    }),
    version: Type.Optional(Version),
    scripts: Type.Optional(Scripts),
  },
  Strict,
);
const UpdateBody = Type.Object(
  { version: Type.Optional(Version), scripts: Type.Optional(Scripts) },
  Strict,
);
const PinBody = Type.Object({ pinned: Type.Optional(Type.Boolean()) }, Strict);
const RemoveBody = Type.Object({ purge: Type.Optional(Type.Boolean()) }, Strict);
const Flag = Type.Optional(Type.Enum(["true", "false"]));
const Wait = Type.Object({ wait: Flag });

const PluginList = Type.Object({
  plugins: Type.Array(PluginView),
  /** Running, waiting and recent installations, updates and removals; the newest first. */
  operations: Type.Array(Operation),
  /** Reasons why the newest version of a plugin is unknown, by id. */
  unknown: Type.Record(Type.String(), Type.String()),
});
const Changed = Type.Object({
  plugin: PluginView,
  /** Absent if it does not run, because its files are broken. */
  module: Type.Optional(ModuleView),
  result: Type.Enum(["installed", "updated", "unchanged"]),
});
const Begun = Type.Object({ operation: Operation });
const begun = {
  202: {
    description: "It has begun, as requested by `wait=false`; `GET /plugins` shows the progress",
    schema: Begun,
  },
};
const shared = { scope: "admin", tag: "Plugins" } as const;
const INSTALL_ERRORS = [
  "invalid",
  "plugin_exists",
  "install_failed",
  "registry_down",
  "module_busy",
  "disk_full",
] as const;
/** An icon or README may not do anything in a browser that opens its address. */
const INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** `/plugins`: plugins of other people, installed from a registry, an archive, git or a folder. */
export function pluginRoutes(parts: HttpDependencies): Route[] {
  return [
    listRoute(parts),
    searchRoute(parts),
    readRoute(parts),
    ...fileRoutes(parts),
    installRoute(parts),
    updateRoute(parts),
    pinRoute(parts),
    removeRoute(parts),
  ];
}

function listRoute({ installed: { packages, plugins } }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/plugins",
    operationId: "listPlugins",
    summary: "List installed plugins, and installations that run",
    query: Type.Object({
      latest: Type.Optional(
        Type.Enum(["true", "false"], {
          description: "`true` asks the registry for the newest versions first",
        }),
      ),
    }),
    answers: jsonAnswer("All plugins that were installed as packages", PluginList),
    errors: ["invalid"],
    async handle(_, { query }) {
      const unknown = query.latest === "true" ? await plugins.lookUp() : {};
      return { plugins: await plugins.list(), operations: [...packages.operations], unknown };
    },
  });
}

function searchRoute({ installed }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/plugins/search",
    operationId: "searchPlugins",
    summary: "Search npm's registry for plugins",
    query: Type.Object({
      q: Type.Optional(
        Type.String({ maxLength: 200, description: "words; all plugins if absent" }),
      ),
    }),
    answers: jsonAnswer(
      "Packages with the keyword `mantel-plugin`",
      Type.Object({ packages: Type.Array(FoundPackage) }),
    ),
    errors: ["invalid", "registry_down", "install_failed"],
    handle: async (_, { query }) => ({ packages: await installed.plugins.search(query.q ?? "") }),
  });
}

function readRoute({ installed }: HttpDependencies): Route {
  return route({
    ...shared,
    method: "GET",
    path: "/plugins/:id",
    operationId: "getPlugin",
    summary: "Read one installed plugin",
    params: Params,
    answers: jsonAnswer("The plugin", PluginView),
    errors: ["plugin_unknown"],
    handle: (_, { params }) => installed.plugins.get(params.id),
  });
}

function fileRoutes({ installed: { plugins } }: HttpDependencies): Route[] {
  return [
    route({
      ...shared,
      method: "GET",
      path: "/plugins/:id/readme",
      operationId: "getPluginReadme",
      summary: "Read the README of an installed plugin",
      params: Params,
      answers: { 200: { description: "The unchanged text, usually Markdown", type: "text/plain" } },
      errors: ["plugin_unknown", "not_found"],
      async handle(ctx, { params }) {
        const text = await plugins.readme(params.id);
        sendInert(ctx, "text/plain; charset=utf-8", Buffer.from(text));
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: "/plugins/:id/icon",
      operationId: "getPluginIcon",
      summary: "Read the icon of an installed plugin",
      params: Params,
      answers: { 200: { description: "SVG, PNG or WebP", type: "image/*" } },
      errors: ["plugin_unknown", "not_found"],
      async handle(ctx, { params }) {
        const { type, bytes } = await plugins.icon(params.id);
        sendInert(ctx, type, bytes);
      },
    }),
  ];
}

function installRoute(parts: HttpDependencies): Route {
  const { packages } = parts.installed;
  return route({
    ...shared,
    method: "POST",
    path: "/plugins",
    operationId: "installPlugin",
    summary: "Install a plugin; it starts once its permissions are consented to",
    query: Wait,
    body: { schema: InstallBody },
    answers: { 201: { description: "The installed plugin", schema: Changed }, ...begun },
    errors: INSTALL_ERRORS,
    async handle(ctx, { query, body, principal }) {
      const request = checked(InstallBody, body);
      const { operation, done } = packages.install(request);
      const { source, version, scripts } = request;
      const record = { action: "plugin.install", source: withoutQuery(source), version, scripts };
      const changed = done.then(async ({ id, result }) => {
        await audit(parts, principal, { ...record, plugin: id });
        return { id, result };
      });
      if (query.wait === "false") return begin(parts, ctx, { operation, done: changed });
      const answer = await answerOf(parts, await changed);
      ctx.status = 201;
      return answer;
    },
  });
}

function updateRoute(parts: HttpDependencies): Route {
  const { packages, plugins } = parts.installed;
  return route({
    ...shared,
    method: "POST",
    path: "/plugins/:id/update",
    operationId: "updatePlugin",
    summary: "Update a plugin; if the new version does not start, the old one is put back",
    params: Params,
    query: Wait,
    body: { schema: UpdateBody, optional: true },
    answers: { 200: { description: "The updated plugin", schema: Changed }, ...begun },
    errors: [...INSTALL_ERRORS, "plugin_unknown", "plugin_pinned", "reload_failed"],
    async handle(ctx, { params: { id }, query, body = {}, principal }) {
      const request = checked(UpdateBody, body);
      const { operation, done } = packages.update(id, request);
      const changed = done.then(async (result) => {
        const { version } = await plugins.get(id);
        const { scripts } = request;
        await audit(parts, principal, { action: "plugin.update", plugin: id, version, scripts });
        return result;
      });
      if (query.wait === "false") return begin(parts, ctx, { operation, done: changed });
      return answerOf(parts, await changed);
    },
  });
}

function pinRoute(parts: HttpDependencies): Route {
  const { packages, plugins } = parts.installed;
  return route({
    ...shared,
    method: "POST",
    path: "/plugins/:id/pin",
    operationId: "pinPlugin",
    summary: "Pin a plugin to its version, or release it with `pinned: false`",
    params: Params,
    body: { schema: PinBody, optional: true },
    answers: jsonAnswer("The plugin", PluginView),
    errors: ["plugin_unknown", "invalid", "disk_full"],
    async handle(_, { params: { id }, body = {}, principal }) {
      const { pinned = true } = checked(PinBody, body);
      await packages.pin(id, pinned);
      await audit(parts, principal, { action: "plugin.pin", plugin: id, pinned });
      return plugins.get(id);
    },
  });
}

function removeRoute(parts: HttpDependencies): Route {
  const { packages } = parts.installed;
  return route({
    ...shared,
    method: "DELETE",
    path: "/plugins/:id",
    operationId: "removePlugin",
    summary: "Remove a plugin; with `purge` also its options, secrets and storage",
    params: Params,
    query: Type.Object({ purge: Flag }),
    body: { schema: RemoveBody, optional: true },
    answers: { 204: { description: "The plugin is removed" } },
    errors: ["plugin_unknown", "invalid", "module_busy", "disk_full"],
    async handle(ctx, { params: { id }, query, body = {}, principal }) {
      const purge = checked(RemoveBody, body).purge ?? query.purge === "true";
      await packages.remove(id, { purge }).done;
      await audit(parts, principal, { action: "plugin.remove", plugin: id, purge });
      ctx.status = 204;
    },
  });
}

function checked<S extends TSchema>(schema: S, body: unknown): ValueOf<S> {
  return check(schema, body, "the request");
}

/** Answers that the operation has begun. Its failure is in the list of operations. */
function begin(
  { log }: HttpDependencies,
  ctx: Context,
  { operation, done }: { operation: Operation; done: Promise<unknown> },
): { operation: Operation } {
  done.catch((error: unknown) => log.warn("an installation failed", { ...operation, error }));
  ctx.status = 202;
  return { operation };
}

async function answerOf(
  { installed, modules }: HttpDependencies,
  { id, result }: { readonly id: string; readonly result: string },
) {
  const module = modules.list().find((each) => each.id === id);
  return { plugin: await installed.plugins.get(id), ...(module ? { module } : {}), result };
}

async function audit(
  parts: HttpDependencies,
  principal: TokenIdentity,
  record: AuditRecord,
): Promise<void> {
  await recordCompleted(parts, principal, record);
}

/** A query may hold a secret, which does not belong into the audit log. */
const withoutQuery = (source: string): string => source.replace(/\?.*$/, "");

function sendInert(ctx: Context, type: string, body: Buffer): void {
  ctx.set("Content-Security-Policy", INERT);
  ctx.set("Cache-Control", "private, no-cache");
  ctx.type = type;
  ctx.body = body;
}
