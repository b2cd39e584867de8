// npm run bench reload [-- count]: time from the end of a save to the first answer of the new code,
// for a plugin of ten files with one npm dependency, and for the same code in servers that reload it
// in other ways: a version query, a tsx namespace, a worker thread, a restart by `node --watch`.
import { setTimeout as delay } from "node:timers/promises";
import {
  findFreePort,
  LAMP_IMPORTS,
  nameFile,
  openHome,
  rounded,
  type Served,
  serve,
  serveHost,
  summarise,
  writeLamp,
} from "./house.ts";

const WARM_UP = 5;
const PAUSE_MS = 150;
const DEADLINE_MS = 20_000;
/** As long as the host waits for a second event of the same save. */
const SETTLE_MS = 10;

/** What each alternative loads: the files of the plugin, without the SDK. */
const CODE = `${LAMP_IMPORTS}\nexport const text: string = name + typeof mqtt;\n`;

const RESTARTED = `
import { createServer } from "node:http";
import Koa from "koa";
import { text } from "./code.ts";
const app = new Koa();
app.use((ctx) => { ctx.body = text; });
const server = createServer(app.callback()).listen(Number(process.argv[2]), "127.0.0.1", () =>
  console.log("ready http://127.0.0.1:" + server.address().port));
`;

/** A server that follows the folder and loads the code anew by itself, with what `load` does. */
const reloading = (load: string): string => `
import { createServer } from "node:http";
import { watch } from "chokidar";
import Koa from "koa";
${load}
let version = 0;
let text = await load(version);
let settling;
watch(import.meta.dirname, { ignoreInitial: true }).on("all", () => {
  clearTimeout(settling);
  settling = setTimeout(async () => { text = await load(++version); }, ${SETTLE_MS});
});
const app = new Koa();
app.use((ctx) => { ctx.body = text; });
const server = createServer(app.callback()).listen(0, "127.0.0.1", () =>
  console.log("ready http://127.0.0.1:" + server.address().port));
`;

/** The query of a module goes on to the files it imports, or only the entry would be new. */
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
const load = async (version) => (await import("./code.ts?v=" + version)).text;
`;

const BY_NAMESPACE = `
import { register } from "tsx/esm/api";
let loader;
const load = async (version) => {
  const next = register({ namespace: String(version) });
  const { text } = await next.import("./code.ts", import.meta.url);
  await loader?.unregister();
  loader = next;
  return text;
};
`;

const BY_WORKER = `
import { Worker } from "node:worker_threads";
import { context } from "esbuild";
const build = await context({
  stdin: {
    contents: 'import { parentPort } from "node:worker_threads"; import { text } from "./code.ts"; parentPort.postMessage(text);',
    resolveDir: import.meta.dirname,
  },
  bundle: true, write: false, platform: "node", format: "cjs", packages: "external",
});
let worker;
const load = async () => {
  const { outputFiles: [bundle] } = await build.rebuild();
  const next = new Worker(bundle.text, { eval: true });
  const text = await new Promise((resolve) => next.once("message", resolve));
  await worker?.terminate();
  worker = next;
  return text;
};
`;

const count = Number(process.argv[2] ?? 30);
const home = await openHome();
await writeLamp(home, "lamp");
await home.write("lamp/code.ts", CODE);

const mantel = await measure(await serveHost(home), async ({ url, token }) => {
  const headers = { authorization: `Bearer ${token}` };
  return fetch(`${url}/api/v1/smart-home/devices/lamp:light:1`, { headers });
});
const versionQuery = await alternative("query.mjs", reloading(BY_VERSION_QUERY), [
  "--import",
  "tsx",
]);
const tsxNamespace = await alternative("namespace.mjs", reloading(BY_NAMESPACE));
const workerThread = await alternative("worker.mjs", reloading(BY_WORKER));
const nodeWatch = await measure(await serveWatched(), ({ url }) => fetch(url));
await home.remove();

const alternatives = { versionQuery, tsxNamespace, workerThread, nodeWatch };
const timesMantel = Object.fromEntries(
  Object.entries(alternatives).map(([name, { p50 }]) => [name, rounded(p50 / mantel.p50)]),
);
console.log(
  JSON.stringify({ bench: "reload", unit: "ms", count, mantel, ...alternatives, timesMantel }),
);

async function alternative(file: string, program: string, flags: readonly string[] = []) {
  await home.write(`lamp/${file}`, program);
  const server = await serve([...flags, `${home.plugins}/lamp/${file}`]);
  return measure(server, ({ url }) => fetch(url));
}

async function serveWatched(): Promise<Served> {
  await home.write("lamp/restarted.ts", RESTARTED);
  const port = String(await findFreePort()); // a restart needs the same
  return serve(["--watch", "--import", "tsx", `${home.plugins}/lamp/restarted.ts`, port]);
}

/** Saves another name again and again, and asks until the answer holds it. Ends the server. */
async function measure(server: Served, ask: (server: Served) => Promise<Response>) {
  const millis: number[] = [];
  for (let round = 1; round <= count + WARM_UP; round++) {
    await delay(PAUSE_MS);
    const name = `name ${round}.`;
    await home.write("lamp/name.ts", nameFile(name));
    const savedAt = performance.now();
    for (let text = ""; !text.includes(name); text = await textOf(ask(server))) {
      if (performance.now() - savedAt > DEADLINE_MS) throw new Error(`"${name}" became "${text}"`);
      await delay(1);
    }
    if (round > WARM_UP) millis.push(performance.now() - savedAt);
  }
  await server.stop();
  return summarise(millis);
}

/** The failure, while the server is restarting. */
async function textOf(response: Promise<Response>): Promise<string> {
  return response.then((each) => each.text()).catch(String);
}
