import type { Context } from "./route.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** Sends JSON as the answer, with status 200 unless another one is set. Koa's own steps take as long as the rest. */
export function sendJson(ctx: Context, json: string | Buffer): void {
  const { res } = ctx;
  if (res.statusCode === UNSET_STATUS) res.statusCode = 200;
  const length = Buffer.byteLength(json);
  res.setHeader("Content-Type", JSON_TYPE);
  res.setHeader("Content-Length", length);
  end(ctx, json, length);
}

/** Answers that the client has the current version. */
export function sendNotModified(ctx: Context): void {
  ctx.res.statusCode = 304;
  ctx.respond = false;
  ctx.res.end();
}

function end(ctx: Context, json: string | Buffer, length: number): void {
  const { res } = ctx;
  ctx.respond = false;
  if (ctx.method === "HEAD") res.end();
  else if (typeof json !== "string") res.end(json);
  // Node encodes UTF-8 together with the head and many times more slowly than Latin-1, which is the same for ASCII.
  else if (json.length === length) res.end(json, "latin1");
  else res.end(Buffer.from(json));
}

/** The status of Koa for a request that nothing has answered. */
const UNSET_STATUS = 404;
