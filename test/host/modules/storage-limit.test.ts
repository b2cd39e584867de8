import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { measureFolders } from "../../../host/modules/process/storage-use.ts";
import { DISK, emptyFolder } from "../../helpers/folder.ts";
import { openHome, packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const KIB = 1024;
const MIB = 2 ** 20;
/** For what takes a look at the disk, a restart and its back-off on a busy machine. */
const PATIENT = { withinMs: 20_000 };

/** Runs the code it is told, with its storage as working folder, and says what it gave. */
const KEEPER = `
import * as fs from "node:fs";
import { definePlugin, provide, defineService, Type } from "@mantel/plugin-sdk";
const probe = defineService("probe.run", {
  input: Type.Object({ code: Type.String() }),
  output: Type.Object({ url: Type.String() }),
  deadlineMs: 60_000,
});
export default definePlugin({
  start({ storage, folder }) {
    return {
      services: [provide(probe, async ({ code }) => {
          try {
            const run = new Function("fs", "storage", "folder", "return (async () => {" + code + "})()");
            return { url: String(await run(fs, storage, folder)) };
          } catch (error) {
            return { url: error.code + ": " + error.message };
          }
        })],
    };
  },
});
`;

const keeper = (mantel: object = {}) => ({
  "package.json": packageJson("keeper", {
    provides: ["probe.run"],
    limits: { storageMiB: 4 },
    ...mantel,
  }),
  "index.ts": KEEPER,
});

async function startKeeper(...[t, mantel]: [Parameters<typeof startModules>[0], object?]) {
  const modules = await startModules(t, { keeper: keeper(mantel) }, await openHome(t, DISK));
  const run = async (code: string) => {
    const { url } = (await modules.services.call("probe.run", { code })) as {
      url: string;
    };
    return url;
  };
  const view = () => modules.registry.get("keeper");
  return { ...modules, run, view };
}

test("the disk space of all folders is measured without following links", async (t) => {
  const root = await emptyFolder(t);
  const [one, two] = [join(root, "one"), join(root, "two")];
  await mkdir(join(one, "below/deeper"), { recursive: true });
  await mkdir(two);
  await writeFile(join(one, "below/deeper/file"), Buffer.alloc(100 * KIB));
  await writeFile(join(two, "file"), Buffer.alloc(50 * KIB));
  await symlink(root, join(two, "link"));
  await writeFile(join(two, "hole"), "");
  await truncate(join(two, "hole"), 1024 * MIB);

  const { bytes, entries } = await measureFolders([{ path: one }, { path: two }], 1_000);

  assert.equal(entries, 6);
  assert.ok(bytes >= 150 * KIB && bytes < 200 * KIB, `${bytes}`);
});

test("a folder part can be unused, and a missing folder counts as nothing", async (t) => {
  const path = await emptyFolder(t);
  await writeFile(join(path, "file"), Buffer.alloc(100 * KIB));

  const { bytes } = await measureFolders(
    [{ path, freeBytes: 60 * KIB }, { path: `${path}/none` }],
    10,
  );

  assert.ok(bytes >= 40 * KIB && bytes < 60 * KIB, `${bytes}`);
  const all = await measureFolders([{ path, freeBytes: MIB }], 10);
  assert.equal(all.bytes, 0);
});

test("a very large folder tree is not scanned", async (t) => {
  const path = await emptyFolder(t);
  await Promise.all(Array.from({ length: 200 }, (_, at) => writeFile(join(path, `${at}`), "")));

  assert.equal((await measureFolders([{ path }], 50)).entries, 50);
});

test("a plugin whose storage is nearly full is degraded until it has deleted", async (t) => {
  const { run, view, once } = await startKeeper(t);
  await until(() => view().resources.storageBytes === 0);

  await run(`fs.writeFileSync("large", Buffer.alloc(${3.4 * MIB}))`);

  const { error, resources, limits } = await once("keeper", ({ state }) => state === "degraded");
  assert.match(
    error?.message ?? "",
    /^its storage is nearly full: the limit is 4 MiB and 1024 files; delete/,
  );
  assert.ok((resources.storageBytes ?? 0) >= 0.8 * 4 * MIB, `${resources.storageBytes}`); // it may still write
  assert.equal(limits.storageMiB, 4);
  await run(`fs.rmSync("large")`);
  await once("keeper", ({ state }) => state === "active");
});

test("a plugin with full storage cannot write, can delete, and can write after that", async (t) => {
  const { run, view, once } = await startKeeper(t);
  await run(`fs.writeFileSync("large", Buffer.alloc(${4 * MIB}))`);
  await until(() => view().error?.message.startsWith("its storage is full"), PATIENT);

  const refused = [
    await run(`await storage.set("key", 1)`),
    await run(`fs.writeFileSync("more", "x")`),
    await run(`fs.appendFileSync("large", "x")`),
  ];
  const { restarts } = view();
  await run(`fs.rmSync("large")`);
  await once("keeper", ({ state }) => state === "active");

  assert.match(
    refused[0] ?? "",
    /^disk_full: its storage is full: the limit is 4 MiB and 1024 files/,
  );
  if (existsSync("/usr/bin/prlimit")) {
    assert.match(refused[1] ?? "", /^EFBIG/);
    assert.match(refused[2] ?? "", /^EFBIG/);
  }
  assert.equal(restarts, 0);
  assert.equal(await run(`await storage.set("key", 1); return "kept"`), "kept");
  assert.equal(await run(`fs.writeFileSync("more", "x"); return "written"`), "written");
});

test("a process that exceeds its storage is ended with the cause and can then clean up", async (t) => {
  const { run, view, home } = await startKeeper(t);
  const flood = run(`
    const chunk = Buffer.alloc(${64 * KIB});
    for (let at = 0; at < 1600; at++) {
      fs.writeFileSync("part-" + at, chunk);
      if (at % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  `).catch(() => undefined);

  const { error } = await until(() => view().restarts === 1 && view(), PATIENT);
  await flood;
  assert.match(
    error?.message ?? "",
    /^storage limit exceeded: it used \d+ MiB of 4 MiB; delete what it does not need/,
  );
  await until(() => view().state === "degraded", PATIENT);
  assert.equal(
    await run(`for (const name of fs.readdirSync(".")) fs.rmSync(name); return "clean"`),
    "clean",
  );
  await until(() => view().state === "active", PATIENT);
  assert.equal(view().restarts, 1);
  assert.deepEqual(await readdir(join(home, "data/plugins/keeper")), []);
});

test("too many empty files are also refused", async (t) => {
  const { run, view } = await startKeeper(t);
  const flood = run(`
    for (let at = 0; at < 4000; at++) {
      fs.writeFileSync("empty-" + at, "");
      if (at % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  `).catch(() => undefined);

  const { error } = await until(() => view().restarts === 1 && view(), PATIENT);

  await flood;
  assert.match(
    error?.message ?? "",
    /^storage limit exceeded: it stored \d+ files and folders of 1024; /,
  );
});

test("declared folders count towards the storage, the code cache does not", async (t) => {
  const { run, view } = await startKeeper(t, { permissions: { folders: ["pictures"] } });

  await run(`fs.writeFileSync(folder("pictures") + "/one", Buffer.alloc(${MIB}))`);

  await until(() => (view().resources.storageBytes ?? 0) >= MIB);
  assert.ok((view().resources.storageBytes ?? 0) < 1.1 * MIB);
});

test("a deleted file counts towards the storage while it is open", async (t) => {
  const { run, view } = await startKeeper(t);

  await run(`
    globalThis.fd = fs.openSync("hidden", "w");
    fs.rmSync("hidden");
    fs.writeSync(globalThis.fd, Buffer.alloc(${2 * MIB}));
  `);

  await until(() => (view().resources.storageBytes ?? 0) >= 2 * MIB);
  await run(`fs.closeSync(globalThis.fd)`);
  await until(() => view().resources.storageBytes === 0);
});

test("the config can raise the manifest's limits", async (t) => {
  const { config, once, run, view } = await startKeeper(t);
  await config.patch({ modules: { keeper: { limits: { storageMiB: 16 } } } }, { admin: true });
  await once("keeper", ({ generation }) => generation === 2);

  await run(`fs.writeFileSync("large", Buffer.alloc(${6 * MIB}))`);

  await until(() => (view().resources.storageBytes ?? 0) >= 6 * MIB);
  assert.equal(view().state, "active");
  assert.equal(view().limits.storageMiB, 16);
});
