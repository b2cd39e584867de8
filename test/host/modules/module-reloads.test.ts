import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { fakeNpm } from "../../helpers/fake-npm.ts";
import { manifest, stageModules } from "../../helpers/stage-modules.ts";
import { answering, ask, failure, FAILS, openLamp, sentences } from "./staged-lamp.ts";

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
