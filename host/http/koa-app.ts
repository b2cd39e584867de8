import Koa from "koa";
import type { Context, RequestState } from "./route.ts";

/** A method that the types of Koa leave out. */
interface KoasOwn {
  readonly handleRequest: (this: KoaApp, ctx: Context, answer: Answer) => Promise<void>;
}

type Answer = (ctx: Context) => Promise<void>;

/** A Koa app that adds no listeners to each request. */
export class KoaApp extends Koa<RequestState> {
  /**
   * Answers a request; Koa's `callback` calls it. Koa's own also listens for the end of the connection, only to report its
   * errors, which Node reports to `answerClientError` as well.
   */
  protected handleRequest(ctx: Context, answer: Answer): Promise<void> {
    ctx.res.statusCode = 404;
    return answer(ctx)
      .then(() => (ctx.respond === false ? undefined : this.#respond(ctx)))
      .catch((error: Error) => ctx.onerror(error));
  }

  /** Sends what the body is set to, as Koa does. */
  #respond(ctx: Context): Promise<void> {
    const { statusCode } = ctx.res;
    const { handleRequest } = Koa.prototype as unknown as KoasOwn;
    return handleRequest.call(this, ctx, async () => {
      ctx.res.statusCode = statusCode;
    });
  }
}
