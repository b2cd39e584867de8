// npm run bench peers [-- seconds]: start until the first answer, memory at rest, and answers over ten connections of Mantel,
// Node-RED, Homebridge (its bridge, in insecure mode), a Koa app of one line and bare node:http, in one run. Each answers a
// list of 100 lamps in its own way. npm installs Node-RED and Homebridge into a temporary folder; without them they are absent.
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../test/helpers/free-port.ts";
import {
  findDescendants,
  openHome,
  readMemory,
  type Served,
  serve,
  serveHost,
} from "./bench-home.ts";
import { writeBenchBridges } from "./shared/bench-bridge.ts";
import { rounded } from "./shared/figures.ts";
import { loadServer } from "./shared/http-load.ts";

const LAMPS = 100;
const CONNECTIONS = 10;
const IDLE_MS = 15_000;
const PEERS = ["node-red@4", "homebridge@1"];
const LIST = "/api/v1/smart-home/devices";
const PIN = "031-45-154";

const SERVERS = {
  "node:http": `
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
const [port, file] = process.argv.slice(2);
const body = readFileSync(file);
createServer((_, response) => {
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}).listen(port, "127.0.0.1", () => console.log("ready http://127.0.0.1:" + port));
`,
  Koa: `
import Koa from "koa";
import { readFileSync } from "node:fs";
const [port, file] = process.argv.slice(2);
const body = readFileSync(file);
new Koa().use((ctx) => { ctx.type = "json"; ctx.body = body; })
  .listen(port, "127.0.0.1", () => console.log("ready http://127.0.0.1:" + port));
`,
};
/** Runs a program of a package and prints the ready line when it answers. */
const WRAPPED = `
const [port, program, ...args] = process.argv.slice(2);
process.argv = [process.argv[0], program, ...args];
await import(program);
const answers = () => fetch("http://127.0.0.1:" + port).then(() => true, () => false);
while (!(await answers())) await new Promise((done) => setTimeout(done, 5));
console.log("ready http://127.0.0.1:" + port);
`;
/** An accessory plugin of Homebridge with lamps. */
const LAMPS_OF_HOMEBRIDGE = `
module.exports = ({ hap, registerAccessory }) => registerAccessory("homebridge-lamps", "Lamp", class {
  constructor(log, { name }) { this.service = new hap.Service.Lightbulb(name); }
  getServices() {
    this.service.getCharacteristic(hap.Characteristic.On).onGet(() => false);
    this.service.getCharacteristic(hap.Characteristic.Brightness).onGet(() => 50);
    return [this.service];
  }
});
`;

interface Peer {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly start: () => Promise<Served>;
}

const forMs = Number(process.argv[2] ?? 3) * 1_000;
const home = await openHome();
await writeBenchBridges(home, LAMPS);
const measured: Record<string, object> = {};
await (await serveHost(home)).stop(); // fills the cache
measured["Mantel"] = await measure({ path: LIST, start: () => serveHost(home) });
for (const [name, code] of Object.entries(SERVERS)) {
  await home.write(`${name.replace(":", "-")}.mjs`, code);
  const program = join(home.plugins, `${name.replace(":", "-")}.mjs`);
  const start = async () =>
    serve([program, String(await freePort()), join(home.plugins, "list.json")]);
  measured[name] = await measure({ path: "/", start });
}
const peers = join(home.plugins, "../peers");
if (await install(peers)) {
  measured["Node-RED"] = await measure(await nodeRed(peers));
  measured["Homebridge"] = await measure(await homebridge(peers));
}
await home.remove();
const machine = { cores: cpus().length, load: loadavg().map(rounded) };
console.log(
  JSON.stringify({ bench: "peers", lamps: LAMPS, connections: CONNECTIONS, machine, measured }),
);

async function measure({ path, headers = {}, start }: Peer) {
  const startedAt = performance.now();
  const { url, pid, token, stop } = await start();
  const readyMs = Math.round(performance.now() - startedAt);
  await delay(IDLE_MS);
  const own = await readMemory(pid);
  const others = await Promise.all((await findDescendants(pid)).map(readMemory));
  const memoryMiB = rounded(others.reduce((sum, { pss }) => sum + pss, own.pss));
  const sent = token === "" ? headers : { Authorization: `Bearer ${token}` };
  const response = await fetch(url + path, { headers: sent });
  const body = await response.text();
  if (!response.ok) throw new Error(`${url}${path}: ${response.status} ${body}`);
  if (token !== "") await home.write("list.json", body); // the others send the same
  const asked = { url, pid, path, headers: sent, status: 200 };
  await loadServer(asked, { connections: CONNECTIONS, forMs: forMs / 3 });
  const { perSecond, ms, cpuMicros } = await loadServer(asked, { connections: CONNECTIONS, forMs });
  await stop();
  return { readyMs, memoryMiB, kB: rounded(body.length / 1_000), perSecond, ms, cpuMicros };
}

/** True if npm could install the other servers. */
async function install(folder: string): Promise<boolean> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), `{ "private": true }`);
  await writeFile(join(folder, "wrapped.mjs"), WRAPPED);
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  const npm = spawn("npm", ["install", ...quiet, ...PEERS], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
  });
  return new Promise((done) => {
    npm.once("error", () => done(false));
    npm.once("exit", (code) => done(code === 0));
  });
}

/** Node-RED with one flow: a request, the list, its answer. */
async function nodeRed(folder: string): Promise<Peer> {
  const user = join(folder, "node-red");
  await mkdir(user);
  const flow = { id: "f", type: "tab", label: "list" };
  const entry = {
    id: "in",
    type: "http in",
    z: "f",
    url: "/list",
    method: "get",
    wires: [["list"]],
  };
  const read = {
    id: "list",
    type: "file in",
    z: "f",
    filename: join(home.plugins, "list.json"),
    filenameType: "str",
    format: "utf8",
    wires: [["out"]],
  };
  const out = {
    id: "out",
    type: "http response",
    z: "f",
    statusCode: "200",
    headers: {},
    wires: [],
  };
  await writeFile(join(user, "flows.json"), JSON.stringify([flow, entry, read, out]));
  const settings = { uiHost: "127.0.0.1", flowFile: "flows.json", telemetry: { enabled: false } };
  await writeFile(join(user, "settings.js"), `module.exports = ${JSON.stringify(settings)}`);
  const program = join(folder, "node_modules/node-red/red.js");
  return {
    path: "/list",
    async start() {
      const port = String(await freePort());
      return serve([join(folder, "wrapped.mjs"), port, program, "-p", port, "-u", user]);
    },
  };
}

/** Homebridge with one accessory for each lamp. */
async function homebridge(folder: string): Promise<Peer> {
  const user = join(folder, "homebridge");
  const plugin = join(folder, "node_modules/homebridge-lamps");
  for (const each of [user, plugin]) await mkdir(each);
  const manifest = {
    name: "homebridge-lamps",
    version: "1.0.0",
    main: "index.js",
    keywords: ["homebridge-plugin"],
    engines: { homebridge: ">=1.0.0", node: ">=18" },
  };
  await writeFile(join(plugin, "package.json"), JSON.stringify(manifest));
  await writeFile(join(plugin, "index.js"), LAMPS_OF_HOMEBRIDGE);
  const port = await freePort();
  const bridge = {
    name: "Bench",
    username: "0E:21:3A:5B:7C:9D",
    port,
    pin: PIN,
    bind: "lo",
    advertiser: "ciao",
  };
  const accessories = Array.from({ length: LAMPS }, (_, at) => ({
    accessory: "Lamp",
    name: `Lamp ${at}`,
  }));
  await writeFile(join(user, "config.json"), JSON.stringify({ bridge, accessories }));
  const program = join(folder, "node_modules/homebridge/bin/homebridge");
  return {
    path: "/accessories",
    headers: { Authorization: PIN },
    start: () =>
      serve([
        join(folder, "wrapped.mjs"),
        String(port),
        program,
        "-I",
        "-U",
        user,
        "-P",
        join(folder, "node_modules"),
      ]),
  };
}
