import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { manifest, stageModules } from "../../helpers/stage-modules.ts";
import { until } from "../../helpers/until.ts";
import { answering, ask, failure, FAILS, openLamp, PROVIDES, sentences } from "./staged-lamp.ts";

test("a module starts in its own process, and shows each step", async (t) => {
  const { lamp, changes, processes, root, services } = await openLamp(t);

  assert.deepEqual(changes, ["disabled", "loading", "active"]);
  assert.deepEqual(processes.all[0]?.calls, ["load", "start"]);
  const { state, error, generation, version, lastReload } = lamp.view;
  assert.deepEqual(
    [state, error, generation, version, lastReload],
    ["active", null, 1, "1.0.0", null],
  );
  assert.equal(await ask(lamp), "one");
  assert.equal(services.findProvider("broker.address"), "lamp");
  assert.deepEqual([...lamp.inputs], [join(root, "lamp/index.ts")]);
  assert.equal(lamp.mayUseAnyFile, false);
  const { id, reloads, logDrops } = lamp.work;
  assert.deepEqual([id, reloads, logDrops], ["lamp", 0, 0]);
  assert.equal(lamp.ready(), undefined);
  assert.ok(lamp.trials);
});

test("before its start a module is disabled and answers no call", async (t) => {
  const { add } = await stageModules(t);
  const lamp = await add("lamp", { "index.ts": answering("one") });

  assert.deepEqual([lamp.view.state, lamp.isWorking, lamp.canStart], ["disabled", false, true]);
  assert.equal(lamp.mayUseAnyFile, true, "its first build may use any file");
  assert.deepEqual([...lamp.inputs], []);
  await assert.rejects(ask(lamp), failure("module_down", /^the module is not running$/));
});

for (const [what, source, message] of [
  ["does not start", FAILS, /^no start$/],
  ["does not load", 'export const load = () => { throw new Error("no load"); };', /^no load$/],
  ["does not compile", "export const = 1;", /^syntax error: expected identifier/],
] as const) {
  test(`code that ${what} fails the module, with the reason in its state and log`, async (t) => {
    const { lamp, services, processes } = await openLamp(t, source);

    assert.equal(lamp.view.state, "failed");
    assert.match(lamp.view.error?.message ?? "", message);
    assert.deepEqual(sentences(lamp), ["the module did not start"]);
    assert.equal(services.findProvider("broker.address"), undefined);
    assert.ok(processes.all.every(({ isEnded }) => isEnded));
    await assert.rejects(ask(lamp), { code: "module_down" });
  });
}

test("a failed module starts when its code is repaired", async (t) => {
  const { lamp, save } = await openLamp(t, FAILS);

  const { result, from, to } = await save(answering("repaired"));

  assert.deepEqual([result, from, to], ["reloaded", 0, 1]);
  assert.deepEqual([lamp.view.state, lamp.view.error], ["active", null]);
  assert.equal(await ask(lamp), "repaired");
});

test("a module without its config is unconfigured, which is not a failure", async (t) => {
  const { lamp, config } = await openLamp(t, answering("one"), {
    ...PROVIDES,
    requiresConfig: true,
  });
  const { state, error } = lamp.view;

  await config.patch({ modules: { lamp: { enabled: true } } }, { admin: true });
  await lamp.reload("config");

  assert.deepEqual(
    [state, error?.message],
    ["unconfigured", 'not configured; set its options, or add a section "lamp" to config.json'],
  );
  assert.deepEqual(sentences(lamp), []);
  assert.equal(lamp.view.state, "active");
});

test("a module whose config was removed ends at its reload", async (t) => {
  const mantel = { ...PROVIDES, requiresConfig: true };
  const { lamp, config, processes, withdrawn } = await openLamp(t, answering("one"), mantel);
  await config.patch({ modules: { lamp: { enabled: true } } }, { admin: true });
  await lamp.reload("config");
  await config.patch({ modules: { lamp: { enabled: null } } }, { admin: true });

  await assert.rejects(lamp.reload("config"), failure("reload_failed", /^not configured/));

  assert.equal(lamp.view.state, "unconfigured");
  assert.ok(processes.all.every(({ isEnded }) => isEnded));
  assert.deepEqual(withdrawn, ["devices of lamp", "scenes of lamp"]);
  assert.deepEqual(sentences(lamp), []);
});

test("a module waits for a service name until the other module has given it back", async (t) => {
  const { lamp, add, services } = await openLamp(t);
  const other = await add("other", {
    "package.json": manifest("other", PROVIDES),
    "index.ts": answering("other"),
  });

  await other.start();
  const { state, error } = other.view;
  const couldStart = other.canStart;
  await lamp.stop();

  assert.equal(state, "failed");
  assert.match(error?.message ?? "", /broker\.address.*lamp/);
  assert.deepEqual([couldStart, other.canStart], [false, true]);
  await other.start();
  assert.equal(services.findProvider("broker.address"), "other");
  assert.equal(other.canStart, false);
});

test("a start uses the manifest that is on disk then", async (t) => {
  const { add, write } = await stageModules(t);
  const lamp = await add("lamp", { "index.ts": answering("one") });
  await write("lamp/package.json", manifest("lamp", { title: "New" }, "2.0.0"));

  await lamp.start();

  assert.deepEqual([lamp.view.version, lamp.view.name], ["2.0.0", "New"]);
  assert.equal(await ask(lamp), "one");
});

for (const [what, text] of [
  ["of another plugin", manifest("other", {}, "2.0.0")],
  ["of another kind of plugin", manifest("lamp", { widget: "index.ts" }, "2.0.0")],
] as const) {
  test(`a start keeps its manifest beside one ${what}`, async (t) => {
    const { add, write } = await stageModules(t);
    const lamp = await add("lamp", { "index.ts": answering("one") });
    await write("lamp/package.json", text);

    await lamp.start();

    assert.deepEqual([lamp.view.state, lamp.view.version], ["active", "1.0.0"]);
  });
}

test("the trials of the loaded code are shown, and refuse options that it does not have", async (t) => {
  const { lamp, processes } = await openLamp(
    t,
    'export const load = () => ({ trials: ["test"] });',
  );

  await assert.rejects(async () => lamp.trials?.test({ absent: 1 }), { code: "invalid" });

  assert.deepEqual(lamp.view.trials, ["test"]);
  assert.deepEqual(
    processes.all.map(({ isEnded }) => isEnded),
    [false, true],
  );
});

test("new code that does not report a fault is not degraded by the old code's report", async (t) => {
  const source = `export const start = (_: object, host: any) =>
    host.reportDegraded({ reason: "the lamp is away" });`;
  const { lamp, save } = await openLamp(t, source);

  await save(answering("two"));

  assert.deepEqual([lamp.view.state, lamp.view.error], ["active", null]);
});

test("a failure beside a reload is a warning in the module's log", async (t) => {
  const source = 'export const quiesce = () => { throw new Error("not now"); };';
  const { lamp, save } = await openLamp(t, source);

  await save(answering("two"));

  const [{ level, sentence, fields } = assert.fail()] = lamp.log.find({});
  assert.deepEqual(
    [level, sentence, fields],
    ["warn", "the old generation did not quiesce; its state is lost", { error: "Error: not now" }],
  );
});

test("other modules call its service through the registry", async (t) => {
  const { lamp, services } = await openLamp(
    t,
    `export const start = () => ({ services: [{ name: "broker.address", version: 1, input: {}, output: {} }] });
     export const callService = ({ name, input }: any) => ({ url: \`\${name} \${input.of}\` });`,
  );

  assert.deepEqual(await services.call("broker.address", { of: "lamp" }), {
    url: "broker.address lamp",
  });
  assert.deepEqual([lamp.work.calls, lamp.work.errors], [1, 0]);
});

test("calls during a reload wait for the new code", async (t) => {
  const { lamp, write } = await openLamp(t);
  await write(
    "lamp/index.ts",
    answering("two", "export const start = () => new Promise((done) => setTimeout(done, 30));"),
  );

  const reload = lamp.reload("file");
  await until(() => lamp.ready() !== undefined);
  const answer = ask(lamp);
  await lamp.ready();

  assert.deepEqual([await answer, (await reload).result], ["two", "reloaded"]);
  assert.equal(lamp.ready(), undefined);
});

test("the limits of a module are those of its manifest and the config", async (t) => {
  const { lamp, config } = await openLamp(t, answering("one"), { limits: { memoryMiB: 77 } });
  const { memoryMiB } = lamp.view.limits;

  await config.patch({ modules: { lamp: { limits: { memoryMiB: 99 } } } }, { admin: true });
  await lamp.reload("config");

  assert.deepEqual([memoryMiB, lamp.view.limits.memoryMiB], [77, 99]);
});

test("only the running process may report to the host", async (t) => {
  const { processes, save, lamp } = await openLamp(t);
  await save(answering("two"));
  const [old, live] = processes.all.map(({ owner }) => owner?.api);

  await assert.rejects(async () =>
    old?.reportDegraded({ reason: "old" }, () => undefined as never),
  );
  await live?.reportDegraded({ reason: "new" }, () => undefined as never);

  assert.equal(lamp.view.error?.message, "new");
});

test("lines that a process prints are in the module's log", async (t) => {
  const { processes, lamp } = await openLamp(t);

  processes.all[0]?.owner?.printed("it works", "info");
  processes.all[0]?.owner?.printed("it does not", "warn");

  const entries = lamp.log.find({}).map(({ level, sentence }) => `${level}: ${sentence}`);
  assert.deepEqual(entries, ["info: it works", "warn: it does not"]);
});

test("a stopped module withdraws everything it provides, and its process ends", async (t) => {
  const { lamp, changes, withdrawn, services, processes } = await openLamp(t, answering("one"), {
    provides: ["calendar.window", "broker.address"],
  });

  await lamp.stop("it is not needed");

  assert.deepEqual(changes.slice(-2), ["stopping", "disabled"]);
  assert.equal(lamp.view.error?.message, "it is not needed");
  assert.deepEqual(withdrawn, ["devices of lamp", "scenes of lamp", "calendar.window"]);
  assert.equal(services.findProvider("broker.address"), undefined);
  assert.deepEqual(processes.all[0]?.calls.at(-1), "quiesce");
  assert.equal(processes.all[0]?.isEnded, true);
  await assert.rejects(ask(lamp), { code: "module_down" });
  await assert.rejects(
    lamp.reload("request"),
    failure("reload_failed", /^lamp is disabled; enable it first$/),
  );
  await assert.rejects(lamp.rollBack(), failure("reload_failed", /^lamp is disabled/));

  await lamp.start();
  assert.equal(await ask(lamp), "one");
  await lamp.stop();
  assert.equal(lamp.view.error, null);
});

test("a module that ends with the host keeps what it published, and is not reloaded", async (t) => {
  const { lamp, withdrawn, processes } = await openLamp(t);

  await lamp.shutDown();

  assert.deepEqual([withdrawn, processes.all[0]?.isEnded], [[], true]);
  assert.equal(lamp.view.state, "active");
  await assert.rejects(lamp.reload("file"), failure("reload_failed", /^the host stops$/));
});

test("a manifest on disk is shown while the module is disabled, and used at its start", async (t) => {
  const { lamp, write, adopt } = await openLamp(t);
  await write("lamp/package.json", manifest("lamp", PROVIDES, "2.0.0"));
  await adopt(lamp);
  const running = [lamp.view.version, lamp.plugin.version, lamp.onDisk.version];

  await lamp.stop();
  await adopt(lamp);
  const stopped = [lamp.view.version, lamp.plugin.version];
  await lamp.start();

  assert.deepEqual(running, ["1.0.0", "1.0.0", "2.0.0"]);
  assert.deepEqual(stopped, ["2.0.0", "2.0.0"]);
  assert.equal(lamp.view.version, "2.0.0");
});

test("a reload provides what the new manifest names, and withdraws the rest", async (t) => {
  const { lamp, write, adopt, services, withdrawn } = await openLamp(t, answering("one"), {
    provides: ["broker.address", "calendar.window", "calendar.events"],
  });
  const provides = ["acme.news.items", "calendar.events"];
  await write("lamp/package.json", manifest("lamp", { provides }, "2.0.0"));
  await adopt(lamp);
  await lamp.allow();

  await lamp.reload("file");

  const names = ["broker.address", "acme.news.items"];
  assert.deepEqual(
    names.map((name) => services.findProvider(name)),
    [undefined, "lamp"],
  );
  assert.deepEqual(withdrawn, ["calendar.window"]);
});

test("a folder that is not a valid plugin now is shown, and its code continues", async (t) => {
  const { lamp } = await openLamp(t);

  await lamp.rejectChange(new MantelError("reload_failed", "package.json is not valid"));
  const { lastReload, state } = lamp.view;

  assert.deepEqual(
    [state, lastReload?.result, lastReload?.error?.message],
    ["active", "rolled_back", "package.json is not valid"],
  );
  assert.equal(lamp.mayUseAnyFile, true);
  await lamp.reload("file");
  assert.equal(lamp.view.lastReload?.error, undefined);
});

test("a module can become a plugin of its kind, and no other", async (t) => {
  const { lamp } = await openLamp(t);
  const { plugin } = lamp;
  const widget = {
    ...plugin,
    manifest: { ...plugin.manifest, bridge: { kind: "local" }, kinds: ["bridge"] },
  };

  assert.equal(lamp.canBecome({ ...plugin, version: "2.0.0" }), true);
  assert.equal(lamp.canBecome(widget as never), false);
});

test("the confinement of a module says why the kernel does not confine it", async (t) => {
  const { lamp } = await openLamp(t);
  const debugged = await openLamp(t);
  (debugged.parts.inspect as Map<string, number>).set("lamp", 9_229);
  await debugged.lamp.reload("config");

  assert.equal(lamp.view.confinement.reason, "this is a test");
  assert.match(
    debugged.lamp.view.confinement.reason ?? "",
    /^a debugger may attach to it; this is a test$/,
  );
});

// Versions
