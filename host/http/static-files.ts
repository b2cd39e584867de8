import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Asset, AssetsPart } from "./parts.ts";
import type { Context, Middleware } from "./route.ts";

const METHODS = ["GET", "HEAD"];
const FOR_EVER = "public, max-age=31536000, immutable";

/**
 * Serves what browsers load before they have a token: the dashboard's shell at `/`, and all below
 * `/assets/`. Paths are looked up and never opened as files.
 */
export function staticFiles(...sources: readonly AssetsPart[]): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== "/" && !ctx.path.startsWith("/assets/")) return next();
    ctx.state.route = ctx.path === "/" ? "/" : "/assets/*";
    const asset = find(sources, ctx.path);
    if (!asset) throw new MantelError("not_found", `there is nothing at ${ctx.path}`);
    if (METHODS.includes(ctx.method)) return send(ctx, asset);
    throw new MantelError("method_not_allowed", `${ctx.path} can only be read`, { allow: METHODS });
  };
}

function find(sources: readonly AssetsPart[], path: string): Asset | undefined {
  for (const source of sources) {
    const asset = source.find(path);
    if (asset) return asset;
  }
  return undefined;
}

function send(ctx: Context, { body, type, immutable }: Asset): void {
  ctx.set("Cache-Control", immutable ? FOR_EVER : "no-cache");
  ctx.body = body;
  ctx.type = type;
}

/** The page for trying the API. It holds no data, and asks for the token that its requests send. */
export function readDocsPage(): { page: string; assets: AssetsPart } {
  const read = (name: string) => readFileSync(join(import.meta.dirname, "docs", name), "utf8");
  const files = new Map<string, Asset>([
    ["/assets/docs.js", { body: read("page.js"), type: "text/javascript", immutable: false }],
    ["/assets/docs.css", { body: read("page.css"), type: "text/css", immutable: false }],
  ]);
  return { page: read("page.html"), assets: { find: (path) => files.get(path) } };
}
