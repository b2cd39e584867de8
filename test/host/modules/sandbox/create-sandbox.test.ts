import assert from "node:assert/strict";
import { mkdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Permissions } from "@mantel/plugin-sdk/permissions";
import type { Network } from "@mantel/plugin-sdk/protocol";
import type { PluginPackage } from "../../../../host/modules/manifest/manifest.ts";
import { createSandbox, type Sandbox } from "../../../../host/modules/process/sandbox/sandbox.ts";
import { emptyFolder } from "../../../helpers/folder.ts";
import { onTestEnd } from "../../../helpers/on-test-end.ts";

const CERTIFICATES = "NODE_EXTRA_CA_CERTS";

/** A home with the plugin `lamp`; a process of it gets these permissions. */
async function openHome(t: TestContext) {
  const { [CERTIFICATES]: former } = process.env;
  delete process.env[CERTIFICATES];
  onTestEnd(t, async () => {
    if (former === undefined) delete process.env[CERTIFICATES];
    else process.env[CERTIFICATES] = former;
  });
  const home = await emptyFolder(t);
  const [dataFolder, cacheFolder] = [join(home, "data"), join(home, "cache")];
  const folder = join(home, "plugins/lamp");
  await mkdir(folder, { recursive: true });
  await mkdir(dataFolder);
  const create = (permissions?: Permissions, network: Network = "none"): Promise<Sandbox> => {
    const manifest = { id: "lamp", ...(permissions && { permissions }) };
    const plugin = { id: "lamp", folder, manifest } as unknown as PluginPackage;
    const limits = { memoryMiB: 64, cpuPercent: 50, network };
    return createSandbox(plugin, { dataFolder, cacheFolder }, limits);
  };
  return { home, dataFolder, cacheFolder, folder, create };
}

/** Lets Node have exactly these flags. */
function onlyFlags(t: TestContext, ...flags: readonly string[]): void {
  const former = Object.getOwnPropertyDescriptor(process, "allowedNodeEnvironmentFlags") ?? {};
  Object.defineProperty(process, "allowedNodeEnvironmentFlags", {
    configurable: true,
    value: new Set(flags),
  });
  onTestEnd(
    t,
    async () => void Object.defineProperty(process, "allowedNodeEnvironmentFlags", former),
  );
}

const allowed = ({ settings }: Sandbox, access: "read" | "write"): string[] =>
  settings.flags.flatMap((flag) => {
    const [name, path = ""] = flag.split("=");
    return name === `--allow-fs-${access}` ? [path] : [];
  });
const switches = ({ settings }: Sandbox): string[] =>
  settings.flags.filter((flag) => !flag.startsWith("--allow-fs-"));

test("a plugin's process reads its code and its packages, and writes its storage and its compiled code", async (t) => {
  const { dataFolder, cacheFolder, folder, create } = await openHome(t);

  const sandbox = await create();

  const storage = join(dataFolder, "plugins/lamp");
  const compiled = join(cacheFolder, "compiled/lamp");
  assert.deepEqual(allowed(sandbox, "write"), [`${storage}/*`, `${compiled}/*`]);
  const packages = [];
  for (let at = folder; at !== dirname(at); at = dirname(at))
    packages.push(join(at, "node_modules"));
  packages.push("/node_modules");
  const outside = packages.filter((each) => !each.startsWith(`${folder}/`));
  assert.deepEqual(allowed(sandbox, "read"), [
    join(cacheFolder, "runtime-*"),
    ...["/etc/alpine-release", "/proc/self/exe", "/usr/bin/ldd"], // which C library the machine has
    ...[join(cacheFolder, "modules/lamp"), join(cacheFolder, "vendor"), folder]
      .concat(outside, storage, compiled)
      .map((each) => `${each}/*`),
  ]);
  const { readable, writable, hasOpenNetwork, hasPrograms } = sandbox.settings.sandbox;
  const built = ["modules/lamp", "vendor"].map((name) => join(cacheFolder, name));
  assert.deepEqual(readable, [...built, folder, ...packages]);
  assert.deepEqual(writable, [storage, compiled]);
  assert.deepEqual([hasOpenNetwork, hasPrograms], [false, false]);
  assert.deepEqual([sandbox.storage, sandbox.compiled, sandbox.folders], [storage, compiled, {}]);
  const { memoryMiB, cpuPercent, childProcesses, network, hosts } = sandbox.settings;
  assert.deepEqual(
    [memoryMiB, cpuPercent, childProcesses, network, hosts],
    [64, 50, false, "none", []],
  );
  assert.equal(sandbox.settings.folder, storage);
});

test("the folders of a plugin exist before its process starts, and only the host's user enters its data", async (t) => {
  const { dataFolder, cacheFolder, create } = await openHome(t);

  await create({ folders: ["pictures"] });
  await create({ folders: ["pictures"] }); // also if they exist

  for (const path of [
    join(dataFolder, "plugins/lamp"),
    join(dataFolder, "pictures"),
    join(cacheFolder, "compiled/lamp"),
  ])
    assert.equal((await stat(path)).mode & 0o777, 0o700, path);
  for (const name of ["modules/lamp", "vendor"])
    assert.ok((await stat(join(cacheFolder, name))).isDirectory());
});

test("a named folder is one of the data folder, to write, and an absolute one is of the machine, to read", async (t) => {
  const { home, dataFolder, create } = await openHome(t);
  const music = join(home, "music");
  await mkdir(music);

  const sandbox = await create({ folders: ["pictures", music] });

  const pictures = join(dataFolder, "pictures");
  assert.deepEqual(sandbox.folders, { pictures });
  assert.ok(allowed(sandbox, "write").includes(`${pictures}/*`));
  assert.ok(allowed(sandbox, "read").includes(`${pictures}/*`));
  assert.ok(allowed(sandbox, "read").includes(`${music}/*`));
  assert.ok(!allowed(sandbox, "write").includes(`${music}/*`));
  const { readable, writable } = sandbox.settings.sandbox;
  assert.ok(readable.includes(music) && !writable.includes(music));
  assert.ok(writable.includes(pictures) && !readable.includes(pictures));
});

test("a file of the machine is allowed as a file, and a path in another allowed one is not given twice", async (t) => {
  const { home, create } = await openHome(t);
  await mkdir(join(home, "music/jazz"), { recursive: true });
  await writeFile(join(home, "notes.txt"), "");
  const folders = ["music/jazz", "music", "notes.txt", "missing"].map((name) => join(home, name));

  const read = allowed(await create({ folders }), "read").filter((path) =>
    folders.some((each) => path.startsWith(each)),
  );

  assert.deepEqual(read, [`${home}/music/*`, join(home, "notes.txt"), `${home}/missing/*`]);
});

test("a folder that is a link is allowed under both names", async (t) => {
  const { home, create } = await openHome(t);
  await mkdir(join(home, "real"));
  await symlink(join(home, "real"), join(home, "link"));

  const read = allowed(await create({ folders: [join(home, "link")] }), "read");

  assert.ok(read.includes(`${home}/link/*`) && read.includes(`${home}/real/*`), read.join());
});

test("a plugin that asks for the root of the machine is refused", async (t) => {
  const { create } = await openHome(t);

  await assert.rejects(create({ folders: ["/"] }), /gives access to the host's own data/);
});

for (const [what, name] of [
  ["the data folder", "data"],
  ["a folder in it", "data/plugins"],
  ["the folder around it", "."],
  ["a link to it", "link"],
  ["a path to it through another folder", "plugins/../data"],
] as const) {
  test(`a plugin that asks for ${what} is refused`, async (t) => {
    const { home, dataFolder, create } = await openHome(t);
    await mkdir(join(dataFolder, "plugins"));
    await symlink(dataFolder, join(home, "link"));
    const path = `${home}/${name}`;

    await assert.rejects(create({ folders: [path] }), {
      code: "invalid",
      message:
        /^the manifest of lamp asks for the folder \/.*, which gives access to the host's own data; name only the folders that the plugin needs$/,
    });
  });
}

test("a folder beside the data folder that begins with its name is allowed", async (t) => {
  const { home, create } = await openHome(t);
  await mkdir(join(home, "data-of-others"));

  const sandbox = await create({ folders: [join(home, "data-of-others")] });

  assert.ok(allowed(sandbox, "read").includes(`${home}/data-of-others/*`));
});

for (const [path, isAllowed] of [
  ["/proc", false],
  ["/proc/self", false],
  ["/proc/self/root", false],
  ["/proc/thread-self/environ", false],
  ["/proc/1", false],
  ["/proc/1234/root/etc", false],
  ["/proc/loadavg", true],
  ["/proc/selfish", true],
  ["/proc/net/dev", true],
  ["/x/proc/1", true],
] as const) {
  test(`a plugin may${isAllowed ? "" : " not"} ask to read ${path}`, async (t) => {
    const { create } = await openHome(t);
    if (!isAllowed) return assert.rejects(create({ folders: [path] }), { code: "invalid" });

    const { settings } = await create({ folders: [path] });

    assert.ok(settings.flags.some((flag) => flag.includes(path)));
    // The sandbox has a /proc of its own.
    assert.equal(settings.sandbox.readable.includes(path), !path.startsWith("/proc/"));
  });
}

test("a process without permissions gets no switch but that of the permission model", async (t) => {
  const { create } = await openHome(t);
  onlyFlags(t, "--permission");

  assert.deepEqual(switches(await create()), [
    "--permission",
    "--disable-warning=ExperimentalWarning",
    "--disable-warning=SecurityWarning",
  ]);
});

test("an older Node has the permission model as an experiment", async (t) => {
  const { create } = await openHome(t);
  onlyFlags(t, "--experimental-permission");

  const [first, ...others] = switches(await create(undefined, "proxied"));

  assert.equal(first, "--experimental-permission");
  assert.ok(others.every((flag) => flag.startsWith("--disable-warning")));
});

for (const [permission, flag] of [
  ["childProcesses", "--allow-child-process"],
  ["workerThreads", "--allow-worker"],
  ["nativeAddons", "--allow-addons"],
] as const) {
  test(`the permission ${permission} adds ${flag}, and nothing else does`, async (t) => {
    const { create } = await openHome(t);
    onlyFlags(t, "--permission");

    const flags = switches(await create({ [permission]: true }));
    const others = switches(await create({ [permission]: false, listen: true, sqlite: true }));

    assert.deepEqual(
      flags.filter((each) => !others.includes(each)),
      [flag],
    );
    assert.equal(others.length, 3);
  });
}

test("newer Nodes close the debugger's signal, and SQLite and the network without a permission", async (t) => {
  const { create } = await openHome(t);
  onlyFlags(t, "--permission", "--disable-sigusr1", "--experimental-sqlite", "--allow-net");
  const added = async (...how: Parameters<typeof create>) =>
    switches(await create(...how)).slice(3);

  assert.deepEqual(await added(), ["--disable-sigusr1", "--no-experimental-sqlite"]);
  assert.deepEqual(await added({ sqlite: true }), ["--disable-sigusr1"]);
  assert.deepEqual((await added({}, "proxied")).at(-1), "--allow-net");
  assert.deepEqual((await added({}, "open")).at(-1), "--allow-net");
});

test("child processes and native addons need the programs of the machine", async (t) => {
  const { create } = await openHome(t);
  const hasPrograms = async (permissions: Permissions) =>
    (await create(permissions)).settings.sandbox.hasPrograms;

  assert.equal(await hasPrograms({ childProcesses: true }), true);
  assert.equal(await hasPrograms({ nativeAddons: true }), true);
  assert.equal(await hasPrograms({ workerThreads: true, sqlite: true }), false);
});

test("a process knows its network and its hosts, and only an open network is that of the machine", async (t) => {
  const { create } = await openHome(t);
  const hosts = ["a.example"];

  const proxied = await create({ hosts, childProcesses: true }, "proxied");
  const open = await create({ hosts }, "open");

  assert.deepEqual([proxied.settings.network, proxied.settings.hosts], ["proxied", hosts]);
  assert.equal(proxied.settings.childProcesses, true);
  assert.deepEqual(
    [proxied, open].map(({ settings }) => settings.sandbox.hasOpenNetwork),
    [false, true],
  );
});

test("a process with a network can read the extra certificates of the machine", async (t) => {
  const { home, create } = await openHome(t);
  const file = join(home, "authorities.pem");
  process.env["NODE_EXTRA_CA_CERTS"] = file;
  const isReadable = async (network: Network) =>
    (await create(undefined, network)).settings.sandbox.readable.includes(file);

  assert.deepEqual(
    [await isReadable("none"), await isReadable("proxied"), await isReadable("open")],
    [false, true, true],
  );
});

test("settings are the same until a folder is created again", async (t) => {
  const { dataFolder, create } = await openHome(t);
  const first = await create({ folders: ["pictures"] });
  const same = await create({ folders: ["pictures"] });
  assert.deepEqual(same.settings, first.settings);

  await rm(join(dataFolder, "pictures"), { recursive: true });
  const other = await create({ folders: ["pictures"] });

  assert.deepEqual(other.settings.flags, first.settings.flags);
  assert.notDeepEqual(other.settings.sandbox, first.settings.sandbox);
});
