import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ModuleView } from "../../../host/api/module.ts";
import { LOCK_FILE, PackageLock } from "../../../host/packages/lock.ts";
import { packageFolders } from "../../../host/packages/package-folders.ts";
import { Packages } from "../../../host/packages/packages.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { fakeNpm, type NpmScripts } from "../../helpers/fake-npm.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { packageTgz } from "../../helpers/tar.ts";
import { until } from "../../helpers/until.ts";

/** `npm pack` of `<folder>`: gives `<folder>.tgz`; of a package: gives `<sources>/<name>.tgz`. */
const packFrom = (sources: string) =>
  `for spec; do :; done; case "$spec" in file:*) cp "\${spec#file:}.tgz" . ;; *) cp "${sources}/$spec.tgz" . ;; esac`;

const manifest = (version: string, { mantel = {}, ...more }: { mantel?: object } & object = {}) =>
  JSON.stringify({
    name: "mantel-lamp",
    version,
    mantel: { id: "lamp", kinds: ["service"], server: "index.ts", ...mantel },
    ...more,
  });

interface Change {
  readonly id: string;
  readonly action: string;
  readonly version: string;
}

/** Packages of a home without a host. `lamp-1` to `lamp-3` are folders to install from. */
async function openHome(t: TestContext, scripts: NpmScripts = {}) {
  const home = await emptyFolder(t);
  const [data, sources] = [join(home, "data"), join(home, "sources")];
  await mkdir(data);
  await mkdir(sources);
  const npm = await fakeNpm(t, { pack: packFrom(sources), ...scripts });
  const log = collectedLog();
  const changes: Change[] = [];
  const forgotten: unknown[] = [];
  /** The view that the module has once it has followed. */
  let next: Partial<ModuleView> | undefined;
  const views = new Map<string, ModuleView>();
  const open = async () => {
    const lock = await PackageLock.open(data, log);
    const packages = new Packages({
      dataFolder: data,
      lock,
      log,
      versions: { mantel: "0.1.0", sdk: "0.1.0" },
      progress: () => undefined,
      changed: (id, action, version) => changes.push({ id, action, version }),
      directory: {
        plugins: async () => [
          {
            id: "other",
            folder: "/plugins/other",
            version: "1.0.0",
            manifest: {
              id: "other",
              kinds: ["bridge"],
              bridge: { kind: "taken", commandsPerSecond: 1 },
            },
          },
        ],
        isShippedId: () => false,
        allowsLink: (id) => id === "linked",
        runningFolder: () => undefined,
        view: (id) => views.get(id),
        follow: async (id) => {
          if (next) views.set(id, { state: "active", ...next } as ModuleView);
          return views.get(id);
        },
        forgetConsent: async (id) => void forgotten.push(["consent", id]),
        forget: async (id, purge) => void forgotten.push([id, purge]),
      },
    });
    t.after(() => packages.close());
    return { lock, packages };
  };
  const publish = (name: string, files: Readonly<Record<string, string>>) =>
    writeFile(join(sources, `${name}.tgz`), packageTgz({ "index.ts": `// ${name}`, ...files }));
  for (const at of [1, 2, 3]) {
    await publish(`lamp-${at}`, { "package.json": manifest(`${at}.0.0`) });
  }
  return {
    ...(await open()),
    data,
    npm,
    log,
    changes,
    forgotten,
    publish,
    reopen: open,
    from: (name: string) => join(sources, name),
    becomes: (view: Partial<ModuleView>) => {
      next = view;
    },
    /** Names below the folder of packages. */
    kept: async (...path: string[]) =>
      (await readdir(join(data, "packages", ...path)).catch((): string[] => [])).toSorted(),
  };
}

const install = async (home: Awaited<ReturnType<typeof openHome>>, source: string) =>
  home.packages.install({ source }).done;

test("an installed plugin has a folder of its own and an entry with its version and integrity", async (t) => {
  const home = await openHome(t);

  const result = await install(home, home.from("lamp-1"));

  assert.deepEqual(result, { id: "lamp", result: "installed" });
  const entry = home.lock.find("lamp");
  assert.ok(entry);
  const { version, name, pinned, source, integrity, folder } = entry;
  assert.deepEqual(
    [version, name, pinned, source],
    ["1.0.0", "mantel-lamp", false, home.from("lamp-1")],
  );
  assert.match(integrity ?? "", /^sha512-.{86}==$/);
  assert.match(folder, /^1\.0\.0-[0-9a-f]{8}$/);
  assert.deepEqual(await home.kept("lamp", folder), ["index.ts", "package.json"]);
  assert.deepEqual(await home.kept(), ["lamp"], "nothing of the installation is left");
  assert.deepEqual(home.changes, [{ id: "lamp", action: "installed", version: "1.0.0" }]);
  assert.deepEqual(home.forgotten, [["consent", "lamp"]], "an old consent does not count");
  assert.deepEqual(packageFolders(home.data, home.lock), [
    { id: "lamp", isLinked: false, folder: join(home.data, "packages/lamp", folder) },
  ]);
  assert.deepEqual((await home.reopen()).lock.entries, home.lock.entries);
});

test("an update replaces the version, and keeps the one before for a rollback", async (t) => {
  const home = await openHome(t);
  await install(home, home.from("lamp-1"));
  await home.publish("lamp-1", { "package.json": manifest("1.1.0") });
  home.becomes({ state: "active" });

  assert.deepEqual(await home.packages.update("lamp").done, { id: "lamp", result: "updated" });
  assert.deepEqual(await home.packages.update("lamp").done, { id: "lamp", result: "unchanged" });

  const { version, previous } = home.lock.find("lamp") ?? {};
  assert.deepEqual([version, previous?.version], ["1.1.0", "1.0.0"]);
  assert.equal((await home.kept("lamp")).length, 2);

  await home.publish("lamp-1", { "package.json": manifest("1.2.0") });
  await home.packages.update("lamp").done;
  assert.equal((await home.kept("lamp")).length, 2, "the oldest version is deleted");
});

test("an update that does not start is put back, with the reason", async (t) => {
  const home = await openHome(t);
  await install(home, home.from("lamp-1"));
  const before = home.lock.find("lamp");
  await home.publish("lamp-1", { "package.json": manifest("1.1.0") });
  home.becomes({
    lastReload: {
      at: "2999-01-01T00:00:00.000Z",
      trigger: "file",
      result: "rolled_back",
      durationMs: 1,
      downtimeMs: 0,
      error: { message: "it throws" },
    },
  });

  await assert.rejects(home.packages.update("lamp").done, {
    code: "reload_failed",
    message: "lamp 1.1.0 did not start, and 1.0.0 was put back: it throws",
    extras: { rolledBack: true },
  });

  assert.deepEqual(home.lock.find("lamp"), before);
  assert.deepEqual(home.changes.at(-1), { id: "lamp", action: "rolled_back", version: "1.0.0" });
  const { version, reason } = home.packages.rejected("lamp") ?? {};
  assert.deepEqual([version, reason], ["1.1.0", "it throws"]);
});

test("an update that crashes later is put back too, once", async (t) => {
  const home = await openHome(t);
  await install(home, home.from("lamp-1"));
  await home.publish("lamp-1", { "package.json": manifest("1.1.0") });
  home.becomes({ state: "active" });
  await home.packages.update("lamp").done;
  const lastReload = {
    at: new Date().toISOString(),
    trigger: "crash",
    result: "rolled_back",
    durationMs: 1,
    downtimeMs: 0,
    error: { message: "it crashed" },
  } as const;

  home.packages.moduleChanged({ id: "lamp", lastReload } as ModuleView);
  home.packages.moduleChanged({ id: "lamp", lastReload } as ModuleView);
  await until(() => home.lock.find("lamp")?.version === "1.0.0");
  home.packages.moduleChanged({ id: "lamp", lastReload } as ModuleView);
  await home.packages.close();

  assert.equal(home.changes.filter(({ action }) => action === "rolled_back").length, 1);
});

test("a requested rollback, and one from before the installation, put nothing back", async (t) => {
  const home = await openHome(t);
  await install(home, home.from("lamp-1"));
  await home.publish("lamp-1", { "package.json": manifest("1.1.0") });
  home.becomes({ state: "active" });
  await home.packages.update("lamp").done;
  const shared = { result: "rolled_back", durationMs: 1, downtimeMs: 0 } as const;

  for (const lastReload of [
    { ...shared, at: "2999-01-01T00:00:00.000Z", trigger: "rollback" },
    { ...shared, at: "2000-01-01T00:00:00.000Z", trigger: "file" },
  ] as const) {
    home.packages.moduleChanged({ id: "lamp", lastReload } as ModuleView);
  }

  assert.ok(
    home.packages.operations.every(({ endedAt }) => endedAt !== null),
    "nothing began",
  );

  assert.equal(home.lock.find("lamp")?.version, "1.1.0");
});

test("a pinned plugin is updated only to a version that is named", async (t) => {
  const home = await openHome(t);
  await home.publish("mantel-lamp", { "package.json": manifest("1.0.0") });
  await home.publish("mantel-lamp@2.0.0", { "package.json": manifest("2.0.0") });
  await install(home, "mantel-lamp");
  await home.packages.pin("lamp", true);

  assert.throws(() => home.packages.update("lamp"), {
    code: "plugin_pinned",
    message: "lamp is pinned to 1.0.0; release the pin, or name the version",
  });
  await home.packages.update("lamp", { version: "2.0.0" }).done;

  const { version, pinned, source } = home.lock.find("lamp") ?? {};
  assert.deepEqual([version, pinned, source], ["2.0.0", true, "mantel-lamp"]);
});

test("a pinned plugin keeps its version when its install scripts are allowed", async (t) => {
  const home = await openHome(t);
  await home.publish("mantel-lamp@1.0.0", { "package.json": manifest("1.0.0") });
  await home.publish("mantel-lamp", { "package.json": manifest("2.0.0") });
  await install(home, "mantel-lamp@1.0.0");
  await home.packages.pin("lamp", true);

  await home.packages.update("lamp", { scripts: ["better-sqlite3"] }).done;

  const { version, scripts } = home.lock.find("lamp") ?? {};
  assert.deepEqual([version, scripts], ["1.0.0", ["better-sqlite3"]]);
});

test("a removed plugin leaves no code, and a new installation asks again", async (t) => {
  const home = await openHome(t);
  await install(home, home.from("lamp-1"));

  await home.packages.remove("lamp", { purge: true }).done;

  assert.deepEqual(home.lock.entries, []);
  assert.deepEqual(await home.kept(), []);
  assert.deepEqual(home.forgotten.at(-1), ["lamp", true]);
  assert.throws(() => home.packages.remove("lamp", { purge: false }), { code: "plugin_unknown" });
  assert.throws(() => home.packages.update("lamp"), { code: "plugin_unknown" });
});

for (const [what, files, message] of [
  ["no manifest", { "package.json": '{ "name": "leftpad" }' }, /has no "mantel" key/],
  ["no package.json", {}, /the package has no package\.json/],
  [
    "a faulty manifest",
    { "package.json": manifest("1.0.0", { mantel: { id: "Lamp" } }) },
    /mantel\/id/,
  ],
  [
    "a version of Mantel that this is not",
    { "package.json": manifest("1.0.0", { engines: { mantel: ">=9" } } as object) },
    /mantel-lamp 1\.0\.0 does not run here: it needs Mantel >=9, and this home has 0\.1\.0/,
  ],
  [
    "a dependency outside the package",
    { "package.json": manifest("1.0.0", { dependencies: { x: "file:../../.." } } as object) },
    /the dependency x \("file:\.\.\/\.\.\/\.\."\) is outside the package/,
  ],
  [
    "the bridge kind of another plugin",
    {
      "package.json": manifest("1.0.0", {
        mantel: { kinds: ["bridge"], bridge: { kind: "taken", commandsPerSecond: 1 } },
      }),
    },
    /lamp and other both have the bridge kind taken/,
  ],
  [
    "the id of another plugin",
    { "package.json": manifest("1.0.0", { mantel: { id: "other" } }) },
    /has the id other, and so has the plugin in \/plugins\/other/,
  ],
] as const) {
  test(`a package with ${what} is refused, and nothing stays`, async (t) => {
    const home = await openHome(t);
    await home.publish("bad", files);

    await assert.rejects(install(home, home.from("bad")), { message });

    assert.deepEqual(home.lock.entries, []);
    assert.ok(!existsSync(join(home.data, LOCK_FILE)));
    assert.deepEqual(await home.kept(), []);
    assert.match(home.packages.operations[0]?.error ?? "", message);
  });
}

test("a second package with an installed id is refused, and so is an update with another id", async (t) => {
  const home = await openHome(t);
  await install(home, home.from("lamp-1"));
  const before = home.lock.find("lamp");

  await assert.rejects(install(home, home.from("lamp-2")), {
    code: "plugin_exists",
    message: "lamp is installed already; update it instead",
  });
  await home.publish("lamp-1", { "package.json": manifest("2.0.0", { mantel: { id: "bulb" } }) });
  await assert.rejects(home.packages.update("lamp").done, { message: /has another id, bulb/ });

  assert.deepEqual(home.lock.find("lamp"), before);
});

test("a registry that has other content for an installed version is refused", async (t) => {
  const home = await openHome(t);
  await home.publish("mantel-lamp", { "package.json": manifest("1.0.0") });
  await install(home, "mantel-lamp");
  await home.publish("mantel-lamp", { "package.json": manifest("1.0.0"), "index.ts": "evil" });

  await assert.rejects(home.packages.update("lamp").done, {
    code: "install_failed",
    message: /mantel-lamp 1\.0\.0 now has other content/,
  });
});

test("dependencies are installed beside the plugin without scripts, unless these are allowed", async (t) => {
  const home = await openHome(t, {
    install: "mkdir -p node_modules/wordy; echo '{}' > node_modules/wordy/package.json",
    audit: "printf '{\\n}\\n'",
    rebuild: 'echo "$*" > node_modules/wordy/built',
  });
  const dependencies = { wordy: "^1.0.0", "@mantel/plugin-sdk": "*" };
  await home.publish("lamp-1", { "package.json": manifest("1.0.0", { dependencies } as object) });

  await install(home, home.from("lamp-1"));
  const folder = () => join("lamp", home.lock.find("lamp")?.folder ?? "", "node_modules/wordy");
  assert.deepEqual(await home.kept(folder()), ["package.json"]);
  assert.ok(
    (await home.npm.calls()).every(
      (call) => call.includes("--ignore-scripts") || call.startsWith("audit"),
    ),
  );

  await home.packages.update("lamp", { scripts: ["wordy"] }).done;
  const built = await readFile(join(home.data, "packages", folder(), "built"), "utf8");
  assert.equal(built, "rebuild --ignore-scripts=false -- wordy\n");
  assert.deepEqual(home.lock.find("lamp")?.scripts, ["wordy"]);
});

test("a dependency that brings its own SDK is refused by name", async (t) => {
  const sdk = "node_modules/wordy/node_modules/@mantel/plugin-sdk";
  const home = await openHome(t, { install: `mkdir -p ${sdk}`, audit: "printf '{\\n}\\n'" });
  const dependencies = { wordy: "^1.0.0" };
  await home.publish("lamp-1", { "package.json": manifest("1.0.0", { dependencies } as object) });

  await assert.rejects(install(home, home.from("lamp-1")), {
    code: "install_failed",
    message: /a dependency brings its own copy of @mantel\/plugin-sdk/,
  });
  assert.deepEqual(await home.kept(), []);
});

test("a linked folder is used where it is, if the config allows that", async (t) => {
  const home = await openHome(t);
  for (const id of ["linked", "lamp"]) {
    await mkdir(home.from(id));
    await writeFile(join(home.from(id), "package.json"), manifest("1.0.0", { mantel: { id } }));
  }

  await assert.rejects(install(home, `link:${home.from("lamp")}`), {
    code: "invalid",
    message: /set modules\.lamp\.links to true/,
  });
  await install(home, `link:${home.from("linked")}`);

  assert.equal(home.lock.find("linked")?.integrity, null);
  assert.deepEqual(packageFolders(home.data, home.lock), [
    { id: "linked", isLinked: true, folder: home.from("linked") },
  ]);
  await home.packages.remove("linked", { purge: false }).done;
  assert.ok(existsSync(home.from("linked")), "the author's folder stays");
});

test("files that a crash has left are removed at the next start, and those that the lock names stay", async (t) => {
  const home = await openHome(t);
  await install(home, home.from("lamp-1"));
  const { folder = "" } = home.lock.find("lamp") ?? {};
  for (const leftover of [
    "lamp/9.0.0-00000000",
    ".staging-0123456789ab/package",
    "bulb/1.0.0-11111111",
  ]) {
    await mkdir(join(home.data, "packages", leftover), { recursive: true });
  }

  await (await home.reopen()).packages.folders.sweep();

  assert.deepEqual(await home.kept(), ["lamp"]);
  assert.deepEqual(await home.kept("lamp"), [folder]);
});

for (const [what, answer, code, message] of [
  [
    "is away",
    '{"error":{"code":"ECONNREFUSED","summary":"connect ECONNREFUSED"}}',
    "registry_down",
    /cannot be used/,
  ],
  [
    "answers with a web page",
    `{"error":{"code":"FETCH_ERROR","summary":"invalid json response body reason: Unexpected token <"}}`,
    "registry_down",
    /it answered with a web page/,
  ],
  [
    "does not know the package",
    '{"error":{"code":"E404","summary":"Not Found"}}',
    "install_failed",
    /does not exist/,
  ],
  [
    "has no such version",
    '{"error":{"code":"ETARGET","summary":"x"}}',
    "install_failed",
    /has no such version/,
  ],
  [
    "has a wrong hash",
    '{"error":{"code":"EINTEGRITY","summary":"x"}}',
    "install_failed",
    /does not match the hash that its registry names/,
  ],
  ["gives no answer", "", "registry_down", /did not answer in time/],
] as const) {
  test(`a registry that ${what} is the reason of the refusal`, async (t) => {
    const home = await openHome(t, { pack: `printf '%s' '${answer}'; exit 1` });

    await assert.rejects(install(home, "mantel-lamp"), { code, message });
    assert.deepEqual(await home.kept(), []);
  });
}
