import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type bodyParser from "koa-bodyparser";
import { JsonShape } from "../json-shape.ts";
import { findLoneSurrogate, mayContainLoneSurrogates } from "../lone-surrogates.ts";
import type { BodyDescription, Context, Middleware } from "./route.ts";

const MAX_BYTES = 64 * 2 ** 10;
const MAX_DEPTH = 32;
const LINGER_MS = 1_000;
const LINGER_BYTES = 4 * 2 ** 20;
const MAY_NAME_PROTOTYPE = /__proto__|\\u005f/i;
const JSON_TYPE = "application/json";
const MERGE_PATCH_TYPE = "application/merge-patch+json";

/**
 * Reads a JSON body into `ctx.request.body`, `undefined` without a body.
 *
 * The parser only reads text up to a limit: the cost of a document is known from the
 * depth of its brackets before it is parsed. The text is read as Latin-1, which keeps every byte, so
 * that invalid UTF-8 is refused and not replaced.
 *
 * @throws MantelError `unsupported_media_type`, `body_too_large`, `bad_request`
 */
export function readJson(description: Partial<BodyDescription> = {}): Middleware {
  const types = description.mergePatch ? [JSON_TYPE, MERGE_PATCH_TYPE] : [JSON_TYPE];
  const maxBytes = description.maxBytes ?? MAX_BYTES;
  const options: bodyParser.Options & { encoding: string } = {
    enableTypes: ["text"],
    extendTypes: { text: types },
    textLimit: String(maxBytes),
    encoding: "latin1",
  };
  let readText: Middleware | undefined;
  return async (ctx, next) => {
    if (hasBody(ctx)) {
      refuseEncoded(ctx);
      if (!description.raw) requireType(ctx, types);
      await requireSize(ctx, maxBytes);
      if (description.unparsed || description.raw) return next();
      readText ??= (await import("koa-bodyparser")).default(options); // with tables of all character sets, 900 kB
      await readText(ctx, async () => undefined);
      ctx.request.body = parseJson(ctx.request.rawBody as string);
    }
    await next();
  };
}

/**
 * The bytes of an `unparsed` body; empty without a body.
 * @throws MantelError `body_too_large`; `bad_request` if the client stops before its end
 */
export async function readBytes({ req }: Context, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) {
        throw new MantelError("body_too_large", `the body may have at most ${maxBytes} bytes`);
      }
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof MantelError) throw cause;
    throw new MantelError("bad_request", "the body was interrupted", { cause });
  }
  return Buffer.concat(chunks, size);
}

/** True if a body follows the head, even an empty one (RFC 9112, 6.3). */
function hasBody(ctx: Context): boolean {
  return ctx.get("Transfer-Encoding") !== "" || Number(ctx.get("Content-Length")) > 0;
}

function refuseEncoded(ctx: Context): void {
  const encoding = ctx.get("Content-Encoding");
  if (encoding === "" || encoding === "identity") return;
  throw new MantelError(
    "unsupported_media_type",
    `the body must not be encoded, and is ${encoding}`,
  );
}

function requireType(ctx: Context, types: string[]): void {
  const { charset } = ctx.request;
  if (ctx.is(types) && (charset === "" || charset.toLowerCase() === "utf-8")) return;
  const given = ctx.get("Content-Type") || "missing";
  throw new MantelError(
    "unsupported_media_type",
    `the content type must be ${types.join(" or ")} in UTF-8, and is ${given}`,
  );
}

async function requireSize(ctx: Context, maxBytes: number): Promise<void> {
  const declared = Number(ctx.get("Content-Length") || 0);
  if (declared <= maxBytes) return;
  if (declared <= LINGER_BYTES) await drainBody(ctx);
  throw new MantelError(
    "body_too_large",
    `the body has ${declared} bytes; at most ${maxBytes} are allowed`,
  );
}

/**
 * Discards a body that is slightly too large: a client that is still sending when the connection
 * closes would see a reset, and not the answer.
 */
async function drainBody({ req }: Context): Promise<void> {
  const signal = AbortSignal.timeout(LINGER_MS);
  req.resume();
  await once(req, "end", { signal }).catch(() => undefined); // The client has had its second.
}

function parseJson(latin1: string): unknown {
  const bytes = Buffer.from(latin1, "latin1");
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new MantelError("bad_request", "the body is not UTF-8");
  if (new JsonShape().add(bytes).depth > MAX_DEPTH) {
    throw new MantelError("bad_request", `the body is nested more than ${MAX_DEPTH} levels deep`);
  }
  const text = bytes.toString("utf8");
  try {
    const body: unknown = JSON.parse(
      text,
      MAY_NAME_PROTOTYPE.test(text) ? refusePrototype : undefined,
    );
    if (mayContainLoneSurrogates(bytes)) requireWellFormed(body);
    return body;
  } catch (cause) {
    if (cause instanceof MantelError) throw cause;
    throw new MantelError("bad_request", `the body is not JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Refuses `__proto__`, which no document needs: merging such a key would change every object. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new MantelError("bad_request", "no key may be named __proto__");
  return value;
}

function requireWellFormed(body: unknown): void {
  const fault = findLoneSurrogate(body);
  if (!fault) return;
  const { pointer, detail } = fault;
  const sentence = `the body is invalid: ${pointer || "the whole value"} ${detail}`;
  throw new MantelError("bad_request", `${sentence}; send whole characters`, { errors: [fault] });
}
