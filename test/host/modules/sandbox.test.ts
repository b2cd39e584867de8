import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Permissions } from "@mantel/plugin-sdk/permissions";
import { PluginProcess } from "../../../host/modules/process/plugin-process.ts";
import { readEnvironment } from "../../../host/modules/process/procfs.ts";
import { Cgroups } from "../../../host/modules/process/sandbox/cgroup.ts";
import { Kernel } from "../../../host/modules/process/sandbox/kernel.ts";
import { seccompFilter } from "../../../host/modules/process/sandbox/seccomp.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { packageJson, startModules } from "../../helpers/module.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";

/** A plugin that runs shell commands, over which Node's permission model has no power. */
const SHELL = `
import { definePlugin, provide, defineService, Type } from "@mantel/plugin-sdk";
const probe = defineService("probe.run", {
  input: Type.Object({ code: Type.String() }),
  output: Type.Object({ url: Type.String() }),
  deadlineMs: 60_000,
});
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export default definePlugin({
  start: () => ({
    services: [provide(probe, async ({ code }) => {
        const run = promisify(execFile)("/bin/sh", ["-c", code]);
        return { url: await run.then(({ stdout }) => stdout.trim(), (error) => "FAILED " + error.stderr.trim()) };
      })],
  }),
});
`;

let skip: string | false = false;
before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "mantel-kernel-"));
  const { reason } = await Kernel.open(folder);
  if (reason !== null) skip = reason;
  await rm(folder, { recursive: true });
});

async function startShell(t: TestContext, permissions: Permissions = {}) {
  const manifest = packageJson("shell", {
    provides: ["probe.run"],
    permissions: { ...permissions, childProcesses: true },
  });
  const shell = { "package.json": manifest, "index.ts": SHELL };
  const modules = await startModules(t, { shell }, undefined, { consentOnSave: true });
  assert.equal(modules.registry.get("shell").error, null);
  return {
    ...modules,
    run: async (code: string) => {
      const answer = await modules.services.call("probe.run", { code });
      return (answer as { url: string }).url;
    },
  };
}

test("a plugin's child processes see neither the machine's files nor the host's data", async (t) => {
  if (skip) return t.skip(skip);
  const { run, dataFolder, home } = await startShell(t);
  await writeFile(join(dataFolder, "keys.json"), "secret");

  for (const path of [
    "/etc/shadow",
    "/root",
    "/home",
    join(dataFolder, "keys.json"),
    `${home}/plugins/other`,
  ]) {
    assert.match(await run(`ls -d ${path}`), /No such file/, path);
  }
  assert.match(
    await run(`cat ${home}/node_modules/@mantel/plugin-sdk/../data/keys.json`),
    /FAILED/,
  );
  assert.match(await run("cat /proc/self/fd/0/../../../../etc/shadow"), /FAILED/);
});

test("only the plugin's own storage is writable", async (t) => {
  if (skip) return t.skip(skip);
  const { run, dataFolder, home } = await startShell(t);

  const refused = [
    "/x",
    "/tmp/x",
    "/dev/x",
    "/dev/shm/x",
    "/usr/x",
    `${home}/plugins/shell/index.ts`,
  ];
  refused.push(
    `${dataFolder}/x`,
    `${dataFolder}/cache/x`,
    `${dataFolder}/cache/modules/shell/x`,
    "/etc/passwd",
  );
  for (const path of refused) {
    assert.match(
      await run(`echo x > ${path}`),
      /FAILED.*(Read-only|Permission|nonexistent|No such)/s,
      path,
    );
  }
  assert.equal(await run("echo kept > file && cat file"), "kept");
  assert.equal(await run('echo kept > "$TMPDIR/other" && cat other'), "kept");
});

test("a plugin can neither see nor signal other processes of the machine", async (t) => {
  if (skip) return t.skip(skip);
  const { run } = await startShell(t);

  const seen = (await run("echo /proc/[0-9]*")).split(" ");
  assert.ok(seen.length <= 4, seen.join());
  assert.match(await run(`kill -0 ${process.pid}`), /No such process/);
  assert.match(await run(`cat /proc/${process.pid}/environ`), /No such file/);
  const environment = await run("cat /proc/1/environ /proc/2/environ | tr '\\0' '\\n'");
  assert.doesNotMatch(environment, /SECRET|HOME=/);
});

test("only a plugin with a network gets the machine's extra certificates", async (t) => {
  if (skip) return t.skip(skip);
  const former = process.env["NODE_EXTRA_CA_CERTS"];
  onTestEnd(t, async () => {
    if (former === undefined) delete process.env["NODE_EXTRA_CA_CERTS"];
    else process.env["NODE_EXTRA_CA_CERTS"] = former;
  });
  const file = join(await emptyFolder(t), "authorities.pem");
  await writeFile(file, "");
  process.env["NODE_EXTRA_CA_CERTS"] = file;

  const alone = await startShell(t);
  const connected = await startShell(t, { hosts: ["example.org"] });

  const look = `echo $NODE_EXTRA_CA_CERTS; ls ${file}`;
  assert.match(await alone.run(look), /^FAILED.*No such file/);
  assert.equal(await alone.run("echo $NODE_EXTRA_CA_CERTS"), "");
  assert.equal(await connected.run(look), `${file}\n${file}`);
});

test("a plugin that declares no hosts has no network but an empty loopback", async (t) => {
  if (skip) return t.skip(skip);
  const server = createServer((socket) => void socket.end("reached"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestEnd(t, async () => void server.close());
  const { run } = await startShell(t);
  const { port } = server.address() as AddressInfo;

  const connect = `exec 2>&1; ${process.execPath} -e 'require("net").connect(${port}, "127.0.0.1").on("error", (e) => console.log(e.code)).on("data", String)'`;
  assert.match(await run(connect), /ECONNREFUSED/);
  assert.equal(await run("cat /proc/net/dev | grep -c :"), "1");
});

test("the kernel refuses mounts, namespaces and a look into other processes", async (t) => {
  if (skip) return t.skip(skip);
  const { run } = await startShell(t);

  assert.match(await run("unshare --user true"), /FAILED.*Operation not permitted/s);
  assert.match(await run("mount -t tmpfs none /tmp"), /FAILED/);
  assert.match(await run("grep NoNewPrivs /proc/self/status"), /1/);
  assert.match(await run("grep Seccomp: /proc/self/status"), /2/);
  assert.match(await run("grep CapEff /proc/self/status"), /0000000000000000/);
});

const NO_LIMITS = "this user may not make control groups here";

test("a program that fills memory is ended by the kernel, and its plugin answers", async (t) => {
  if (skip) return t.skip(skip);
  const { run, kernel } = await startShell(t);
  if (!kernel.hasLimits) return t.skip(NO_LIMITS);

  assert.match(
    await run("head -c 2000000000 /dev/zero | tail >/dev/null; echo code $?"),
    /code 137/,
  );
  assert.equal(await run("echo still here"), "still here");
});

test("a control group enforces its task limit", async (t) => {
  const cgroups = Cgroups.open();
  if (!cgroups) return t.skip(NO_LIMITS);
  const group = cgroups.create({ memoryBytes: 2 ** 28, tasks: 5, cpuPercent: 200 });
  assert(group);
  onTestEnd(t, async () => {
    await group.remove();
    await cgroups.close();
  });
  const joining = group.joinFiles.map((file) => `echo 0 > ${file};`).join(" ");
  const fork = "i=0; while [ $i -lt 50 ]; do sleep 1 & i=$((i+1)); done; wait";

  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile("/bin/sh", ["-c", joining + fork], (error, _, errors) =>
      resolve({ code: error?.code, stderr: errors }),
    );
  });

  assert.notEqual(code, 0);
  assert.match(stderr, /fork/);
});

test("processes start also after the cache was emptied", async (t) => {
  if (skip) return t.skip(skip);
  const { run, registry, dataFolder } = await startShell(t);
  await rm(join(dataFolder, "cache/sandbox"), { recursive: true });

  await registry.disable("shell");
  await registry.enable("shell");

  assert.equal(await run("grep Seccomp: /proc/self/status | cut -f2"), "2");
});

test("a plugin with linked packages starts in its sandbox", async (t) => {
  if (skip) return t.skip(skip);
  const { write, root, once } = await startModules(t, {});
  const code = `import { definePlugin } from "@mantel/plugin-sdk"; export default definePlugin({ start: () => ({}) });`;
  await mkdir(join(root, "lamp"));
  await symlink(join(process.cwd(), "node_modules"), join(root, "lamp/node_modules"));
  await write("lamp/index.ts", code);
  await write("lamp/package.json", packageJson("lamp"));

  const lamp = await once("lamp", ({ state }) => state === "active", 20_000);

  assert.equal(lamp.error, null);
});

test("a process that is killed while its sandbox is built leaves none behind", async (t) => {
  if (skip) return t.skip(skip);
  const folder = await emptyFolder(t);
  const kernel = await Kernel.open(folder);
  t.after(() => kernel.close());
  const runtime = join(folder, "idle.cjs");
  await writeFile(runtime, "setInterval(() => undefined, 1_000)");
  const sandbox = { readable: [], writable: [], hasOpenNetwork: false, hasPrograms: false };
  const settings = {
    memoryMiB: 64,
    cpuPercent: 80,
    childProcesses: false,
    folder,
    flags: [],
    sandbox,
    network: "none" as const,
    hosts: [],
  };

  for (let round = 0; round < 100; round++) {
    const started = PluginProcess.fork(runtime, settings, kernel);
    await delay(round / 20);
    await started.terminate();
  }

  const mark = `\0TMPDIR=${folder}\0`;
  const left = () =>
    readdirSync("/proc").filter((pid) => readEnvironment(Number(pid)).includes(mark));
  await until(() => left().length === 0);
});

test("a process inherits only its output and channel descriptors", async (t) => {
  if (skip) return t.skip(skip);
  const { run } = await startShell(t);

  // a descriptor that is closed while they are listed makes `ls` fail behind its list
  const open = (await run("ls -l /proc/$PPID/fd || true"))
    .split("\n")
    .flatMap((line) => line.split("-> ")[1] ?? []);
  assert.ok(open.length > 3);
  for (const target of open)
    assert.match(target, /^(socket:|pipe:|anon_inode:|\/dev\/null|\/proc\/)/);
});

test("all processes of a plugin end with it, also those outside its session", async (t) => {
  if (skip) return t.skip(skip);
  const { run, registry, dataFolder, once } = await startShell(t);
  await run("setsid sh -c 'while :; do echo x >> alive; sleep 0.05; done' >/dev/null 2>&1 &");
  await until(async () => (await run("cat alive")).startsWith("x"));

  await registry.disable("shell");

  await once("shell", ({ state }) => state === "disabled");
  const size = () => statSync(join(dataFolder, "plugins/shell/alive")).size;
  const written = size();
  await delay(300); // six turns of the loop, if it still ran
  assert.equal(size(), written);
});

test("the list contains the sandbox level of each module", async (t) => {
  if (skip) return t.skip(skip);
  const { registry, write, once } = await startShell(t);
  const shown = () => registry.get("shell").confinement;
  assert.deepEqual(shown(), { level: "kernel", network: "none", reason: null });

  const permissions = { childProcesses: true, listen: true };
  await write("shell/package.json", packageJson("shell", { provides: ["probe.run"], permissions }));
  await once("shell", ({ permissions: { listen }, state }) => listen && state === "active");

  assert.equal(shown().network, "open");
  assert.match(shown().reason ?? "", /machine's own network/);
});

test("without bubblewrap modules work, and the list gives the reason for the missing sandbox", async (t) => {
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  onTestEnd(t, async () => void (process.env["PATH"] = path));
  const { registry } = await startModules(t, {
    lamp: {
      "package.json": packageJson("lamp"),
      "index.ts": `import { definePlugin } from "@mantel/plugin-sdk"; export default definePlugin({ start: () => ({}) });`,
    },
  });

  const { state, confinement } = registry.get("lamp");

  assert.deepEqual(
    [state, confinement.level, confinement.network],
    ["active", "permission-model", "open"],
  );
  assert.match(confinement.reason ?? "", /bubblewrap is not installed/);
});

for (const architecture of ["x64", "arm64", "arm"] as const) {
  test(`the system call filter for ${architecture} is a sound program`, () => {
    const filter = seccompFilter(architecture);

    assert(filter);
    const count = filter.length / 8;
    assert.ok(Number.isInteger(count) && count < 4_096);
    for (let at = 0; at < count; at++) {
      const code = filter.readUInt16LE(at * 8);
      const [jumpTrue, jumpFalse] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
      assert.ok([0x20, 0x15, 0x35, 0x45, 0x06].includes(code));
      if (code !== 0x06) assert.ok(at + 1 + Math.max(jumpTrue, jumpFalse) < count);
    }
    assert.equal(filter.readUInt16LE((count - 1) * 8), 0x06);
  });
}
