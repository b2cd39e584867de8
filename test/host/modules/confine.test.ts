import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { atEnd } from "../../helpers/at-end.ts";
import { packageJson, startModules } from "../../helpers/module.ts";

// Coverage is counted through the inspector, which Node's permission model closes: not of these processes.
delete process.env["NODE_V8_COVERAGE"];

/** A plugin that does what it is sent, with Node's modules at hand and `node`. */
const REACHER = `
import { definePlugin, Type } from "@mantel/plugin-sdk";
import { execFile } from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import net, { connect } from "node:net";
import { setPriority } from "node:os";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

const node = { connect, dgram, dns, execFile, fs, http, net, once, promisify, setPriority, Worker };
const names = Object.keys(node);
const AsyncFunction = (async () => {}).constructor;

export default definePlugin({
  options: Type.Object({ url: Type.Optional(Type.String()) }),
  start({ storage, folder, config }) {
    const run = (code) => new AsyncFunction(...names, "ctx", code)(...Object.values(node), { storage, folder, config });
    return {
      services: {
        "broker.address": async ({ code }) => ({
          url: await run(code).then(String, (error) => { throw error.cause ?? error; }),
        }),
      },
    };
  },
});
`;

async function startReacher(t: TestContext, permissions: object = {}) {
  const manifest = packageJson("reacher", { provides: ["broker.address"], permissions });
  const reacher = { "package.json": manifest, "index.ts": REACHER };
  const modules = await startModules(t, { reacher });
  assert.equal(modules.registry.get("reacher").error, null);
  return {
    ...modules,
    /** Has the plugin run the body of an async function, and gives what it returns as a text. */
    run: async (code: string) => {
      const answer = await modules.services.call("broker.address", { code });
      return (answer as { url: string }).url;
    },
    warnings: () =>
      modules.registry
        .logs("reacher")
        .flatMap(({ level, sentence }) => (level === "warn" ? sentence : [])),
  };
}

/** A web server on loopback; it ends with the test. */
async function startServer(t: TestContext): Promise<string> {
  const server = createServer((_, response) => response.end("here"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const hosts = (host: string) => `add "${host}" to "mantel.permissions.hosts" in its package.json`;
const folders = (path: string) =>
  `add "${path}" to "mantel.permissions.folders" in its package.json`;
const flag = (name: string) => `add "${name}": true to "mantel.permissions" in its package.json`;

const BY_GUARD = [
  ["a connection", "await once(net.connect(9, 'a.test'), 'x')", hosts("a.test")],
  ["a connection by port and host", "await once(connect(9, 'b.test'), 'x')", hosts("b.test")],
  [
    "a connection to an address",
    "await once(net.connect({ port: 9, host: '192.0.2.1' }), 'x')",
    hosts("192.0.2.1"),
  ],
  ["a connection to this machine", "await once(net.connect('9'), 'x')", hosts("localhost")],
  [
    "a socket of another program",
    "await once(net.connect('/run/docker.sock'), 'x')",
    hosts("/run/docker.sock"),
  ],
  ["fetch", "await fetch('http://c.test/path')", hosts("c.test")],
  ["HTTP", "await once(http.get('http://d.test/path'), 'x')", hosts("d.test")],
  ["a look-up", "await dns.promises.lookup('e.test')", hosts("e.test")],
  ["a look-up with a callback", "await promisify(dns.resolve4)('f.test')", hosts("f.test")],
  ["a resolver of its own", "await new dns.promises.Resolver().resolve('g.test')", hosts("g.test")],
  ["a datagram", "dgram.createSocket('udp4').send('x', 9, 'h.test')", hosts("h.test")],
  [
    "a part of a datagram",
    "dgram.createSocket('udp4').send('xyz', 0, 1, 9, 'i.test')",
    hosts("i.test"),
  ],
  [
    "a connected datagram socket",
    "dgram.createSocket('udp4').connect(9, 'j.test')",
    hosts("j.test"),
  ],
  ["a server", "net.createServer().listen(0)", flag("listen")],
  ["a web server", "http.createServer().listen({ port: 8080, host: '127.0.0.1' })", flag("listen")],
  ["a socket for other programs", "net.createServer().listen('/tmp/x.sock')", flag("listen")],
  ["a UDP port", "dgram.createSocket('udp4').bind(5353)", flag("listen")],
  ["a signal to the host", "process.kill(process.ppid, 'SIGUSR1')", flag("childProcesses")],
  ["the priority of the host", "setPriority(process.ppid, 19)", flag("childProcesses")],
  ["a debugger for the host", "process._debugProcess(process.ppid)", flag("childProcesses")],
] as const;

test("undeclared hosts, ports and signals are refused, with the line to add", async (t) => {
  const { run, warnings } = await startReacher(t);

  for (const [what, code, line] of BY_GUARD) {
    await assert.rejects(run(code), ({ message }: Error) => message.endsWith(line), what);
  }
  await assert.rejects(
    run("await fetch('http://c.test')"),
    /reacher reaches for c\.test, which its manifest does not declare: add "c\.test" to/,
  );
  assert.equal(warnings().filter((sentence) => sentence.includes('"c.test"')).length, 1);
  assert.ok(warnings().some((sentence) => sentence.includes("listening on /tmp/x.sock, which")));
});

test("a refused signal is told once, with the process that it was for", async (t) => {
  const { run, warnings } = await startReacher(t);

  await assert.rejects(run("process.kill(1)"), /^RemoteFault: .*reaches for the process 1, which/);
  await run("setPriority(5); setPriority(0, 5); process.kill(process.pid, 0)");

  const told = warnings().filter((sentence) => sentence.startsWith("reacher reaches for"));
  assert.equal(told.length, 1, told.join());
});

const BY_NODE = [
  ["a file", "fs.readFileSync('/etc/hostname')", folders("/etc/hostname")],
  ["a file with a promise", "await fs.promises.readFile('/etc/fstab')", folders("/etc/fstab")],
  ["a file with a callback", "await promisify(fs.stat)('/etc/passwd')", folders("/etc/passwd")],
  ["a folder", "fs.readdirSync('/etc')", folders("/etc")],
  ["a folder of the house", "fs.readdirSync('../../calendars/x')", folders("calendars")],
  [
    "the secrets of the host",
    "await fs.promises.readFile('../../keys.json')",
    "which no plugin may read",
  ],
  ["the storage of another", "fs.readdirSync('../other')", "which no plugin may read"],
  [
    "its own bundle",
    "await fs.promises.writeFile('../../cache/modules/reacher/x', '')",
    "which no plugin may write",
  ],
  [
    "a file elsewhere",
    "await fs.promises.writeFile('/tmp/reached', '')",
    "which no plugin may write",
  ],
  ["a program", "await promisify(execFile)('true')", flag("childProcesses")],
  ["a worker thread", "new Worker('', { eval: true })", flag("workerThreads")],
  ["a native addon", "process.dlopen({ exports: {} }, '/x.node')", flag("nativeAddons")],
] as const;

test("undeclared files, programs, threads and addons are refused by Node", async (t) => {
  const { run } = await startReacher(t);

  for (const [what, code, line] of BY_NODE) {
    await assert.rejects(run(code), ({ message }: Error) => message.includes(line), what);
  }
  await assert.rejects(run("process.binding('fs')"), /process\.binding/);
  await assert.rejects(run("fs.symlinkSync('/etc', 'link')"), { message: /./ });
  assert.equal(await run("return fs.readdirSync('.').length"), "0");
  await assert.rejects(run("(await import('node:inspector')).open(0)"));
});

test("what is declared can be reached", async (t) => {
  const url = await startServer(t);
  const { run, dataFolder } = await startReacher(t, {
    hosts: ["127.0.0.1"],
    listen: true,
    folders: ["photos", "/etc"],
    childProcesses: true,
    workerThreads: true,
  });

  assert.equal(await run(`return (await fetch("${url}")).text()`), "here");
  assert.equal(
    await run(`return (await fetch("${url.replace("127.0.0.1", "localhost")}")).text()`),
    "here",
  );
  assert.equal(
    await run("const s = net.createServer().listen(0); await once(s, 'listening'); s.close()"),
    "undefined",
  );
  await run("fs.writeFileSync(ctx.folder('photos') + '/a', 'b'); fs.readFileSync('/etc/passwd')");
  assert.equal(await run("return fs.readdirSync(ctx.folder('photos'))"), "a");
  assert.equal(
    (await run("return (await promisify(execFile)('echo', ['hi'])).stdout")).trim(),
    "hi",
  );
  assert.equal(
    await run("return (await once(new Worker('process.exit(3)', { eval: true }), 'exit'))[0]"),
    "3",
  );
  await run("process.kill(process.ppid, 0)");
  await writeFile(join(dataFolder, "keys.json"), "secret");
  await assert.rejects(run("fs.readFileSync('../../keys.json')"), /no plugin may read/);
});

test("its storage is its working folder, and its own to read and write", async (t) => {
  const { run, dataFolder } = await startReacher(t);

  assert.equal(await run("return process.cwd()"), join(dataFolder, "plugins", "reacher"));
  await run("await ctx.storage.set('key', { a: 1 })");
  await run("fs.mkdirSync('deep/er', { recursive: true }); fs.writeFileSync('deep/er/file', 'x')");

  assert.equal(await run("return JSON.parse(fs.readFileSync('key.json', 'utf8')).a"), "1");
  assert.equal(await run("return fs.readdirSync('deep')"), "er");
});

test("hosts that people write into an option are reached when the manifest names the option", async (t) => {
  const url = await startServer(t);
  const { run, config, once } = await startReacher(t, { hosts: ["config:url"] });
  await assert.rejects(run(`await fetch("${url}")`), /add "127\.0\.0\.1"/);

  await config.patch({ reacher: { url: url.replace("http:", "mqtt:") } }, { admin: true });
  await once("reacher", ({ generation }) => generation === 2);

  assert.equal(await run(`return (await fetch("${url}")).text()`), "here");
  await assert.rejects(run('await fetch("http://other.test")'), /add "other\.test"/);
});

test("a datagram socket that only sends, and is connected, needs no right to listen", async (t) => {
  const { run } = await startReacher(t, { hosts: ["localhost"] });

  await run(`
    const socket = dgram.createSocket("udp4");
    socket.connect(9, "127.0.0.1");
    await once(socket, "connect");
    await new Promise((resolve, reject) => socket.send("x", (error) => (error ? reject(error) : resolve())));
    socket.close();
  `);
});

test("an update that asks for more says so, in the log and in the list, until it is no news", async (t) => {
  const { registry, write, once, stop, home } = await startReacher(t, { hosts: ["a.test"] });
  assert.deepEqual(registry.get("reacher").permissions.added, []);

  const permissions = { hosts: ["a.test", "b.test"], listen: true };
  const manifest = packageJson("reacher", { provides: ["broker.address"], permissions });
  await write("reacher/package.json", manifest);
  const { permissions: shown } = await once(
    "reacher",
    ({ state, permissions: { listen } }) => state === "active" && listen,
  );

  assert.deepEqual(shown.added, ["hosts: b.test", "listen"]);
  const told = registry
    .logs("reacher")
    .find(({ sentence }) => sentence.includes("more permissions"));
  assert.deepEqual(told?.fields, { added: shown.added });
  await stop();
  const { registry: next } = await startModules(t, {}, home);
  assert.deepEqual(next.get("reacher").permissions.added, []);
});

for (const path of ["/tmp", "/proc", "/proc/self/environ", "/proc/x/../1", "DATA", "DATA/cache"]) {
  test(`a manifest cannot ask for ${path}, through which the host's data is read`, async (t) => {
    const { registry, write, dataFolder, once } = await startModules(t, {});
    const folder = path.replace("DATA", dataFolder);
    await write("asks/index.ts", REACHER);
    const permissions = { folders: [folder] };
    await write("asks/package.json", packageJson("asks", { permissions }));

    await once("asks", ({ state }) => state === "failed", 20_000);

    assert.match(registry.get("asks").error?.message ?? "", /asks for the folder/);
  });
}
