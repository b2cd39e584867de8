import { Type } from "typebox";
import { LayoutDocument, LayoutInput, LayoutRevision } from "../../api/layout.ts";
import { recordCompleted } from "../../auth/audit.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { ifMatch, sendRevision, withEtag } from "../etag.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const MAX_LAYOUT_BYTES = 2 ** 20;

const History = Type.Object({ history: Type.Array(LayoutRevision) });
const Params = Type.Object({
  revision: Type.String({ pattern: "^\\d{1,15}$", description: "a revision from the history" }),
});

/** `/layout`: the document of pages and tiles, and its previous revisions. */
export function layoutRoutes(parts: HttpDependencies): Route[] {
  return [...currentRoutes(parts), ...historyRoutes(parts)];
}

function currentRoutes(parts: HttpDependencies): Route[] {
  const { layout } = parts;
  return [
    route({
      method: "GET",
      path: "/layout",
      operationId: "getLayout",
      scope: "read",
      tag: "Layout",
      summary: "Read the layout",
      headers: ["If-None-Match"],
      answers: jsonAnswer("The layout", LayoutDocument),
      handle: (ctx) => sendRevision(ctx, layout.current.revision, () => layout.current),
    }),
    route({
      method: "PUT",
      path: "/layout",
      operationId: "putLayout",
      scope: "edit",
      tag: "Layout",
      summary: "Replace the layout",
      headers: ["If-Match"],
      body: { schema: LayoutInput, maxBytes: MAX_LAYOUT_BYTES },
      answers: jsonAnswer("The stored layout", LayoutDocument),
      errors: ["invalid", "revision_stale", "disk_full"],
      async handle(ctx, { body, principal }) {
        const stored = await layout.replace(body, ifMatch(ctx).ifMatch);
        const { revision } = stored;
        await recordCompleted(parts, principal, { action: "layout.replace", revision });
        return withEtag(ctx, stored);
      },
    }),
  ];
}

function historyRoutes(parts: HttpDependencies): Route[] {
  const { layout } = parts;
  return [
    route({
      method: "GET",
      path: "/layout/history",
      operationId: "listLayoutRevisions",
      scope: "read",
      tag: "Layout",
      summary: "List the layouts that can be restored",
      answers: jsonAnswer("Newest first, at most 50", History),
      handle: async () => ({ history: await layout.history() }),
    }),
    route({
      method: "POST",
      path: "/layout/restore/:revision",
      operationId: "restoreLayout",
      scope: "edit",
      tag: "Layout",
      summary: "Restore an earlier layout",
      params: Params,
      headers: ["If-Match"],
      answers: jsonAnswer("The stored layout, with a new revision", LayoutDocument),
      errors: ["revision_unknown", "revision_stale", "disk_full"],
      async handle(ctx, { params, principal }) {
        const restored = Number(params.revision);
        const stored = await layout.restore(restored, ifMatch(ctx).ifMatch);
        const { revision } = stored;
        await recordCompleted(parts, principal, { action: "layout.restore", restored, revision });
        return withEtag(ctx, stored);
      },
    }),
  ];
}
