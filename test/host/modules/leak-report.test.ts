import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { findLeaks } from "../../../host/modules/process/leak-report.ts";
import type { PluginProcess } from "../../../host/modules/process/plugin-process.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";

/** Opens what it is given, in a file of its own; the number makes each round other code. */
function plugin(round: number, open: string, dispose = "") {
  return {
    "package.json": packageJson("garden", {
      permissions: {
        hosts: ["127.0.0.1"],
        listen: true,
        childProcesses: true,
        workerThreads: true,
      },
    }),
    "index.ts": `
import { definePlugin } from "@mantel/plugin-sdk";
import { open } from "./open.ts";
export default definePlugin({ start: async (ctx) => { await open(ctx.onDispose, ${round}); } });
`,
    "open.ts": `${IMPORTS}
export async function open(onDispose: (release: () => void) => void, round: number): Promise<void> {
${open}
  onDispose(() => { ${dispose} });
}
`,
  };
}

const IMPORTS = [
  'import { spawn } from "node:child_process";',
  'import { openSync, watch } from "node:fs";',
  'import { open as openFile } from "node:fs/promises";',
  'import { createServer } from "node:http";',
  'import { connect, createServer as createTcp } from "node:net";',
  'import { createSocket } from "node:dgram";',
  'import { Worker } from "node:worker_threads";',
].join("");

/** Line 1 holds the imports, line 2 the function's head: the code opens on line 3. */
const LEAKS: Readonly<Record<string, string>> = {
  interval: "setInterval(() => undefined, 1_000);",
  timer: "setTimeout(() => undefined, 60_000);",
  server: 'createServer().listen(0, "127.0.0.1");',
  watcher: 'watch(".", () => undefined);',
  "child process": 'spawn("sleep", ["60"]);',
  socket: "createSocket('udp4').bind(0, '127.0.0.1');",
  thread: 'new Worker("setInterval(() => undefined, 1000)", { eval: true });',
};

for (const [kind, code] of Object.entries(LEAKS)) {
  test(`a ${kind} left open is reported with file and line`, async (t) => {
    const { registry, edit } = await startModules(t, { garden: plugin(1, code) });

    await edit("garden/index.ts", (source) => source.replace(", 1)", ", 2)"));
    const { module, reload } = await registry.reload("garden");

    const [left, ...others] = reload.leftOpen ?? [];
    assert.deepEqual(others, []);
    assert.deepEqual(
      { ...left, column: 0, frame: "" },
      {
        kind,
        count: 1,
        file: "open.ts",
        line: 3,
        column: 0,
        frame: "",
      },
    );
    assert.match(left?.frame ?? "", /> 3 \|/);
    assert.deepEqual(module.lastReload?.leftOpen, reload.leftOpen);
    const told = registry.logs("garden").filter(({ level }) => level === "warn");
    assert.match(JSON.stringify(told), new RegExp(`${kind} opened at open.ts:3:`));
  });
}

test("a resource that the previous code left open is shown as its file was then", async (t) => {
  const { registry, edit } = await startModules(t, { garden: plugin(1, LEAKS["timer"] ?? "") });

  await edit("garden/open.ts", (source) => source.replace("setTimeout", "\n\nclearTimeout"));
  const { reload } = await registry.reload("garden");

  const [left] = reload.leftOpen ?? [];
  assert.deepEqual([left?.file, left?.line], ["open.ts", 3]);
  assert.match(left?.frame ?? "", /> 3 \| setTimeout\(/);
});

test("a connection left open is reported, also if the host relays it", async (t) => {
  const server = createServer((socket) => void socket.resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(t, () => new Promise((resolve) => void server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const code = `await new Promise((done) => connect(${port}, "127.0.0.1", done));`;
  const files = plugin(1, code);
  const manifest = packageJson("garden", { permissions: { hosts: ["127.0.0.1"] } });
  const { registry, edit } = await startModules(t, {
    garden: { ...files, "package.json": manifest },
  });

  await edit("garden/index.ts", (source) => source.replace(", 1)", ", 2)"));
  const { reload } = await registry.reload("garden");

  const seen = reload.leftOpen?.map(({ kind, count, file, line }) => ({ kind, count, file, line }));
  assert.deepEqual(seen, [{ kind: "socket", count: 1, file: "open.ts", line: 3 }]);
});

test("files left open are reported with their paths", async (t) => {
  const code = `openSync(import.meta.filename);
Object.assign(globalThis, { kept: await openFile(import.meta.filename) });`;
  const { registry, edit, root } = await startModules(t, { garden: plugin(1, code) });

  await edit("garden/index.ts", (source) => source.replace(", 1)", ", 2)"));
  const { reload } = await registry.reload("garden");

  assert.deepEqual(reload.leftOpen, [{ kind: "file", count: 2, path: `${root}/garden/open.ts` }]);
});

test("connections of a leaked server are reported with the server's line", async (t) => {
  const code = `const server = createTcp().listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));
for (const _ of [1, 2]) await new Promise((done) => connect((server.address() as { port: number }).port, done));
await new Promise((done) => setTimeout(done, 50));`;
  const { registry, edit } = await startModules(t, { garden: plugin(1, code) });

  await edit("garden/index.ts", (source) => source.replace(", 1)", ", 2)"));
  const { reload } = await registry.reload("garden");

  const seen = reload.leftOpen?.map(({ kind, count, line }) => `${count} ${kind} ${line}`);
  assert.deepEqual(seen?.toSorted(), ["1 server 3", "2 socket 3", "2 socket 5"]);
});

test("closed resources and idle connections of Node are not reported", async (t) => {
  const code = `
const timer = setInterval(() => undefined, 1_000);
const child = spawn("sleep", ["60"]);
const server = createServer((_, response) => response.end("x")).listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));
await (await fetch("http://127.0.0.1:" + (server.address() as { port: number }).port)).text();
setTimeout(() => undefined, 60_000).unref();`;
  const dispose =
    "clearInterval(timer); child.kill(); server.close(); server.closeAllConnections();";
  const { registry, edit } = await startModules(t, { garden: plugin(1, code, dispose) });

  await edit("garden/index.ts", (source) => source.replace(", 1)", ", 2)"));
  const { reload } = await registry.reload("garden");

  assert.deepEqual(reload.leftOpen, []);
  assert.ok((reload.memory?.beforeBytes ?? 0) > 2 ** 20);
  assert.ok((reload.memory?.afterBytes ?? 0) > 2 ** 20);
  assert.deepEqual(
    registry.logs("garden").filter(({ level }) => level === "warn"),
    [],
  );
});

const LEFTOVER = { kind: "timer", stack: [] };
for (const [what, answer] of Object.entries({
  "is not a list": "timer",
  "has entries of an unknown kind": [{ ...LEFTOVER, kind: "ghost" }],
  "has a stack that is not a list": [{ ...LEFTOVER, stack: "at open.ts:3:1" }],
  "has an endless path": [{ ...LEFTOVER, path: "x".repeat(100_000) }],
  "has more than a hundred entries": Array.from({ length: 101 }, () => LEFTOVER),
  "is null": null,
})) {
  test(`a list of open resources is ignored if it ${what}`, async () => {
    const process = { pid: 0, peer: { call: () => Promise.resolve(answer) } };

    const leftOpen = await findLeaks(process as unknown as PluginProcess, "/plugins/garden");

    assert.deepEqual(leftOpen, []);
  });
}
