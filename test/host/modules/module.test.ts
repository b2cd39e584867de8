import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { fakeNpm } from "../../helpers/fake-npm.ts";
import { manifest, stageModules } from "../../helpers/stage-modules.ts";
import { until, untilByTurns } from "../../helpers/until.ts";
import {
  answering,
  ask,
  failure,
  FAILS,
  openLamp,
  PROVIDES,
  restartHost,
  sentences,
} from "./staged-lamp.ts";

/** Code that starts a single time. */
const ONCE = `import { existsSync, writeFileSync } from "node:fs";
  const mark = new URL("./started", import.meta.url);
  export const start = () => {
    if (existsSync(mark)) throw new Error("only once");
    writeFileSync(mark, "");
  };`;

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

test("a saved change replaces the process and hands over the state", async (t) => {
  const { lamp, save, processes } = await openLamp(
    t,
    answering(
      "one",
      "export const quiesce = () => ({ state: { count: 5 }, drained: 2, faults: [] });",
    ),
  );
  const reload = await save(
    answering(
      "two",
      `export const load = () => ({ state: { type: "object" } });
      let count = 0;
      export const start = ({ handedOver }: any) => { count = handedOver.count; };
      export const command = () => count;`,
    ),
  );

  const { result, from, to, drained, stateHandedOver, leftOpen } = reload;
  assert.deepEqual([result, from, to], ["reloaded", 1, 2]);
  assert.deepEqual([drained, stateHandedOver, leftOpen], [2, true, []]);
  assert.equal(await ask(lamp), "two");
  assert.equal(await lamp.call("command", {} as never, 1_000), 5);
  const [old, next] = processes.all;
  assert.deepEqual([old?.isEnded, next?.isEnded], [true, false]);
  assert.deepEqual(
    old?.calls.filter((each) => each !== "callService"),
    ["load", "start", "quiesce", "findLeaks"],
  );
  assert.deepEqual(next?.calls.slice(0, 3), ["load", "connect", "start"]);
  assert.equal(lamp.work.reloads, 1);
  const { trigger, result: shown } = lamp.view.lastReload ?? {};
  assert.deepEqual([trigger, shown, lamp.view.state], ["file", "reloaded", "active"]);
});

test("saving unchanged code or a comment reloads nothing, and is not shown", async (t) => {
  const { lamp, save, processes } = await openLamp(t);

  const byFile = await lamp.reload("file");
  const byComment = await save(`${answering("one")}// a comment`);

  assert.deepEqual([byFile.result, byComment.result], ["unchanged", "unchanged"]);
  assert.deepEqual(
    [byFile.leftOpen, byFile.memory, lamp.view.lastReload],
    [undefined, undefined, null],
  );
  assert.deepEqual([processes.all.length, lamp.work.reloads], [1, 0]);
});

test("a request reloads unchanged code, and further ones within five seconds do not", async (t) => {
  const { lamp, processes } = await openLamp(t);
  let now = 100_000;
  t.mock.method(performance, "now", () => now);

  const first = await lamp.reload("request");
  now += 4_999;
  const again = await lamp.reload("request");
  now += 1;
  const later = await lamp.reload("request");

  const results = [first, again, later].map(({ result, to }) => [result, to]);
  assert.deepEqual(results, [
    ["reloaded", 2],
    ["unchanged", 2],
    ["reloaded", 3],
  ]);
  assert.equal(processes.all.length, 3);
});

for (const trigger of ["config", "sdk"] as const) {
  test(`a change of the ${trigger} restarts unchanged code`, async (t) => {
    const { lamp, processes } = await openLamp(t);

    const { result, to, memory } = await lamp.reload(trigger);

    assert.deepEqual([result, to, processes.all.length], ["reloaded", 2, 2]);
    assert.ok(memory, "the result has the figures of the handover");
  });
}

test("a request restarts the unchanged code of a degraded module, and a file event does not", async (t) => {
  const source = `export const start = (_: object, host: any) =>
    host.reportDegraded({ reason: "the lamp is away" });`;
  const { lamp, processes } = await openLamp(t, source);
  const { state, error } = lamp.view;

  const results = [(await lamp.reload("file")).result, (await lamp.reload("request")).result];

  assert.deepEqual([state, error?.message], ["degraded", "the lamp is away"]);
  assert.deepEqual([results, processes.all.length], [["unchanged", "reloaded"], 2]);
});

for (const [what, source, message] of [
  ["does not compile", "export const = 1;", /^syntax error: expected identifier/],
  ["does not load", 'export const load = () => { throw new Error("no load"); };', /^no load$/],
  ["does not start", FAILS, /^no start$/],
] as const) {
  test(`new code that ${what} is refused, and the old code continues`, async (t) => {
    const { lamp, save, processes } = await openLamp(t);

    await assert.rejects(save(source), (error: MantelError) => {
      assert.equal(error.extras.rolledBack, true);
      return failure("reload_failed", message)(error);
    });

    assert.equal(await ask(lamp), "one");
    const { state, lastReload } = lamp.view;
    assert.deepEqual(
      [state, lastReload?.result, lastReload?.trigger],
      ["active", "rolled_back", "file"],
    );
    assert.match(lastReload?.error?.message ?? "", message);
    assert.ok(sentences(lamp).includes("the new code did not start; the old code continues"));
    assert.equal(lamp.mayUseAnyFile, true, "the repair may be in any file");
    assert.equal(processes.all.filter(({ isEnded }) => !isEnded).length, 1);

    const repaired = await save(answering("one"));
    assert.equal(repaired.result, "unchanged");
    assert.equal(lamp.view.lastReload?.error, undefined, "the repair is shown");
    assert.equal(lamp.mayUseAnyFile, false);
  });
}

test("a second event of a failed save does not start it again, but a request does", async (t) => {
  const { lamp, save, processes, cacheFolder } = await openLamp(t);
  await assert.rejects(save(FAILS), /no start/);
  const started = processes.all.length;
  const bundles = async () =>
    (await readdir(join(cacheFolder, "modules/lamp"))).filter((name) => name.endsWith(".cjs"));
  const before = await bundles();

  await assert.rejects(lamp.reload("file"), /no start/);
  assert.equal(processes.all.length, started);
  assert.deepEqual(await bundles(), before);
  await assert.rejects(lamp.reload("request"), /no start/);
  assert.equal(processes.all.length, started + 1);
});

test("reloads requested during a reload share the next one, and get its result", async (t) => {
  const { lamp, write, processes } = await openLamp(t);
  await write("lamp/index.ts", answering("two"));

  const [first, second, third] = await Promise.all([
    lamp.reload("request"),
    Promise.resolve().then(() => lamp.reload("request")),
    Promise.resolve().then(() => lamp.reload("request")),
  ]);

  assert.equal(first?.result, "reloaded");
  assert.equal(second, third);
  assert.equal(processes.all.length, 2);
  assert.equal(lamp.mayUseAnyFile, false);
});

test("a resource that the previous code left open is logged after the reload", async (t) => {
  const { lamp, save } = await openLamp(
    t,
    answering("one", 'export const findLeaks = () => [{ kind: "timer", stack: [] }];'),
  );

  const { leftOpen } = await save(answering("two"));

  assert.deepEqual(leftOpen, [{ kind: "timer", count: 1 }]);
  assert.deepEqual(sentences(lamp), ["the old code left something open"]);
});

test("the installation of packages is shown as progress and logged", async (t) => {
  await fakeNpm(t, {
    install: "mkdir -p node_modules/wordy",
    audit: `printf '{\n"missing": [{ "name": "wordy", "version": "1.0.0" }]\n}\n'`,
  });
  const stage = await stageModules(t);
  const json = { ...(JSON.parse(manifest("lamp")) as object), dependencies: { wordy: "1" } };
  const progress: (string | null)[] = [];
  const lamp = await stage.add("lamp", {
    "package.json": JSON.stringify(json),
    "index.ts": answering("one"),
  });
  t.mock.method(lamp.status, "showProgress", (sentence: string | undefined) =>
    progress.push(sentence ?? null),
  );

  await lamp.start();

  assert.deepEqual(progress, ["installing wordy@1", "verifying the signatures of wordy@1", null]);
  assert.deepEqual(
    lamp.log.find({}).map(({ level, sentence }) => `${level}: ${sentence}`),
    [
      "info: installing wordy@1",
      "info: verifying the signatures of wordy@1",
      "warn: packages have no registry signature",
      "info: installation finished",
    ],
  );
  assert.deepEqual(lamp.log.find({ level: "warn" })[0]?.fields, { packages: ["wordy@1.0.0"] });
});

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

test("without a previous version there is nothing to roll back to", async (t) => {
  const { lamp } = await openLamp(t);

  await assert.rejects(
    lamp.rollBack(),
    failure("no_earlier_code", /^lamp has no previous code to roll back to$/),
  );
});

test("a rollback runs the previous code until the files change", async (t) => {
  const { lamp, save } = await openLamp(t);
  await save(answering("two"));
  const earlier = lamp.view.earlier?.version;

  const { result, from, to, memory } = await lamp.rollBack();

  assert.deepEqual([earlier, result, from, to], ["1.0.0", "rolled_back", 2, 3]);
  assert.ok(memory, "the running code hands over");
  assert.equal(await ask(lamp), "one");
  assert.ok(lamp.view.heldSince);
  assert.equal(lamp.view.lastReload?.trigger, "rollback");
  assert.equal(lamp.work.reloads, 2);
  assert.equal(lamp.mayUseAnyFile, true);
  assert.equal((await save(answering("two"))).result, "unchanged");
  assert.equal(await ask(lamp), "one");
  assert.equal(lamp.view.lastReload?.trigger, "rollback", "a save of what waits is not shown");
  await assert.rejects(save(FAILS), /no start/);
  assert.equal((await save(answering("two"))).result, "unchanged");
  assert.equal(lamp.view.lastReload?.error, undefined, "the repair is shown");

  assert.equal((await save(answering("three"))).result, "reloaded");
  assert.equal(await ask(lamp), "three");
  assert.equal(lamp.view.heldSince, null);
});

test("a change of the config restarts the code that was rolled back to", async (t) => {
  const { lamp, save, processes } = await openLamp(t);
  await save(answering("two"));
  await lamp.rollBack();

  const { result } = await lamp.reload("config");

  assert.deepEqual([result, processes.all.length], ["reloaded", 4]);
  assert.equal(await ask(lamp), "one");
});

test("a request ends a rollback", async (t) => {
  const { lamp, save } = await openLamp(t);
  await save(answering("two"));
  await lamp.rollBack();

  const { result } = await lamp.reload("request");

  assert.deepEqual([result, await ask(lamp)], ["reloaded", "two"]);
  assert.equal(lamp.view.heldSince, null);
});

test("a rollback lasts over the host's next start, until the files change", async (t) => {
  const opened = await openLamp(t);
  await opened.save(answering("two"));
  await opened.lamp.rollBack();
  await opened.lamp.shutDown();

  const again = await restartHost(t, opened);
  await again.lamp.start();

  assert.equal(await ask(again.lamp), "one");
  assert.equal(again.lamp.view.lastReload, null);
  assert.ok(again.lamp.view.heldSince);
  assert.equal((await again.lamp.reload("file")).result, "unchanged");
  await again.write("lamp/index.ts", answering("three"));
  await again.lamp.reload("file");
  assert.equal(await ask(again.lamp), "three");
});

test("a rollback ends at the host's next start if the files changed meanwhile", async (t) => {
  const opened = await openLamp(t);
  await opened.save(answering("two"));
  await opened.lamp.rollBack();
  await opened.lamp.shutDown();
  await opened.write("lamp/index.ts", answering("three"));

  const again = await restartHost(t, opened);
  await again.lamp.start();

  assert.equal(await ask(again.lamp), "three");
  assert.equal(again.lamp.view.heldSince, null);
});

test("previous code that does not start leaves the running code", async (t) => {
  const { lamp, save, services } = await openLamp(t, answering("one", ONCE));
  await save(answering("two"));

  await assert.rejects(lamp.rollBack(), failure("reload_failed", /^only once$/));

  assert.equal(await ask(lamp), "two");
  assert.equal(services.findProvider("broker.address"), "lamp");
  assert.equal(lamp.view.lastReload?.result, "failed");
  assert.equal(lamp.view.heldSince, null);
});

test("a failed module can be rolled back to its previous code", async (t) => {
  const opened = await openLamp(t);
  await opened.save(answering("two"));
  await opened.lamp.shutDown();
  const again = await restartHost(t, opened);
  await again.lamp.start();
  again.processes.all[0]?.crash({ code: 1 });
  await until(() => !again.lamp.isWorking);

  const { result } = await again.lamp.rollBack();

  assert.deepEqual([result, await ask(again.lamp)], ["rolled_back", "one"]);
});

test("a crashed module that cannot be rolled back gives its services back", async (t) => {
  const opened = await openLamp(t, answering("one", ONCE));
  await opened.save(answering("two"));
  await opened.lamp.shutDown();
  const { lamp, processes, services } = await restartHost(t, opened);
  await lamp.start();
  processes.all[0]?.crash({ code: 1 });
  await until(() => !lamp.isWorking);

  await assert.rejects(lamp.rollBack(), failure("reload_failed", /^only once$/));

  assert.equal(services.findProvider("broker.address"), undefined);
});

test("the host's next start runs the last good code if the code on disk does not start", async (t) => {
  const opened = await openLamp(t);
  await opened.lamp.shutDown();
  await opened.write("lamp/index.ts", FAILS);

  const { lamp, save } = await restartHost(t, opened).then((stage) => ({
    ...stage,
    save: (text: string) =>
      stage.write("lamp/index.ts", text).then(() => stage.lamp.reload("file")),
  }));
  await lamp.start();

  assert.deepEqual([lamp.view.state, await ask(lamp)], ["active", "one"]);
  assert.deepEqual(
    [lamp.view.lastReload?.result, lamp.view.lastReload?.error?.message],
    ["rolled_back", "no start"],
  );
  assert.deepEqual(sentences(lamp), [
    "the code on disk does not start; the previous version continues",
  ]);
  assert.equal(lamp.mayUseAnyFile, true);
  assert.equal((await save(answering("two"))).result, "reloaded");
});

test("the host's next start fails if neither the code on disk nor the last good code starts", async (t) => {
  const stage = await stageModules(t);
  const first = await stage.add("lamp", { "index.ts": ONCE });
  await first.start();
  await first.shutDown();
  await stage.write("lamp/index.ts", FAILS);

  const { lamp } = await restartHost(t, stage);
  await lamp.start();

  assert.deepEqual([lamp.view.state, lamp.view.error?.message], ["failed", "no start"]);
});

// Crashes

test("new code that crashes soon is replaced by the previous code", async (t) => {
  const { lamp, save, processes } = await openLamp(t);
  await save(answering("two"));

  processes.all[1]?.crash({ code: 7 });
  await until(() => lamp.view.lastReload?.trigger === "crash");

  assert.deepEqual([lamp.view.state, await ask(lamp)], ["active", "one"]);
  const { result, error } = lamp.view.lastReload ?? {};
  assert.equal(result, "rolled_back");
  assert.match(error?.message ?? "", /7/);
  assert.ok(sentences(lamp).includes("the new code crashed; the previous code works again"));
  assert.equal(lamp.view.earlier, null);
  assert.equal(lamp.mayUseAnyFile, true);
});

test("a reload of a crashed module says if the previous version runs instead of the code on disk", async (t) => {
  const { lamp, write, processes } = await openLamp(t);
  processes.all[0]?.crash({ code: 7 });
  await until(() => lamp.view.state === "loading");
  await write("lamp/index.ts", FAILS);

  const refused = await lamp.reload("request").catch((error: MantelError) => error);

  assert.ok(refused instanceof MantelError);
  assert.deepEqual([refused.message, refused.extras.rolledBack], ["no start", true]);
  assert.deepEqual([lamp.view.state, await ask(lamp)], ["active", "one"]);
  const { trigger, result, error } = lamp.view.lastReload ?? {};
  assert.deepEqual([trigger, result, error?.message], ["request", "rolled_back", "no start"]);
});

test("code that runs for long restarts after a crash, and is in quarantine after five", async (t) => {
  const { lamp, processes, services } = await openLamp(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });

  for (let crash = 1; crash <= 5; crash++) {
    processes.all.at(-1)?.crash({ code: 7 });
    await settled();
    const { state, restarts } = lamp.view;
    assert.deepEqual([state, restarts], crash < 5 ? ["loading", crash] : ["quarantined", 4]);
    t.mock.timers.tick(60_000);
    if (crash < 5) await untilByTurns(() => lamp.view.state === "active");
  }

  assert.match(lamp.view.error?.message ?? "", /^it crashed too often; the last crash: /);
  assert.equal(services.findProvider("broker.address"), undefined);
  assert.equal(processes.all.length, 5);
});

test("a stopped module does not restart", async (t) => {
  const { lamp, processes } = await openLamp(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  processes.all[0]?.crash({ code: 7 });
  await settled();

  await lamp.stop();
  t.mock.timers.tick(60_000);
  await settled();

  assert.deepEqual([lamp.view.state, processes.all.length], ["disabled", 1]);
});

const settled = () => new Promise((done) => setImmediate(done));
