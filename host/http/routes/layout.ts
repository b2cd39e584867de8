import { Type } from "typebox";
import { LayoutDocument, LayoutInput, LayoutRevision } from "../../layout/schema.ts";
import { ifMatch, sendRevision, tagged } from "../conditional.ts";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

const MAX_LAYOUT_BYTES = 2 ** 20;

const History = Type.Object({ history: Type.Array(LayoutRevision) });
const Params = Type.Object({
  revision: Type.String({ pattern: "^\\d{1,15}$", description: "a revision from the history" }),
});

/** `/layout`: the document of pages and tiles, and the ones before it. */
export function layoutRoutes(parts: Pick<Parts, "layout">): Route[] {
  return [...currentRoutes(parts), ...historyRoutes(parts)];
}

function currentRoutes({ layout }: Pick<Parts, "layout">): Route[] {
  return [
    route({
      method: "GET",
      path: "/layout",
      scope: "read",
      tag: "Layout",
      summary: "Read the layout",
      headers: ["If-None-Match"],
      answers: ok("The layout", LayoutDocument),
      handle: (ctx) => sendRevision(ctx, layout.current.revision, () => layout.current),
    }),
    route({
      method: "PUT",
      path: "/layout",
      scope: "edit",
      tag: "Layout",
      summary: "Replace the layout",
      headers: ["If-Match"],
      body: { schema: LayoutInput, maxBytes: MAX_LAYOUT_BYTES },
      answers: ok("The layout as it is stored", LayoutDocument),
      errors: ["invalid", "revision_stale", "disk_full"],
      handle: async (ctx, { body }) =>
        tagged(ctx, await layout.replace(body, ifMatch(ctx).ifMatch)),
    }),
  ];
}

function historyRoutes({ layout }: Pick<Parts, "layout">): Route[] {
  return [
    route({
      method: "GET",
      path: "/layout/history",
      scope: "read",
      tag: "Layout",
      summary: "List the layouts that can be restored",
      answers: ok("Newest first, at most 50", History),
      handle: async () => ({ history: await layout.history() }),
    }),
    route({
      method: "POST",
      path: "/layout/restore/:revision",
      scope: "edit",
      tag: "Layout",
      summary: "Make an earlier layout the current one",
      params: Params,
      headers: ["If-Match"],
      answers: ok("The layout as it is stored, under a new revision", LayoutDocument),
      errors: ["revision_unknown", "revision_stale", "disk_full"],
      handle: async (ctx, { params }) =>
        tagged(ctx, await layout.restore(Number(params.revision), ifMatch(ctx).ifMatch)),
    }),
  ];
}
