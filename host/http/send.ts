import type { Context } from "./route.ts";

const JSON_TYPE = "application/json; charset=utf-8";
/** Copying more than this costs more than another write. */
const SMALL_BYTES = 8 * 2 ** 10;
const NO_HEADERS: readonly string[] = [];

/**
 * Sends JSON as the answer, with status 200 unless another one is set. Koa's own steps take as long as the rest.
 *
 * @param headers names and values in turns
 */
export function sendJson(ctx: Context, json: string | Buffer, headers = NO_HEADERS): void {
  const { res } = ctx;
  const length = Buffer.byteLength(json);
  ctx.respond = false;
  res.writeHeadOnce(res.statusCode === UNSET_STATUS ? 200 : res.statusCode, [
    "Content-Type",
    JSON_TYPE,
    "Content-Length",
    String(length),
    ...headers,
  ]);
  if (ctx.method === "HEAD") res.end();
  // Node encodes UTF-8 together with the head and many times more slowly than Latin-1, which is the same for ASCII.
  else if (json.length === length && typeof json === "string") res.endWithLatin1(json);
  else endWithBytes(ctx, typeof json === "string" ? Buffer.from(json) : json);
}

/** Bytes are Latin-1 too, and as a text they go into one write with the head. */
function endWithBytes({ res }: Context, bytes: Buffer): void {
  if (bytes.length > SMALL_BYTES) res.end(bytes);
  else res.endWithLatin1(bytes.toString("latin1"));
}

/** Answers that the client has the current version, which has this tag. */
export function sendNotModified(ctx: Context, etag: string): void {
  ctx.respond = false;
  ctx.res.writeHeadOnce(304, ["ETag", etag]);
  ctx.res.end();
}

/** The status of Koa for a request that nothing has answered. */
const UNSET_STATUS = 404;
