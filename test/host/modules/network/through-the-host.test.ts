import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer as createWebServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer, type ListenOptions, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import { WebSocketServer } from "ws";
import { Kernel } from "../../../../host/modules/process/sandbox/kernel.ts";
import { bridgeCertificate } from "../../../fakes/hue-certificate.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { startMosquitto, withoutMosquitto } from "../../../helpers/mosquitto.ts";
import { onTestEnd } from "../../../helpers/on-test-end.ts";
import { startProbePlugin } from "../../../helpers/probe-plugin.ts";
import { until } from "../../../helpers/until.ts";

const LOCAL = { hosts: ["127.0.0.1"] };
const HAS_IPV6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === "::1"),
);

const ON_LOOPBACK: ListenOptions = { port: 0, host: "127.0.0.1" };

/** A function of the plugin's that gives all that a socket receives. */
const READ = `
  const read = async (socket) => {
    let text = "";
    for await (const chunk of socket) text += chunk;
    return text;
  };
`;

/** A server on this machine that does `serve` with each socket. */
async function listen(
  t: TestContext,
  serve: (socket: Socket) => void,
  { isHalfOpen = false, at = ON_LOOPBACK } = {},
) {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: isHalfOpen }, (socket) => {
    socket.on("error", () => undefined);
    sockets.push(socket);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(at, resolve));
  onTestEnd(t, async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { server, sockets, port: (server.address() as Partial<AddressInfo>).port ?? 0 };
}

/** A web server on this machine; `connections` counts its sockets. */
async function serveWeb(
  t: TestContext,
  answer: RequestListener,
  server: Server = createWebServer(),
) {
  const seen = { connections: 0, aborted: 0 };
  server.on("connection", () => seen.connections++);
  server.on("request", answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { seen, port: (server.address() as AddressInfo).port };
}

test("a relayed socket has the same properties as a direct one", async (t) => {
  const { port, sockets } = await listen(t, (socket) => socket.pipe(socket));
  const { run } = await startProbePlugin(t, LOCAL);

  const seen = (await run(`
    const events = [];
    const socket = net.connect({ port: ${port}, host: "localhost" });
    for (const event of ["lookup", "connect", "ready", "end", "close"]) socket.on(event, () => events.push(event));
    const before = [socket.connecting, socket.pending, socket.readyState];
    socket.setNoDelay(true).setKeepAlive(true).unref().ref().write("early, ");
    await once(socket, "connect");
    const { remoteAddress, remotePort, remoteFamily, localAddress, localPort } = socket;
    const address = socket.address();
    let text = "";
    socket.on("data", (chunk) => (text += chunk));
    socket.end("and late");
    await once(socket, "close");
    return { events, before, text, remoteAddress, remotePort, remoteFamily, localAddress, localPort, address,
      bytes: [socket.bytesRead, socket.bytesWritten] };
  `)) as Record<string, unknown>;

  const { localPort, address, remoteFamily, ...rest } = seen;
  assert.deepEqual(rest, {
    events: ["lookup", "connect", "ready", "end", "close"],
    before: [true, true, "opening"],
    text: "early, and late",
    remoteAddress: "127.0.0.1",
    remotePort: port,
    localAddress: "127.0.0.1",
    bytes: [15, 15],
  });
  assert.equal(remoteFamily, "IPv4");
  assert.deepEqual(address, { address: "127.0.0.1", family: "IPv4", port: localPort });
  assert.equal(sockets.length, 1);
});

test("half-open connections continue in the open direction", async (t) => {
  const answer = (socket: Socket): void => {
    let received = "";
    socket.on("data", (chunk: Buffer) => (received += String(chunk)));
    socket.on("end", () => socket.end(`got ${received}`));
  };
  const { port } = await listen(t, answer, { isHalfOpen: true });
  const { run } = await startProbePlugin(t, LOCAL);

  const answered = await run(`
    const socket = net.connect({ port: ${port}, allowHalfOpen: true });
    socket.end("a question");
    let text = "";
    for await (const chunk of socket) text += chunk;
    return text;
  `);

  assert.equal(answered, "got a question");
});

test("a failed connection has Node's error code and message", async (t) => {
  const { port, server } = await listen(t, () => undefined);
  await new Promise((resolve) => server.close(resolve));
  const { run } = await startProbePlugin(t, { hosts: ["127.0.0.1", "nowhere.invalid"] });
  const failing = (connect: string) =>
    run(`
      const socket = ${connect};
      const error = await new Promise((resolve) => socket.on("error", resolve));
      const { code, syscall, message, hostname, address, port } = error;
      return { code, syscall, message, hostname, address, port };
    `);

  assert.deepEqual(await failing(`net.connect({ port: ${port}, host: "127.0.0.1" })`), {
    code: "ECONNREFUSED",
    syscall: "connect",
    address: "127.0.0.1",
    port,
    message: `connect ECONNREFUSED 127.0.0.1:${port}`,
  });
  const { code, ...unknown } = (await failing("net.connect(80, 'nowhere.invalid')")) as {
    code: string;
  };
  assert.match(code, /^(ENOTFOUND|EAI_AGAIN)$/);
  assert.deepEqual(unknown, {
    syscall: "getaddrinfo",
    hostname: "nowhere.invalid",
    message: `getaddrinfo ${code} nowhere.invalid`,
  });
  await assert.rejects(run(`await fetch("http://127.0.0.1:${port}")`), /ECONNREFUSED/);
  await assert.rejects(run("net.connect({ port: 65536 })"), /0 and 65535|>= 0 and < 65536/);
  await assert.rejects(run("net.connect({})"), /must be specified/);
});

test("a socket destroyed, aborted or timed out during opening is closed at the remote end", async (t) => {
  const { port, sockets } = await listen(t, (socket) => void socket.resume());
  const { run } = await startProbePlugin(t, LOCAL);

  const events = (await run(`
    const events = [];
    const note = (socket, name) => {
      socket.on("connect", () => events.push(name + " connected"));
      socket.on("error", ({ code }) => events.push(name + " " + code));
      return once(socket, "close").catch(() => once(socket, "close")).then(() => events.push(name + " closed"));
    };
    const destroyed = net.connect(${port}, "127.0.0.1");
    const first = note(destroyed, "destroyed");
    destroyed.destroy();
    const controller = new AbortController();
    const aborted = net.connect({ port: ${port}, host: "127.0.0.1", signal: controller.signal });
    const second = note(aborted, "aborted");
    setImmediate(() => controller.abort());
    await Promise.all([first, second]);
    const again = destroyed.connect(${port}, "127.0.0.1");
    await once(again, "connect");
    again.destroy();
    return events;
  `)) as string[];

  assert.deepEqual(events.toSorted(), [
    "aborted ABORT_ERR",
    "aborted closed",
    "destroyed closed",
    "destroyed connected",
  ]);
  await until(() => sockets.length > 0 && sockets.every((socket) => socket.readableEnded));
});

test("a connection broken by the remote end is an error, and a reset reaches the remote end", async (t) => {
  const { port, sockets } = await listen(t, (socket) => {
    socket.on("data", (chunk: Buffer) => {
      if (String(chunk) === "break") socket.resetAndDestroy();
    });
  });
  const { run } = await startProbePlugin(t, LOCAL);

  const error = await run(`
    const socket = net.connect(${port}, "127.0.0.1");
    socket.resume().write("break");
    const { code, syscall, message } = await new Promise((resolve) => socket.on("error", resolve));
    return { code, syscall, message };
  `);
  assert.deepEqual(error, { code: "ECONNRESET", syscall: "read", message: "read ECONNRESET" });

  const broken = run(`
    const socket = net.connect(${port}, "127.0.0.1");
    await once(socket, "connect");
    await timers.setTimeout(50);
    socket.resetAndDestroy();
    await once(socket, "close");
  `);
  await until(() => sockets.length === 2);
  const [heard] = (await new Promise((resolve) =>
    sockets[1]?.once("error", (...all) => resolve(all)),
  )) as [Error];
  assert.match(heard.message, /ECONNRESET/);
  await broken;
});

test("50 MB arrive unchanged in each direction, also with a slow reader", async (t) => {
  const size = 50 * 2 ** 20;
  const hash = createHash("sha256");
  let received = 0;
  const { port } = await listen(t, (socket) => {
    socket.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      received += chunk.length;
      if (received % 7 === 0) {
        socket.pause();
        setImmediate(() => socket.resume());
      }
    });
    socket.pipe(socket);
  });
  const { run } = await startProbePlugin(t, LOCAL);

  const [sent, back] = (await run(`
    const block = crypto.randomBytes(2 ** 20);
    const [sent, back] = [crypto.createHash("sha256"), crypto.createHash("sha256")];
    const socket = net.connect(${port}, "127.0.0.1");
    socket.on("data", (chunk) => back.update(chunk));
    async function* blocks() {
      for (let at = 0; at < 50; at++) {
        block.writeUInt32LE(at);
        const copy = Buffer.from(block);
        sent.update(copy);
        yield copy;
      }
    }
    await Promise.all([stream.promises.pipeline(blocks(), socket, { end: true }).catch(() => undefined), once(socket, "end")]);
    return [sent.digest("hex"), back.digest("hex")];
  `)) as [string, string];

  assert.equal(received, size);
  assert.equal(hash.digest("hex"), sent);
  assert.equal(back, sent);
});

test("HTTP and fetch keep connections, abort, and follow redirects only where they may", async (t) => {
  const { port, seen } = await serveWeb(t, (request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: "http://other.test/" }).end();
    else if (request.url === "/endless") response.write("begun");
    else response.end(`hello ${request.url}`);
    response.on("close", () => void (seen.aborted += response.writableEnded ? 0 : 1));
  });
  const { run, warnings } = await startProbePlugin(t, LOCAL);
  const base = `http://127.0.0.1:${port}`;

  assert.equal(await run(`return (await fetch("${base}/a")).text()`), "hello /a");
  assert.equal(await run(`return (await fetch("${base}/b")).text()`), "hello /b");
  assert.equal(seen.connections, 1);
  const twice = await run(`
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const get = (path) => new Promise((resolve, reject) => http.get("${base}" + path, { agent }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
    }).on("error", reject));
    const all = [await get("/c"), await get("/d")];
    agent.destroy();
    return all;
  `);
  assert.deepEqual(twice, ["hello /c", "hello /d"]);
  assert.equal(seen.connections, 2);
  await assert.rejects(
    run(`await fetch("${base}/away")`),
    /add "other\.test" to "mantel\.permissions\.hosts"/,
  );
  assert.equal(warnings().filter((sentence) => sentence.includes("other.test")).length, 1);
  const aborted = run(`
    const response = await fetch("${base}/endless", { signal: AbortSignal.timeout(100) });
    await response.text();
  `);
  await assert.rejects(aborted, /timeout/);
  await until(() => seen.aborted === 1);
});

test("TLS sends the server name, verifies the certificate and reports its details", async (t) => {
  const { cert, key } = bridgeCertificate("localhost");
  const names: unknown[] = [];
  const server = createSecureServer({ cert, key });
  server.on("secureConnection", (socket: TLSSocket) => void names.push(socket.servername));
  const { port } = await serveWeb(t, (_, response) => response.end("secure"), server);
  const { run } = await startProbePlugin(t, LOCAL);
  const ca = JSON.stringify(cert);

  assert.deepEqual(
    await run(`
      const socket = tls.connect({ port: ${port}, host: "localhost", servername: "localhost", ca: ${ca} });
      await once(socket, "secureConnect");
      const { authorized, encrypted, remoteAddress, remotePort } = socket;
      socket.write("GET / HTTP/1.0\\r\\n\\r\\n");
      let text = "";
      for await (const chunk of socket) text += chunk;
      return { authorized, encrypted, remoteAddress, remotePort, last: text.slice(-6) };
    `),
    {
      authorized: true,
      encrypted: true,
      remoteAddress: "127.0.0.1",
      remotePort: port,
      last: "secure",
    },
  );
  const get = (options: string) =>
    run(`
      const response = await new Promise((resolve, reject) =>
        https.get("https://localhost:${port}/", ${options}, resolve).on("error", reject));
      let text = "";
      for await (const chunk of response) text += chunk;
      return text;
    `);
  assert.equal(await get(`{ ca: ${ca} }`), "secure");
  assert.equal(await get("{ rejectUnauthorized: false }"), "secure");
  await assert.rejects(get("{}"), /self[- ]signed certificate/);
  await assert.rejects(
    run(`await fetch("https://localhost:${port}/")`),
    /self[- ]signed certificate/,
  );
  await assert.rejects(
    run(`
      const socket = tls.connect(${port}, "127.0.0.1", { ca: ${ca} });
      await once(socket, "secureConnect");
    `),
    /does not match certificate's altnames|IP: 127\.0\.0\.1/,
  );
  await assert.rejects(
    run('await once(tls.connect(443, "other.test"), "secureConnect")'),
    /add "other\.test"/,
  );
  assert.ok(names.includes("localhost"));
});

test("a TLS server that disconnects or does not speak TLS causes a handshake error", async (t) => {
  const breaking = await listen(t, (socket) => socket.once("data", () => socket.resetAndDestroy()));
  const plain = await listen(t, (socket) => socket.once("data", () => socket.end("no TLS\n")));
  const { run } = await startProbePlugin(t, LOCAL);
  const shake = (port: number) =>
    run(
      `await once(tls.connect(${port}, "127.0.0.1", { rejectUnauthorized: false }), "secureConnect")`,
    );

  await assert.rejects(shake(breaking.port), /ECONNRESET|disconnected before secure/);
  await assert.rejects(shake(plain.port), /wrong version number|packet length|EPROTO/i);
});

test("WebSockets carry messages in both directions", async (t) => {
  const { port } = await serveWeb(t, (_, response) => response.end());
  const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestEnd(t, async () => {
    for (const client of sockets.clients) client.terminate();
    await new Promise((resolve) => sockets.close(resolve));
  });
  await once(sockets, "listening");
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => socket.send(`echo ${String(data)}`));
  });
  const { run } = await startProbePlugin(t, LOCAL);

  const answer = await run(`
    const socket = new WebSocket("ws://127.0.0.1:${(sockets.address() as AddressInfo).port}");
    await once(socket, "open");
    socket.send("hello");
    const [message] = await once(socket, "message");
    socket.close();
    await once(socket, "close");
    return String(message);
  `);

  assert.equal(answer, "echo hello");
  await assert.rejects(
    run(`await once(new WebSocket("ws://127.0.0.1:${port}"), "open")`),
    /Unexpected server response: 200/,
  );
  await assert.rejects(
    run('await once(new WebSocket("ws://other.test"), "open")'),
    /add "other\.test"/,
  );
});

for (const tls of [false, true]) {
  test(
    `mqtt.js talks to a broker${tls ? " with TLS" : ""}, is disconnected and reconnects`,
    { skip: withoutMosquitto },
    async (t) => {
      const broker = await startMosquitto(t, { tls });
      const { run } = await startProbePlugin(t, LOCAL);

      assert.equal(
        await run(`
        const client = mqtt.connect("${broker.url}", { reconnectPeriod: 50, rejectUnauthorized: false });
        globalThis.client = client;
        await once(client, "connect");
        await client.subscribeAsync("home/#");
        const heard = once(client, "message");
        await client.publishAsync("home/lamp", "on", { qos: 1 });
        const [topic, payload] = await heard;
        return topic + " " + payload;
      `),
        "home/lamp on",
      );
      const next = (event: string) =>
        run(
          `await new Promise((resolve) => client.on("error", () => undefined).once("${event}", resolve))`,
        );
      const gone = next("close");
      await broker.stop();
      await gone;
      const back = next("connect");
      await broker.start();
      await back;
      await run("await client.endAsync(true)");
    },
  );
}

test("only Unix sockets with a declared path can be reached", async (t) => {
  const folder = await emptyFolder(t);
  const path = join(folder, "own.sock");
  await listen(t, (socket) => socket.end("by path"), { at: { path } });
  await writeFile(join(folder, "file"), "");
  const { run } = await startProbePlugin(t, { hosts: [path, join(folder, "file")] });
  const read = (target: string) =>
    run(`
      const socket = net.connect("${target}");
      let text = "";
      for await (const chunk of socket) text += chunk;
      return [text, socket.remoteAddress ?? null];
    `);

  assert.deepEqual(await read(path), ["by path", null]);
  await assert.rejects(read(join(folder, "file")), /connect ECONNREFUSED/);
  await assert.rejects(read(join(folder, "other.sock")), /add ".*other\.sock" to "mantel\.perm/);
});

test("this machine is reached by IPv6", { skip: HAS_IPV6 ? false : "no IPv6" }, async (t) => {
  const { port } = await listen(t, (socket) => socket.end("six"), { at: { port: 0, host: "::1" } });
  const { run } = await startProbePlugin(t, { hosts: ["::1"] });

  const seen = await run(`
    const socket = net.connect({ port: ${port}, host: "::1" });
    await once(socket, "connect");
    const { remoteAddress, remoteFamily } = socket;
    let text = "";
    for await (const chunk of socket) text += chunk;
    return [text, remoteAddress, remoteFamily];
  `);

  assert.deepEqual(seen, ["six", "::1", "IPv6"]);
});

test("the host makes look-ups for every supported Node function, and others are refused", async (t) => {
  const { run } = await startProbePlugin(t, { hosts: ["nowhere.invalid"] });

  assert.deepEqual(
    await run(`
      const { lookup } = dns.promises;
      const called = await new Promise((resolve) => dns.lookup("localhost", (...all) => resolve(all)));
      const all = await new Promise((resolve) => dns.lookup("localhost", { all: true }, (...all) => resolve(all)));
      return [await lookup("127.0.0.1"), await lookup("localhost"), await lookup("localhost", { family: 6, all: true }), called, all];
    `),
    [
      { address: "127.0.0.1", family: 4 },
      { address: "127.0.0.1", family: 4 },
      [{ address: "::1", family: 6 }],
      [null, "127.0.0.1", 4],
      [null, [{ address: "127.0.0.1", family: 4 }]],
    ],
  );
  const codeOf = (ask: string) => run(`return (await (${ask}).then(() => ({}), (e) => e)).code`);
  assert.match(
    String(await codeOf("dns.promises.lookup('nowhere.invalid')")),
    /ENOTFOUND|EAI_AGAIN/,
  );
  assert.match(
    String(await codeOf("promisify(dns.resolveMx)('nowhere.invalid')")),
    /^E(NOTFOUND|CONNREFUSED|SERVFAIL|TIMEOUT|REFUSED)$/,
  );
  for (const ask of [
    "dns.promises.reverse('192.0.2.1')",
    "promisify(dns.lookupService)('127.0.0.1', 80)",
    "new dns.promises.Resolver().resolve('nowhere.invalid', 'ANY')",
  ]) {
    await assert.rejects(run(`await ${ask}`), /add "openNetwork": "always" to/, ask);
  }
});

test("a connection uses its own look-up function and the address that it returns", async (t) => {
  const { port } = await listen(t, (socket) => socket.end("found"));
  const { run } = await startProbePlugin(t, { hosts: ["127.0.0.1", "nas.test"] });
  const read = (answer: string) =>
    run(`
      const lookup = (name, options, callback) => callback(${answer});
      const socket = net.connect({ port: ${port}, host: "nas.test", lookup });
      let text = "";
      for await (const chunk of socket) text += chunk;
      return text;
    `);

  assert.equal(
    await read('null, options.all ? [{ address: "127.0.0.1", family: 4 }] : "127.0.0.1", 4'),
    "found",
  );
  assert.equal(await read('null, "127.0.0.1", 4'), "found");
  await assert.rejects(read('new Error("not today")'), /not today/);
  await assert.rejects(read('null, "192.0.2.1", 4'), /add "192\.0\.2\.1"/);
});

test("in the kernel's sandbox a plugin can reach the network only through the host", async (t) => {
  const { reason } = await Kernel.open(await emptyFolder(t));
  if (reason !== null) return t.skip(reason);
  const { port, sockets } = await listen(t, (socket) => socket.end("reached"));
  const { run, registry } = await startProbePlugin(t, { ...LOCAL, childProcesses: true });
  const shell = (line: string) =>
    run(`
      const answer = await promisify(child.execFile)("/bin/bash", ["-c", ${JSON.stringify(line)}]).catch((error) => error);
      return answer.stdout + answer.stderr;
    `);

  assert.deepEqual(registry.get("reacher").confinement, {
    level: "kernel",
    network: "proxied",
    reason: null,
  });
  assert.deepEqual(await run("return Object.keys(os.networkInterfaces())"), ["lo"]);
  assert.match(String(await shell(`exec 3<>/dev/tcp/127.0.0.1/${port}`)), /Connection refused/);
  assert.equal(sockets.length, 0);
  assert.match(String(await shell("touch /tmp/mantel-net-*/*/x")), /Read-only|No such file/);
  const others = await shell("ls -d /tmp/mantel-net-*/*");
  assert.equal(String(others).trim().split("\n").length, 1, String(others));
  assert.equal(await run(`${READ} return read(net.connect(${port}, "127.0.0.1"))`), "reached");
});

test("without a kernel sandbox the network still goes through the host", async (t) => {
  const { port, sockets } = await listen(t, (socket) => socket.end("reached"));
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  onTestEnd(t, async () => void (process.env["PATH"] = path));
  const { run, registry } = await startProbePlugin(t, LOCAL);

  assert.equal(registry.get("reacher").confinement.level, "permission-model");
  assert.equal(await run(`${READ} return read(net.connect(${port}, "127.0.0.1"))`), "reached");
  assert.equal(sockets.length, 1);
  await assert.rejects(run("await fetch('http://other.test')"), /add "other\.test"/);
});

test("during a handover each generation has its own network", async (t) => {
  const { port, sockets } = await listen(t, (socket) => socket.pipe(socket));
  const { run, registry, edit } = await startProbePlugin(t, LOCAL);
  const echo = (text: string) => `
    const socket = globalThis.kept = net.connect(${port}, "127.0.0.1");
    socket.write("${text}");
    return String((await once(socket, "data"))[0]);
  `;
  assert.equal(await run(echo("old")), "old");

  await edit("reacher/index.ts", (source) => `${source}\nglobalThis.round = 2;`);
  await registry.reload("reacher");

  assert.equal(await run(echo("new")), "new");
  await until(() => sockets[0]?.readableEnded === true);
  assert.equal(sockets[1]?.readableEnded, false);
});
