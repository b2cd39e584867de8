import { entityTag } from "../documents/if-match.ts";
import type { Context } from "./route.ts";

interface Revised {
  readonly revision: number;
}

/**
 * Answers with `body()` under an ETag made of `revision`, or with 304 if the client has that already
 * (RFC 9110, 13.1.2). A text counts as JSON.
 *
 * Does not use Koa's `ctx.fresh`: it refuses requests with `Cache-Control: no-cache`, which Node's
 * `fetch` adds to every request that carries `If-None-Match`.
 */
export function sendRevision(ctx: Context, revision: number, body: () => object | string): void {
  const etag = entityTag(revision);
  ctx.set("ETag", etag);
  if (ctx.response.get("Cache-Control") === "no-store")
    ctx.set("Cache-Control", "private, no-cache");
  if (matchesEtag(ctx, etag)) {
    ctx.status = 304;
    return;
  }
  ctx.body = body();
  ctx.type = "application/json";
}

/** Answers with a changed document; its tag can be used in the next `If-Match`. */
export function withEtag<D extends Revised>(ctx: Context, document: D): D {
  ctx.set("ETag", entityTag(document.revision));
  return document;
}

/** True if the client already has this tag: If-None-Match compares weakly with a list of tags. */
export function matchesEtag(ctx: Context, etag: string): boolean {
  const header = ctx.get("If-None-Match");
  return header.split(",").some((each) => {
    const tag = each.trim();
    return tag === "*" || tag.replace(/^W\//, "") === etag;
  });
}

/** The If-Match header as an option for the stores. */
export function ifMatch(ctx: Context): { ifMatch?: string } {
  const header = ctx.get("If-Match");
  return header === "" ? {} : { ifMatch: header };
}
