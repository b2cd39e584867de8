import assert from "node:assert/strict";
import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { manifest } from "../../helpers/stage-modules.ts";
import { until } from "../../helpers/until.ts";
import { answering, FAILS, PROVIDES } from "./staged-lamp.ts";
import { openManager, plugin, states } from "./staged-manager.ts";

test("a start finds and starts all plugins, and lists them by id", async (t) => {
  const { manager, processes } = await openManager(t, {
    ...plugin("zebra"),
    ...plugin("clock", { widget: "widget.ts" }),
    ...plugin("lamp", {}, FAILS),
  });
  const before = manager.settled();
  const { revision } = manager;

  await manager.start();

  assert.deepEqual([before, manager.settled()], [false, true]);
  assert.deepEqual(states(manager), ["clock active", "lamp failed", "zebra active"]);
  assert.deepEqual(manager.counts(), { active: 2, failed: 1 });
  assert.deepEqual(
    manager
      .work()
      .map(({ id }) => id)
      .toSorted(),
    ["clock", "lamp", "zebra"],
  );
  assert.ok(manager.revision > revision);
  assert.match(processes.runtimes.join(), /\/runtime-[0-9a-f]{16}\/start\.cjs$/);
  assert.equal(processes.runtimes.length, 1);
});

test("an unknown module is named in the refusal", async (t) => {
  const { manager } = await openManager(t);
  await manager.start();

  const refused = ({ code, message }: MantelError) => {
    assert.deepEqual([code, message], ["module_unknown", "no module has the id absent"]);
    return true;
  };
  for (const ask of [
    () => manager.get("absent"),
    () => manager.reload("absent"),
    () => manager.rollBack("absent"),
    () => manager.enable("absent"),
    () => manager.allow("absent"),
    () => manager.takeOver("absent"),
    () => manager.trialsOf("absent"),
    () => manager.logs("absent"),
  ]) {
    await assert.rejects(async () => ask(), refused);
  }
});

test("a folder that is being copied is not reported as broken", async (t) => {
  const { manager, write, hostLog } = await openManager(t);
  await manager.start();

  await write("lamp/package.json", manifest("lamp").slice(0, 20));
  for (let file = 0; file < 20; file++) await write(`lamp/lib/${file}.ts`, "export {};");
  await write("lamp/package.json", manifest("lamp"));
  await write("lamp/index.ts", `import "./lib/0.ts";${answering("lamp")}`);
  await until(() => states(manager).includes("lamp active"));

  assert.equal(manager.get("lamp").generation, 1);
  assert.deepEqual(
    hostLog.records.filter(({ level }) => level === "error"),
    [],
  );
});

test("a reload on request gives its result and the module", async (t) => {
  const { manager, write } = await openManager(t, plugin("lamp", PROVIDES));
  await manager.start();
  await write("lamp/index.ts", answering("two"));

  const { module, reload } = await manager.reload("lamp");

  assert.ok(["reloaded", "unchanged"].includes(reload.result)); // unchanged if the watcher was faster
  assert.deepEqual([module.generation, module.state], [2, "active"]);
  const back = await manager.rollBack("lamp");
  assert.deepEqual([back.reload.result, back.module.generation], ["rolled_back", 3]);
  assert.ok(manager.revision > 0);
});

test("requested reloads of unchanged code are shown with their results", async (t) => {
  const { manager } = await openManager(t, plugin("lamp"));
  await manager.start();
  t.mock.method(performance, "now", () => 10_000);

  const [first, second] = [await manager.reload("lamp"), await manager.reload("lamp")];

  assert.deepEqual(
    [first, second].map(({ module, reload }) => [
      reload.result,
      module.lastReload?.trigger,
      module.lastReload?.result,
    ]),
    [
      ["reloaded", "request", "reloaded"],
      ["unchanged", "request", "unchanged"],
    ],
  );
});

test("a degraded module counts as active, and a crashed one as neither", async (t) => {
  const away = `export const start = (_: object, host: any) =>
    host.reportDegraded({ reason: "the lamp is away" });`;
  const { manager, processes } = await openManager(t, {
    ...plugin("lamp", {}, away),
    ...plugin("other"),
  });
  await manager.start();
  const before = manager.counts();

  for (const process of processes.all) process.crash({ code: 1 });
  await until(() => states(manager).join() === "lamp loading,other loading");

  assert.deepEqual(before, { active: 2, failed: 0 });
  assert.deepEqual(manager.counts(), { active: 0, failed: 0 });
});

test("the log of a module can be filtered, and its trials are its own", async (t) => {
  const { manager } = await openManager(t, {
    ...plugin("lamp", {}, FAILS),
    ...plugin("clock", { widget: "widget.ts" }),
  });
  await manager.start();

  assert.deepEqual(
    manager.logs("lamp", { level: "error" }).map(({ sentence }) => sentence),
    ["the module did not start"],
  );
  assert.deepEqual(manager.logs("clock"), []);
  assert.ok(manager.trialsOf("lamp"));
  assert.throws(
    () => manager.trialsOf("clock"),
    ({ code, message }: MantelError) => {
      assert.deepEqual([code, message], ["invalid", "clock is a widget; it has no setup or test"]);
      return true;
    },
  );
});

test("a module is disabled and enabled in the config", async (t) => {
  const { manager, config, processes } = await openManager(t, plugin("lamp"));
  await manager.start();

  const off = await manager.disable("lamp");
  const configured = config.current.modules["lamp"]?.enabled;
  const on = await manager.enable("lamp");

  assert.deepEqual([off.state, configured], ["disabled", false]);
  assert.equal(off.error?.message, "modules.lamp.enabled is false in the config");
  assert.deepEqual([on.state, config.current.modules["lamp"]?.enabled], ["active", true]);
  assert.equal(processes.all[0]?.isEnded, true);
});

test("a new folder becomes a module, and a removed one disappears with its bridge", async (t) => {
  const { manager, write, remove, removed, revisions, bridges, withdrawn } = await openManager(t);
  await manager.start();

  await write("lamp/index.ts", answering("one"));
  const bridge = { kind: "local", commandsPerSecond: 10 };
  await write("lamp/package.json", manifest("lamp", { bridge }));
  await until(() => states(manager).join() === "lamp active");
  const found = bridges.find("lamp");
  const { revision } = manager;
  await remove("lamp");
  await until(() => manager.list().length === 0);

  assert.ok(found);
  assert.equal(bridges.find("lamp"), undefined);
  assert.deepEqual(removed, ["lamp"]);
  assert.ok(manager.revision > revision);
  assert.ok(revisions.every((each, at) => at === 0 || each > (revisions[at - 1] ?? 0)));
  assert.deepEqual(withdrawn, ["devices of lamp", "scenes of lamp"]);
});

test("a folder that is not a valid plugin is listed as failed, and cannot be reloaded", async (t) => {
  const { manager, hostLog } = await openManager(t, {
    ...plugin("lamp"),
    bad: { "package.json": "{" },
  });

  await manager.start();

  assert.deepEqual(states(manager), ["bad failed", "lamp active"]);
  assert.match(manager.get("bad").error?.message ?? "", /bad\/package\.json is not JSON/);
  await assert.rejects(manager.reload("bad"), ({ code, message }: MantelError) => {
    assert.equal(code, "reload_failed");
    assert.match(message, /bad\/package\.json is not JSON/);
    return true;
  });
  await assert.rejects(manager.reload("absent"), { code: "module_unknown" });
  assert.equal(hostLog.records[0]?.sentence, "invalid plugin folder");
});

test("a module continues when its manifest breaks, and shows why", async (t) => {
  const { manager, write, removed, processes } = await openManager(t, plugin("lamp", PROVIDES));
  await manager.start();

  await write("lamp/package.json", "{");
  await until(() => manager.get("lamp").lastReload !== null);

  const { state, lastReload } = manager.get("lamp");
  assert.deepEqual([state, lastReload?.result], ["active", "rolled_back"]);
  assert.match(lastReload?.error?.message ?? "", /lamp\/package\.json is not JSON/);
  assert.deepEqual(states(manager), ["lamp active"]);
  assert.deepEqual([removed, processes.all.length], [[], 1]);
  await assert.rejects(manager.allow("lamp"), { code: "reload_failed" });

  await write("lamp/package.json", manifest("lamp", PROVIDES, "2.0.0"));
  await until(() => manager.get("lamp").version === "2.0.0");
  assert.equal(manager.get("lamp").state, "active");
});

test("a plugin whose manifest is broken at the start runs its last good version", async (t) => {
  const first = await openManager(t, plugin("lamp", PROVIDES));
  await first.manager.start();
  await first.manager.close();
  await Promise.all([first.config.close(), first.consents.close(), first.compiler.close()]);
  await first.write("lamp/package.json", "{");

  const { manager, services } = await openManager(t, {}, { home: first.home });
  await manager.start();

  assert.deepEqual(states(manager), ["lamp active"]);
  assert.equal(services.findProvider("broker.address"), "lamp");
  await until(() => manager.get("lamp").lastReload !== null);
});

test("a changed manifest is used by the running module, without a stop", async (t) => {
  const { manager, write, removed } = await openManager(t, plugin("lamp"));
  await manager.start();

  await write("lamp/package.json", manifest("lamp", { title: "Lamp" }, "2.0.0"));
  await until(() => manager.get("lamp").version === "2.0.0");

  assert.deepEqual([manager.get("lamp").name, manager.get("lamp").generation], ["Lamp", 2]);
  assert.deepEqual(removed, []);
});

test("a disabled module shows its changed manifest and stays disabled", async (t) => {
  const { manager, write, processes } = await openManager(t, plugin("lamp"));
  await manager.start();
  await manager.disable("lamp");

  await write("lamp/package.json", manifest("lamp", { title: "Lamp" }, "2.0.0"));
  await until(() => manager.get("lamp").version === "2.0.0");

  assert.deepEqual([manager.get("lamp").state, processes.all.length], ["disabled", 1]);
});

test("a plugin that becomes another kind is another module", async (t) => {
  const { manager, write, removed, served } = await openManager(t, plugin("lamp"));
  await manager.start();

  await write("lamp/package.json", manifest("lamp", { widget: "widget.ts" }, "2.0.0"));
  await until(() => removed.length > 0 && manager.get("lamp").state === "active");

  assert.deepEqual(removed, ["lamp"]);
  assert.deepEqual(manager.get("lamp").kinds, ["widget"]);
  assert.deepEqual(served, ["lamp: first"]);
});

test("a change of a module's config reloads it, and no other", async (t) => {
  const { manager, config, processes } = await openManager(t, {
    ...plugin("lamp"),
    ...plugin("other"),
  });
  await manager.start();

  await config.patch({ modules: { lamp: { limits: { memoryMiB: 99 } } } }, { admin: true });
  await until(() => manager.get("lamp").lastReload?.trigger === "config");

  assert.equal(manager.get("lamp").generation, 2);
  assert.equal(manager.get("lamp").limits.memoryMiB, 99);
  assert.deepEqual([manager.get("other").generation, processes.all.length], [1, 3]);
});

test("a widget moves to the page when the config trusts it", async (t) => {
  const { manager, config } = await openManager(t, plugin("clock", { widget: "widget.ts" }));
  await manager.start();
  const before = manager.get("clock").widget?.runsIn;

  await config.patch({ modules: { clock: { trusted: true } } }, { admin: true });
  await until(() => manager.get("clock").widget?.runsIn === "page");

  assert.equal(before, "frame");
});

test("a plugin folder that is a link is found when the config allows it", async (t) => {
  const { manager, config, home, root } = await openManager(t);
  await mkdir(join(home, "elsewhere"));
  await writeFile(join(home, "elsewhere/package.json"), manifest("lamp"));
  await writeFile(join(home, "elsewhere/index.ts"), answering("linked"));
  await symlink(join(home, "elsewhere"), join(root, "lamp"));
  await manager.start();
  const before = manager.get("lamp").error?.message ?? "";

  await config.patch({ modules: { lamp: { links: true } } }, { admin: true });
  await until(() => manager.get("lamp").state === "active");
  await writeFile(join(home, "elsewhere/index.ts"), answering("linked again"));
  await until(() => manager.get("lamp").generation === 2);

  assert.match(before, /lamp is a link; set modules\.lamp\.links to true/);
});

test("a fallback ends when a bridge has been configured", async (t) => {
  const bridge = { kind: "local", commandsPerSecond: 10 };
  const { manager, config } = await openManager(t, {
    ...plugin("demo", { bridge: { ...bridge, kind: "demo" }, fallbackFor: { bridges: true } }),
    ...plugin("lamp", { bridge, requiresConfig: true }),
  });
  await manager.start();
  const before = states(manager);

  await config.patch({ modules: { lamp: { enabled: true } } }, { admin: true });
  await until(() => states(manager).join() === "demo disabled,lamp active");

  assert.deepEqual(before, ["demo active", "lamp unconfigured"]);
});

test("a module whose service name is free again starts after the other's manifest changed", async (t) => {
  const { manager, write, services } = await openManager(t, {
    ...plugin("lamp", PROVIDES),
    ...plugin("other", PROVIDES),
  });
  await manager.start();
  const holder = services.findProvider("broker.address") ?? "none";
  const waiting = holder === "lamp" ? "other" : "lamp";
  const before = [manager.get(holder).state, manager.get(waiting).state];

  await write(`${holder}/package.json`, manifest(holder, {}, "2.0.0"));
  await until(() => manager.get(waiting).state === "active");

  assert.deepEqual(before, ["active", "failed"]);
  assert.equal(manager.get(holder).version, "2.0.0");
});

test("a module that moved to another folder is the same module", async (t) => {
  const { manager, root, removed } = await openManager(t, plugin("lamp"));
  await manager.start();

  await rename(join(root, "lamp"), join(root, "moved"));
  await until(() => manager.get("lamp").generation === 2);

  assert.deepEqual([manager.get("lamp").state, removed], ["active", []]);
});

test("a search for plugins that fails is logged, and the modules continue", async (t) => {
  const { manager, consents, write, hostLog } = await openManager(t, plugin("lamp"));
  await manager.start();
  const failure = new Error("the disk is full");
  t.mock.method(consents, "grantPlugins", () => Promise.reject(failure));

  await write("new/package.json", manifest("new"));
  await until(() => hostLog.records.length > 0);

  const [{ level, sentence, fields } = assert.fail()] = hostLog.records;
  assert.deepEqual(
    [level, sentence, fields["error"]],
    ["error", "could not update the modules", failure],
  );
  assert.deepEqual(states(manager), ["lamp active"]);
});

test("bundles of packages that no module uses are removed after the start", async (t) => {
  const { manager, cacheFolder } = await openManager(t, plugin("lamp"));
  await mkdir(join(cacheFolder, "vendor"));
  await writeFile(join(cacheFolder, "vendor/0123456789abcdef.cjs"), "");

  await manager.start();

  await until(async () => (await readdir(join(cacheFolder, "vendor"))).length === 0);
});

test("a closed manager follows no change and keeps what modules published", async (t) => {
  const { manager, config, write, processes, withdrawn } = await openManager(t, plugin("lamp"));
  await manager.start();
  const { revision } = manager;

  await manager.close();
  await config.patch({ modules: { lamp: { enabled: false } } }, { admin: true });
  await write("new/package.json", manifest("new"));
  await write("new/index.ts", answering("new"));
  await delay(80); // sixteen times as long as a save takes to settle

  assert.equal(processes.all[0]?.isEnded, true);
  assert.deepEqual([states(manager), withdrawn], [["lamp active"], []]);
  assert.equal(manager.revision, revision);
});
