import { createHash } from "node:crypto";
import { entityTag } from "../documents/if-match.ts";
import type { Context } from "./route.ts";
import { sendJson, sendNotModified } from "./send.ts";

interface Revised {
  readonly revision: number;
}

/**
 * Answers with `body()` under an ETag made of `revision`, or with 304 if the client has that already
 * (RFC 9110, 13.1.2). Texts and bytes count as JSON.
 *
 * Does not use Koa's `ctx.fresh`: it refuses requests with `Cache-Control: no-cache`, which Node's
 * `fetch` adds to every request that carries `If-None-Match`.
 */
export function sendRevision(
  ctx: Context,
  revision: number,
  body: () => object | string,
  cacheControl = "private, no-cache",
): void {
  const etag = entityTag(revision);
  const { res } = ctx;
  res.cacheControl = cacheControl;
  if (matchesEtag(ctx, etag)) return sendNotModified(ctx, etag);
  const made = body();
  const json = typeof made === "string" || made instanceof Buffer ? made : JSON.stringify(made);
  sendJson(ctx, json, ["ETag", etag]);
}

/** Answers with a document under an ETag made of its content, or with 304 if the client has that already. */
export function sendUnlessCurrent(ctx: Context, document: object): void {
  const json = JSON.stringify(document);
  const etag = `"${createHash("sha256").update(json).digest("base64url").slice(0, 22)}"`;
  ctx.res.cacheControl = "private, no-cache";
  if (matchesEtag(ctx, etag)) return sendNotModified(ctx, etag);
  sendJson(ctx, json, ["ETag", etag]);
}

/** The bytes of a document as JSON, made once for each revision. */
export class RevisedJson {
  readonly #document: () => object;
  #revision: number | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  /** @param document returns the document at its current revision */
  constructor(document: () => object) {
    this.#document = document;
  }

  /** @param revision the current one */
  at(revision: number): Buffer {
    if (this.#revision !== revision) {
      this.#bytes = Buffer.from(JSON.stringify(this.#document()));
      this.#revision = revision;
    }
    return this.#bytes;
  }
}

/** Answers with a changed document; its tag can be used in the next `If-Match`. */
export function withEtag<D extends Revised>(ctx: Context, document: D): D {
  ctx.set("ETag", entityTag(document.revision));
  return document;
}

/** True if the client already has this tag: If-None-Match compares weakly with a list of tags. */
export function matchesEtag(ctx: Context, etag: string): boolean {
  const header = ctx.req.headers["if-none-match"];
  if (header === undefined || header === etag) return header === etag;
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
