import { isUtf8 } from "node:buffer";
import { once } from "node:events";
import { MantelError } from "@mantel/plugin-sdk/errors";
import bodyParser from "koa-bodyparser";
import type { BodyDescription, Context, Middleware } from "./route.ts";

const MAX_BYTES = 64 * 2 ** 10;
const MAX_DEPTH = 32;
const LINGER_MS = 1_000;
const LINGER_BYTES = 4 * 2 ** 20;
const MAY_NAME_PROTOTYPE = /__proto__|\\u005f/i;
const JSON_TYPE = "application/json";
const MERGE_PATCH_TYPE = "application/merge-patch+json";

/**
 * Reads a JSON body into `ctx.request.body`, `undefined` when there is none.
 *
 * The parser is used for its bounded reading and gives text: what a document costs is known from the
 * depth of its brackets before it is parsed. The text is read as Latin-1, which keeps every byte, so
 * that bytes which are no UTF-8 are refused and not replaced.
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
  const readText = bodyParser(options);
  return async (ctx, next) => {
    if (hasBody(ctx)) {
      refuseEncoded(ctx);
      requireType(ctx, types);
      await requireSize(ctx, maxBytes);
      await readText(ctx, async () => undefined);
      ctx.request.body = parseJson(ctx.request.rawBody as string);
    }
    await next();
  };
}

/** True when a body follows the head, be it empty (RFC 9112, 6.3). */
function hasBody(ctx: Context): boolean {
  return ctx.get("Transfer-Encoding") !== "" || Number(ctx.get("Content-Length")) > 0;
}

function refuseEncoded(ctx: Context): void {
  const encoding = ctx.get("Content-Encoding");
  if (encoding === "" || encoding === "identity") return;
  throw new MantelError("unsupported_media_type", `bodies come plain, and this one is ${encoding}`);
}

function requireType(ctx: Context, types: string[]): void {
  const { charset } = ctx.request;
  if (ctx.is(types) && (charset === "" || charset.toLowerCase() === "utf-8")) return;
  const given = ctx.get("Content-Type") || "missing";
  throw new MantelError(
    "unsupported_media_type",
    `the content type is ${types.join(" or ")} in UTF-8, and is ${given}`,
  );
}

async function requireSize(ctx: Context, maxBytes: number): Promise<void> {
  const declared = Number(ctx.get("Content-Length") || 0);
  if (declared <= maxBytes) return;
  if (declared <= LINGER_BYTES) await letThrough(ctx);
  throw new MantelError(
    "body_too_large",
    `the body has ${declared} bytes; at most ${maxBytes} are taken here`,
  );
}

/**
 * Discards a body that is not much too large: a client that is still sending when the connection
 * closes would see a reset, and not the answer.
 */
async function letThrough({ req }: Context): Promise<void> {
  const signal = AbortSignal.timeout(LINGER_MS);
  req.resume();
  await once(req, "end", { signal }).catch(() => undefined); // It has had its second.
}

function parseJson(latin1: string): unknown {
  const bytes = Buffer.from(latin1, "latin1");
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new MantelError("bad_request", "the body is not UTF-8");
  const text = bytes.toString("utf8");
  requireDepth(text);
  try {
    return JSON.parse(text, MAY_NAME_PROTOTYPE.test(text) ? refusePrototype : undefined);
  } catch (cause) {
    if (cause instanceof MantelError) throw cause;
    throw new MantelError("bad_request", `the body is not JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Counts brackets outside strings. */
function requireDepth(text: string): void {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]+|\\.)*"?|[[{\]}]/gs)) {
    if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    if (depth > MAX_DEPTH) {
      throw new MantelError("bad_request", `the body is nested more than ${MAX_DEPTH} deep`);
    }
  }
}

/** No document has such a key, and merging one that does would change what every object is. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new MantelError("bad_request", "no key may be named __proto__");
  return value;
}
