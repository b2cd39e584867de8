import { Type } from "typebox";
import { recordCompleted } from "../../auth/audit.ts";
import { permits } from "../../auth/scopes.ts";
import type { Principal } from "../../auth/tokens.ts";
import { ConfigPatch } from "../../config/schema.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { ifMatch, sendRevision, withEtag } from "../etag.ts";
import { type Context, jsonAnswer, type Route, route } from "../route.ts";

const Sections = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()));
const Keys = Type.Array(Type.String());
const shown = {
  /** By section. Secrets appear only as `{"set": true}` or `{"set": false}`. */
  config: Sections,
  /** Keys that the `edit` scope may change, and those that need `admin`. */
  meta: Type.Object({ writable: Keys, adminWritable: Keys }),
  revision: Type.Integer(),
};
const ConfigView = Type.Object(shown);
export const ConfigChange = Type.Object({ ...shown, changed: Keys });

/** `/config`: the effective settings of the host and of its plugins. */
export function configRoutes(parts: HttpDependencies): Route[] {
  const { config } = parts;
  return [
    route({
      method: "GET",
      path: "/config",
      operationId: "getConfig",
      scope: "read",
      tag: "Config",
      summary: "Read the effective config",
      headers: ["If-None-Match"],
      answers: jsonAnswer("The config, without secrets", ConfigView),
      handle(ctx) {
        const view = config.view();
        sendRevision(ctx, view.revision, () => view);
      },
    }),
    route({
      method: "PATCH",
      path: "/config",
      operationId: "updateConfig",
      scope: "edit",
      tag: "Config",
      summary: "Change some keys, or reset them to their defaults with null",
      headers: ["If-Match"],
      body: { schema: ConfigPatch, mergePatch: true },
      answers: jsonAnswer("The changed config", ConfigChange),
      errors: ["config_key_not_allowed", "invalid", "revision_stale", "disk_full"],
      handle: (ctx, { body, principal }) => patchConfig(parts, ctx, { patch: body, principal }),
    }),
  ];
}

/** Patches the config as far as the principal may, records that in the audit log, and returns the answer. */
export async function patchConfig(
  parts: HttpDependencies,
  ctx: Context,
  { patch, principal }: { patch: unknown; principal: Principal },
): Promise<object> {
  const admin = permits(principal.scope, "admin");
  const change = await parts.config.patch(patch, { admin, ...ifMatch(ctx) });
  await recordCompleted(parts, principal, { action: "config.patch", keys: change.changed });
  return withEtag(ctx, change);
}
