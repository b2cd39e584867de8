import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

/** A plugin that does what it is sent, with Node's modules at hand and `node`. */
const REACHER = `
import { definePlugin, Type, provide, defineService } from "@mantel/plugin-sdk";
const probe = defineService("probe.run", {
  input: Type.Object({ code: Type.String() }),
  output: Type.Object({ url: Type.String() }),
  deadlineMs: 60_000,
});
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
      services: [provide(probe, async ({ code }) => ({
          url: await run(code).then(String, (error) => { throw error.cause ?? error; }),
        }))],
    };
  },
});
`;

async function startReacher(t: TestContext, permissions: object = {}, options = {}) {
  const manifest = packageJson("reacher", { provides: ["probe.run"], permissions });
  const reacher = { "package.json": manifest, "index.ts": REACHER };
  const modules = await startModules(t, { reacher }, undefined, options);
  assert.equal(modules.registry.get("reacher").error, null);
  return {
    ...modules,
    /** Has the plugin run the body of an async function, and gives what it returns as a text. */
    run: async (code: string) => {
      const answer = await modules.services.call("probe.run", { code });
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
  onTestEnd(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const hosts = (host: string) => `add "${host}" to "mantel.permissions.hosts" in its package.json`;
const folders = (path: string) =>
  `add "${path}" to "mantel.permissions.folders" in its package.json`;
const flag = (name: string) => `add "${name}": true to "mantel.permissions" in its package.json`;

const OPEN_NETWORK = 'add "openNetwork": "always" to "mantel.permissions" in its package.json';

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
  ["a datagram", "dgram.createSocket('udp4').send('x', 9, 'h.test')", OPEN_NETWORK],
  [
    "a part of a datagram",
    "dgram.createSocket('udp4').send('xyz', 0, 1, 9, 'i.test')",
    OPEN_NETWORK,
  ],
  [
    "a datagram with a callback",
    "const socket = dgram.createSocket('udp4'); await new Promise((_, failed) => socket.send('x', 9, 'h.test', (error) => failed(error)))",
    OPEN_NETWORK,
  ],
  ["a connected datagram socket", "dgram.createSocket('udp4').connect(9, 'j.test')", OPEN_NETWORK],
  ["a server", "net.createServer().listen(0)", flag("listen")],
  ["a web server", "http.createServer().listen({ port: 8080, host: '127.0.0.1' })", flag("listen")],
  ["a socket for other programs", "net.createServer().listen('/tmp/x.sock')", flag("listen")],
  ["a UDP port", "dgram.createSocket('udp4').bind(5353)", flag("listen")],
  ["a signal to the host", "process.kill(process.ppid, 'SIGUSR1')", flag("childProcesses")],
  ["the priority of the host", "setPriority(process.ppid, 19)", flag("childProcesses")],
] as const;

for (const [network, permissions] of [
  ["none", {}],
  ["through the host", { hosts: ["other.test"] }],
] as const) {
  test(`undeclared hosts, ports and signals are refused, with the line to add (network: ${network})`, async (t) => {
    const { run, warnings } = await startReacher(t, permissions);

    for (const [what, code, line] of BY_GUARD) {
      await assert.rejects(run(code), ({ message }: Error) => message.includes(line), what);
    }
    await assert.rejects(
      run("await fetch('http://c.test')"),
      /permission denied: reacher uses c\.test, which its manifest does not declare; add "c\.test" to/,
    );
    assert.equal(warnings().filter((sentence) => sentence.includes('"c.test"')).length, 1);
    assert.ok(warnings().some((sentence) => sentence.includes("a listener on /tmp/x.sock, which")));
  });
}

test("a refused signal is reported once, with its target process", async (t) => {
  const { run, warnings } = await startReacher(t);

  await assert.rejects(run("process.kill(1)"), /^RemoteFault: .*uses the process 1, which/);
  await run("setPriority(5); setPriority(0, 5); process.kill(process.pid, 0)");

  const told = warnings().filter((sentence) =>
    sentence.startsWith("permission denied: reacher uses"),
  );
  assert.equal(told.length, 1, told.join());
});

const BY_NODE = [
  ["a file", "fs.readFileSync('/etc/hostname')", folders("/etc/hostname")],
  ["a file with a promise", "await fs.promises.readFile('/etc/fstab')", folders("/etc/fstab")],
  ["a file with a callback", "await promisify(fs.stat)('/etc/passwd')", folders("/etc/passwd")],
  ["a folder", "fs.readdirSync('/etc')", folders("/etc")],
  ["a folder of the home", "fs.readdirSync('../../calendars/x')", folders("calendars")],
  [
    "the secrets of the host",
    "await fs.promises.readFile('../../keys.json')",
    "which no plugin may read",
  ],
  ["the storage of another", "fs.readdirSync('../other')", "which no plugin may read"],
  [
    "what lies beside an open folder",
    "fs.readdirSync(`/proc/self/fd/${fs.openSync('.')}/../reacher`)",
    folders("/proc/self/fd/reacher"),
  ],
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
  await assert.rejects(run("fs.symlinkSync('/etc', 'link')"), { message: /./ });
  assert.equal(await run("return fs.readdirSync('.').length"), "0");
});

/** Closed whatever a manifest says, in every way that leads to it. */
const CLOSED = [
  ["process._debugProcess", "process._debugProcess(process.ppid)"],
  ["process._debugEnd", "process._debugEnd()"],
  ["process._startProfilerIdleNotifier", "process._startProfilerIdleNotifier()"],
  ["process.binding", "process.binding('fs')"],
  ["process._linkedBinding", "process._linkedBinding('fs')"],
  ["process.setuid", "process.setuid(1)"],
  ["process.report.writeReport", "process.report.writeReport('x.json')"],
  ["v8.setFlagsFromString", "(await import('node:v8')).setFlagsFromString('--trace-turbo')"],
  [
    "v8.setHeapSnapshotNearHeapLimit",
    "process.getBuiltinModule('v8').setHeapSnapshotNearHeapLimit(1)",
  ],
  ["inspector.Session", "new (await import('node:inspector')).Session()"],
  ["inspector.Session", "new (await import('node:inspector/promises')).Session()"],
  ["inspector.Session", "new (process.getBuiltinModule('inspector').Session)()"],
  [
    "inspector.open",
    "process.getBuiltinModule('module').createRequire(process.execPath)('inspector').open(0)",
  ],
  [
    "trace_events.createTracing",
    "(await import('node:trace_events')).createTracing({ categories: ['node'] })",
  ],
  ["module.register", "(await import('node:module')).register('data:text/javascript,')"],
] as const;

test("functions of Node that bypass permissions are closed, with an alternative in the message", async (t) => {
  const { run } = await startReacher(t, { childProcesses: true });

  for (const [what, code] of CLOSED) {
    const told = `permission denied: reacher uses ${what}, which no plugin may use; `;
    await assert.rejects(run(code), ({ message }: Error) => message.includes(told), code);
  }
  assert.equal(await run("return typeof process.report.getReport().header"), "object");
  assert.equal(await run("return Reflect.deleteProperty(process, 'binding')"), "false");
});

test("thread options that lift permissions are refused", async (t) => {
  const { run } = await startReacher(t, { workerThreads: true });
  const thread = (options: string) =>
    `await once(new Worker("process.exit(3)", { eval: true, ${options} }), 'exit')`;

  assert.equal(await run(`return (${thread("env: {}")})[0]`), "3");
  await assert.rejects(run(thread("execArgv: []")), /the option execArgv of a worker thread/);
  await assert.rejects(
    run(thread("env: process.getBuiltinModule('worker_threads').SHARE_ENV")),
    /the option env of a worker thread/,
  );
  await assert.rejects(
    run("new (Worker.prototype.constructor)('', { eval: true, execArgv: [] })"),
    /the option execArgv/,
  );
});

test("a plugin that declares SQLite can use it", async (t) => {
  const open = `
    const { DatabaseSync } = process.getBuiltinModule('module').createRequire(process.execPath)('node:sqlite');
    new DatabaseSync(':memory:').exec('CREATE TABLE t (x)');`;
  const { run } = await startReacher(t);
  const declared = await startReacher(t, { sqlite: true });

  await assert.rejects(run(open), ({ message }: Error) => message.endsWith(flag("sqlite")));
  if (process.allowedNodeEnvironmentFlags.has("--experimental-sqlite")) await declared.run(open);
  else await assert.rejects(declared.run(open), /No such built-in module: node:sqlite/);
});

/** Each lets every question be answered with yes, or takes what it is called on. */
const REPLACED = `
  globalThis.taken = [];
  const { apply } = Reflect;
  const { push } = Array.prototype;
  const yes = () => true;
  for (const type of [Array, Set, Map, String, RegExp, Number, JSON, Object, Reflect, Proxy]) {
    for (const name of ["includes", "has", "some", "every", "test", "exec", "startsWith", "endsWith", "is"]) {
      const owner = type.prototype ?? type;
      if (typeof owner[name] === "function") owner[name] = yes;
    }
  }
  for (const name of ["call", "apply", "bind"]) {
    Function.prototype[name] = function (...args) { apply(push, globalThis.taken, [this]); return () => {}; };
  }
  globalThis.Number = () => process.pid;
  JSON.parse = () => ({ kind: "call", method: "none" });
`;

test("methods replaced by a plugin do not affect permission checks", async (t) => {
  const { run } = await startReacher(t);

  await assert.rejects(
    run(`${REPLACED}
      const taken = globalThis.taken;
      try { process.kill(process.ppid, 0) } catch (error) { throw new Error(error.message + taken.length); }`),
    ({ message }: Error) => message.endsWith(`${flag("childProcesses")}0`),
  );
});

test("a plugin cannot replace members of its context", async (t) => {
  const { run } = await startReacher(t);

  for (const code of [
    "ctx.storage.get = 1",
    "process.kill = 1",
    "process._kill = 1",
    "Object.defineProperty(process, 'dlopen', { value: 1 })",
    "process.getBuiltinModule('os').setPriority = 1",
  ]) {
    await assert.rejects(run(`"use strict"; ${code}`), /Cannot (assign to|redefine)/, code);
  }
});

test("declared hosts, files and functions are accessible", async (t) => {
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

test("a plugin's storage is its working folder, which it can read and write", async (t) => {
  const { run, dataFolder } = await startReacher(t);

  assert.equal(await run("return process.cwd()"), join(dataFolder, "plugins", "reacher"));
  await run("await ctx.storage.set('key', { a: 1 })");
  await run("fs.mkdirSync('deep/er', { recursive: true }); fs.writeFileSync('deep/er/file', 'x')");

  assert.equal(await run("return JSON.parse(fs.readFileSync('key.json', 'utf8')).a"), "1");
  assert.equal(await run("return fs.readdirSync('deep')"), "er");
});

test("hosts in an option are allowed if the manifest declares the option", async (t) => {
  const url = await startServer(t);
  const { run, config, once } = await startReacher(t, { hosts: ["config:url"] });
  await assert.rejects(run(`await fetch("${url}")`), /add "127\.0\.0\.1"/);

  await config.patch({ reacher: { url: url.replace("http:", "mqtt:") } }, { admin: true });
  await once("reacher", ({ generation }) => generation === 2);

  assert.equal(await run(`return (await fetch("${url}")).text()`), "here");
  await assert.rejects(run('await fetch("http://other.test")'), /add "other\.test"/);
});

test("the error about datagrams names each missing line of the manifest", async (t) => {
  const { run } = await startReacher(t, { hosts: ["network:local"] });
  const send = (to: string) => run(`dgram.createSocket("udp4").send("x", 9, "${to}")`);
  const line = /add "openNetwork": "always" to "mantel\.permissions" in its package\.json/;
  const alone = /package\.json; "network:local" alone allows connections, and ctx\.discover/;
  const also = /, and "192\.0\.2\.1" to "mantel\.permissions\.hosts"; "network:local" alone/;

  await assert.rejects(send("239.1.2.3"), line);
  await assert.rejects(send("239.1.2.3"), alone);
  await assert.rejects(send("192.0.2.1"), also);
  await assert.rejects(run('dgram.createSocket("udp4").addMembership("239.1.2.3")'), alone);
});

test("a connected datagram socket that only sends needs no permission to listen", async (t) => {
  const { run } = await startReacher(t, { hosts: ["localhost"], openNetwork: "always" });

  await assert.rejects(run('dgram.createSocket("udp4").send("x", 9, "h.test")'), /add "h\.test"/);
  await assert.rejects(
    run('await promisify((done) => dgram.createSocket("udp4").send("x", 9, "h.test", done))()'),
    /add "h\.test"/,
  );
  await run(`
    const socket = dgram.createSocket("udp4");
    socket.connect(9, "127.0.0.1");
    await once(socket, "connect");
    await new Promise((resolve, reject) => socket.send("x", (error) => (error ? reject(error) : resolve())));
    socket.close();
  `);
});

test("an update that needs consent is reported in the log and the list until it is handled", async (t) => {
  const { registry, write, once, stop, home } = await startReacher(
    t,
    { hosts: ["a.test"] },
    { consentOnSave: true },
  );
  assert.deepEqual(registry.get("reacher").permissions.added, []);

  const permissions = { hosts: ["a.test", "b.test"], listen: true };
  const manifest = packageJson("reacher", { provides: ["probe.run"], permissions });
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

for (const path of [
  tmpdir(),
  "/proc",
  "/proc/self/environ",
  "/proc/x/../1",
  "DATA",
  "DATA/cache",
]) {
  test(`a manifest cannot ask for ${path}, through which the host's data is read`, async (t) => {
    const { registry, write, dataFolder, once } = await startModules(t, {});
    const folder = path.replace("DATA", dataFolder);
    await write("asks/index.ts", REACHER);
    const permissions = { folders: [folder] };
    await write("asks/package.json", packageJson("asks", { permissions }));

    // The folder may be seen before its manifest is written.
    const isRefused = /asks for the folder/;
    await once("asks", ({ error }) => isRefused.test(error?.message ?? ""), 20_000);

    assert.equal(registry.get("asks").state, "failed");
  });
}
