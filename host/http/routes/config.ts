import { Type } from "typebox";
import { recordDone } from "../../auth/audit.ts";
import { permits } from "../../auth/scopes.ts";
import { DEFAULT_BODY_BYTES } from "../body.ts";
import { ifMatch, sendRevision } from "../conditional.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

const Section = Type.Record(Type.String(), Type.Unknown());
const Sections = Type.Record(Type.String(), Section);
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
export function configRoutes(parts: Pick<Parts, "config" | "audit" | "log">): Route[] {
  const { config } = parts;
  return [
    route({
      method: "GET",
      path: "/config",
      scope: "read",
      tag: "Config",
      summary: "Read the effective config",
      answers: ok("The config, without secrets", ConfigView),
      handle(ctx) {
        const view = config.view();
        sendRevision(ctx, view.revision, () => view);
      },
    }),
    route({
      method: "PATCH",
      path: "/config",
      scope: "edit",
      tag: "Config",
      summary: "Change some keys, or put them back to their defaults with null",
      body: { schema: Sections, maxBytes: DEFAULT_BODY_BYTES, mergePatch: true },
      answers: ok("The config after it", ConfigChange),
      errors: ["config_key_not_allowed", "invalid", "revision_stale", "disk_full"],
      async handle(ctx, { body, principal }) {
        const admin = permits(principal.scope, "admin");
        const change = await config.patch(body, { admin, ...ifMatch(ctx) });
        await recordDone(parts, principal, { action: "config.patch", keys: change.changed });
        ctx.set("ETag", `"${change.revision}"`);
        return change;
      },
    }),
  ];
}
