import type { Context } from "./route.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** Sends JSON as the answer, with status 200 unless another one is set. Koa's own steps take as long as the rest. */
export function sendJson(ctx: Context, json: string | Buffer): void {
  const { res } = ctx;
  if (res.statusCode === UNSET_STATUS) res.statusCode = 200;
  res.setHeader("Content-Type", JSON_TYPE);
  res.setHeader("Content-Length", Buffer.byteLength(json));
  end(ctx, json);
}

/** Answers that the client has the current version. */
export function sendNotModified(ctx: Context): void {
  ctx.res.statusCode = 304;
  end(ctx, undefined);
}

function end(ctx: Context, body: string | Buffer | undefined): void {
  ctx.respond = false;
  if (body === undefined || ctx.method === "HEAD") ctx.res.end();
  else ctx.res.end(body);
}

/** The status of Koa for a request that nothing has answered. */
const UNSET_STATUS = 404;
