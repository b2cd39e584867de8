// npm run client-types: writes plugin-sdk/client/api-types.d.ts, the types of the HTTP API, from its OpenAPI document.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { openApiDocument } from "../host/http/openapi.ts";
import type { Route } from "../host/http/route.ts";
import { channelPathRoutes, contributedEvents } from "../host/http/routes/channel-paths.ts";
import { createRoutes, type RouteDependencies } from "../host/http/routes/index.ts";
import { routesOfPlugins } from "../host/http/routes/plugin-routes.ts";
import { readShipped } from "./shipped-plugins.ts";

const ROOT = resolve(import.meta.dirname, "..");
const TYPES = join(ROOT, "plugin-sdk/client/api-types.d.ts");
const GENERATOR = join(
  import.meta.dirname,
  "client-types/node_modules/openapi-typescript/bin/cli.js",
);
/** The generator writes `T | null | null`. */
const LINT = "/* oxlint-disable typescript/no-duplicate-type-constituents */";
const run = promisify(execFile);

type Json = Record<string, unknown>;
interface Operation {
  responses: Record<string, Json & { content?: Json }>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** The paths, channels and routes of the plugins that ship with Mantel. */
const shipped = await readShipped();

/**
 * The route table of a home with the plugins that ship with Mantel, without the host behind it: its handlers cannot be
 * called.
 */
export function routeTable(): readonly Route[] {
  const ofPlugins = routesOfPlugins({
    modules: { routed: () => shipped.routed },
    apiPaths: shipped.apiPaths,
    routeSecrets: { admits: () => false },
  });
  return [...ownRoutes(), ...channelPathRoutes(shipped)(), ...ofPlugins()];
}

function ownRoutes(): readonly Route[] {
  const nothing: object = new Proxy(() => nothing, { get: () => nothing });
  const known = {
    prefix: "",
    version: "1",
    docsPage: "",
    apiPaths: shipped.apiPaths,
    contributed: () => [],
  };
  const get = (own: object, key: string | symbol): unknown => Reflect.get(own, key) ?? nothing;
  return createRoutes(new Proxy(known, { get }) as unknown as RouteDependencies);
}

/**
 * The document that the types are made from: the paths below the prefix, and one `default` answer for all problems,
 * which have the same form.
 */
export function clientDocument(): object {
  const routes = routeTable().filter(({ outsidePrefix }) => !outsidePrefix);
  const events = contributedEvents(shipped);
  const text = JSON.stringify(openApiDocument({ version: "1", prefix: "", routes, events }));
  const document = JSON.parse(text) as Document;
  for (const operation of Object.values(document.paths).flatMap((each) => Object.values(each))) {
    operation.responses = withOneProblem(operation.responses);
  }
  const { Command } = document.components.schemas;
  // In TypeScript, an index signature includes the named properties: here `parts` and `extra`.
  if (Command) Command["additionalProperties"] = true;
  return document;
}

/** The line of the generated file that names the document it was made from. */
export function sourceLine(document: object): string {
  const hash = createHash("sha256").update(JSON.stringify(document)).digest("hex");
  return `// Made by \`npm run client-types\` from the OpenAPI document ${hash.slice(0, 32)}.`;
}

function withOneProblem(responses: Operation["responses"]): Operation["responses"] {
  const good = Object.entries(responses)
    .filter(([, { content = {} }]) => !("application/problem+json" in content))
    .map(([status, answer]) => [status, { ...answer, headers: undefined }]);
  const schema = { $ref: "#/components/schemas/Problem" };
  const content = { "application/problem+json": { schema } };
  return { ...Object.fromEntries(good), default: { description: "The problem", content } };
}

async function writeTypes(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "mantel-client-types-"));
  try {
    const [source, target] = [join(folder, "openapi.json"), join(folder, "types.ts")];
    const document = clientDocument();
    await writeFile(source, JSON.stringify(document));
    const options = ["--empty-objects-unknown", "--root-types", "--root-types-no-schema-prefix"];
    await run(process.execPath, [GENERATOR, source, "-o", target, ...options]);
    await writeFile(TYPES, [sourceLine(document), LINT, await readFile(target, "utf8")].join("\n"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await run(join(ROOT, "node_modules/.bin/oxfmt"), ["-c", join(ROOT, ".ci/oxfmt.json"), TYPES]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await writeTypes();
