import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Asset, AssetsDependency } from "./dependencies.ts";
import type { Context } from "./route.ts";

const METHODS = ["GET", "HEAD"];
const AT_ROOT = ["/", "/service-worker.js"];
/** The smallest size to compress: smaller files fit into one packet anyway. */
const LEAST_BYTES = 1_400;
const FOR_EVER = "public, max-age=31536000, immutable";

/**
 * Serves the files that browsers load before they have a token: the dashboard's shell at `/`, its service worker, and
 * all below `/assets/`. Paths are looked up and never opened as files.
 *
 * @returns a function that answers a request. It returns `undefined` for any other path, and leaves the request unanswered
 */
export function staticFiles(
  ...sources: readonly AssetsDependency[]
): (ctx: Context) => Promise<void> | undefined {
  return (ctx) => {
    const { path } = ctx;
    const isAtRoot = AT_ROOT.includes(path);
    if (!isAtRoot && !path.startsWith("/assets/")) return undefined;
    ctx.state.route = isAtRoot ? path : "/assets/*";
    return answer(ctx, sources);
  };
}

async function answer(ctx: Context, sources: readonly AssetsDependency[]): Promise<void> {
  const { path, method } = ctx;
  const asset = await find(sources, path);
  if (!asset) throw new MantelError("not_found", `there is nothing at ${path}`);
  if (METHODS.includes(method)) return send(ctx, asset);
  throw new MantelError("method_not_allowed", `${path} is read-only`, { allow: METHODS });
}

async function find(
  sources: readonly AssetsDependency[],
  path: string,
): Promise<Asset | undefined> {
  for (const source of sources) {
    const asset = await source.find(path);
    if (asset) return asset;
  }
  return undefined;
}

async function send(ctx: Context, asset: Asset): Promise<void> {
  const { body, type, immutable, framedPolicy } = asset;
  if (framedPolicy !== undefined) {
    ctx.set("Content-Security-Policy", framedPolicy);
    ctx.set("X-Frame-Options", "SAMEORIGIN");
    ctx.set("X-DNS-Prefetch-Control", "off");
  }
  ctx.set("Cache-Control", immutable ? FOR_EVER : "no-cache");
  ctx.type = type;
  if (!isCompressible(asset)) {
    ctx.body = body;
    return;
  }
  ctx.vary("Accept-Encoding");
  const isWanted = ctx.acceptsEncodings("gzip", "identity") === "gzip";
  if (isWanted) ctx.set("Content-Encoding", "gzip");
  ctx.body = isWanted ? await compressed(asset) : body;
}

/** False for fonts and pictures, which are already compressed. */
function isCompressible({ body, type }: Asset): boolean {
  return body.length >= LEAST_BYTES && /^text\/|json|svg/.test(type);
}

/** Compresses each asset once. Assets contain no secrets, so their compressed lengths reveal nothing. */
function compressed(asset: Asset): Promise<Buffer> {
  const made =
    zipped.get(asset) ?? promisify(gzip)(asset.body, { level: constants.Z_BEST_COMPRESSION });
  zipped.set(asset, made);
  return made;
}

const zipped = new WeakMap<Asset, Promise<Buffer>>();

/** The page for trying the API. It contains no data, and asks for the token for its requests. */
export function readDocsPage(): { page: string; assets: AssetsDependency } {
  const read = (name: string) => readFileSync(join(import.meta.dirname, "docs", name), "utf8");
  const files = new Map<string, Asset>([
    ["/assets/docs.js", { body: read("page.js"), type: "text/javascript", immutable: false }],
    ["/assets/docs.css", { body: read("page.css"), type: "text/css", immutable: false }],
  ]);
  return { page: read("page.html"), assets: { find: async (path) => files.get(path) } };
}
