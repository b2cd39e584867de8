import { join } from "node:path";
import { freePort } from "../../../test/helpers/free-port.ts";
import { type BenchHome, LAMP_IMPORTS, type Served, serve } from "../bench-home.ts";

/** The host's debounce time for file events of one save. */
const SETTLE_MS = 10;

/** The files that each alternative loads of a lamp: the plugin's own files, without the SDK. */
const CODE = `${LAMP_IMPORTS}\nexport const text: string = name + typeof mqtt;\n`;

const SERVE = `
const app = new Koa();
app.use((ctx) => { ctx.body = texts.join(" "); });
const server = createServer(app.callback()).listen(Number(process.argv[2]), "127.0.0.1", () =>
  console.log("ready http://127.0.0.1:" + server.address().port));
`;

/** A server that loads all code once and must be restarted for changes. */
const RESTARTED = `
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import Koa from "koa";
const codes = process.argv.slice(3);
const texts = await Promise.all(
  codes.map(async (code) => (await import(pathToFileURL(code).href)).text));
${SERVE}`;

/** A server that watches its code folders and reloads changed code with `load`. */
const reloading = (load: string): string => `
import { createServer } from "node:http";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { watch } from "chokidar";
import Koa from "koa";
${load}
const codes = process.argv.slice(3);
const texts = await Promise.all(codes.map((code) => load(code, 0)));
codes.forEach((code, at) => {
  let version = 0;
  let settling;
  watch(dirname(code), { ignoreInitial: true }).on("all", () => {
    clearTimeout(settling);
    settling = setTimeout(async () => { texts[at] = await load(code, ++version); }, ${SETTLE_MS});
  });
});
${SERVE}`;

/** Passes a module's query on to its imports; otherwise only the entry would be reloaded. */
const BY_VERSION_QUERY = `
import { register } from "node:module";
const folder = new URL(".", import.meta.url).href;
register("data:text/javascript," + encodeURIComponent(\`
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const [version] = /\\\\?v=\\\\d+$/.exec(context.parentURL ?? "") ?? [];
  const isOwn = version && found.url.startsWith(\${JSON.stringify(folder)});
  return isOwn ? { ...found, url: found.url.split("?")[0] + version } : found;
}\`));
const load = async (code, version) =>
  (await import(pathToFileURL(code).href + "?v=" + version)).text;
`;

const BY_NAMESPACE = `
import { register } from "tsx/esm/api";
const loaders = new Map();
const load = async (code, version) => {
  const next = register({ namespace: code + version });
  const { text } = await next.import(pathToFileURL(code).href, import.meta.url);
  await loaders.get(code)?.unregister();
  loaders.set(code, next);
  return text;
};
`;

const BY_WORKER = `
import { Worker } from "node:worker_threads";
import { context } from "esbuild";
const builds = new Map();
const workers = new Map();
const buildOf = async (code) => builds.get(code) ?? builds.set(code, await context({
  stdin: {
    contents: 'import { parentPort } from "node:worker_threads"; import { text } from "./code.ts"; parentPort.postMessage(text); setInterval(() => text, 60_000);',
    resolveDir: dirname(code),
  },
  bundle: true, write: false, platform: "node", format: "cjs", packages: "external",
})).get(code);
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 };
const load = async (code) => {
  const { outputFiles: [bundle] } = await (await buildOf(code)).rebuild();
  const next = new Worker(bundle.text, { eval: true, resourceLimits });
  const text = await new Promise((resolve) => next.once("message", resolve));
  await workers.get(code)?.terminate();
  workers.set(code, next);
  return text;
};
`;

/** Starts a server that answers with data from the code of some lamps, on a free port by default. */
export type StartAlternative = (port?: number) => Promise<Served>;

/**
 * Alternative ways to reload the same files. Each is a Koa server that answers with data from the code of all `lamps` and
 * has the new code soon after a save.
 */
export async function alternatives(
  home: BenchHome,
  lamps: readonly string[],
): Promise<Readonly<Record<string, StartAlternative>>> {
  for (const lamp of lamps) await home.write(`${lamp}/code.ts`, CODE);
  const codes = lamps.map((lamp) => join(home.plugins, lamp, "code.ts"));
  const program = async (file: string, text: string, flags: readonly string[] = []) => {
    await home.write(file, text);
    return (port = 0) => serve([...flags, join(home.plugins, file), String(port), ...codes]);
  };
  const tsx = ["--import", "tsx"];
  const watched = await program("restarted.mts", RESTARTED, ["--watch", ...tsx]);
  return {
    versionQuery: await program("query.mjs", reloading(BY_VERSION_QUERY), tsx),
    tsxNamespace: await program("namespace.mjs", reloading(BY_NAMESPACE)),
    workerThread: await program("worker.mjs", reloading(BY_WORKER)),
    nodeWatch: async (port) => watched(port ?? (await freePort())), // the same port after a restart
  };
}
