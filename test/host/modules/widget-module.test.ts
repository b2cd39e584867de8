import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { ModuleBridge } from "../../../host/modules/module-bridge.ts";
import { manifest, stageModules } from "../../helpers/stage-modules.ts";
import { answering, ask, FAILS, sentences } from "./staged-lamp.ts";

const BOTH = { widget: "widget.ts", server: "index.ts", provides: ["broker.address"] };

/** A widget that runs; with `mantel` it may have a server side too. */
async function openClock(t: TestContext, mantel: object = { widget: "widget.ts" }) {
  const stage = await stageModules(t);
  const clock = await stage.add("clock", {
    "package.json": manifest("clock", mantel),
    "widget.ts": "first",
    "index.ts": answering("one"),
  });
  await clock.start();
  const save = (text: string, file = "widget.ts") =>
    stage.write(`clock/${file}`, text).then(() => clock.reload("file"));
  return { ...stage, clock, save };
}

test("a widget is served without a process", async (t) => {
  const { clock, processes, served, root, changes } = await openClock(t);

  assert.deepEqual([served, processes.all], [["clock: first"], []]);
  assert.deepEqual(changes, ["disabled", "loading", "active"]);
  const { state, generation, widget } = clock.view;
  assert.deepEqual([state, generation, widget?.runsIn], ["active", 1, "frame"]);
  assert.match(widget?.url ?? "", /^\/widgets\/clock\//);
  assert.deepEqual([...clock.inputs], [`${root}/clock/widget.ts`]);
  assert.deepEqual([clock.trials, clock.ready()], [undefined, undefined]);
  const { id, reloads, logDrops, ...calls } = clock.work;
  assert.deepEqual([id, reloads, logDrops], ["clock", 0, 0]);
  assert.ok(Object.values(calls).every((count) => count === 0));
  await assert.rejects(ask(clock), ({ code, message }: MantelError) => {
    assert.deepEqual([code, message], ["module_down", "clock has no server side"]);
    return true;
  });
});

test("a saved widget is the next generation, and an unchanged one is not", async (t) => {
  const { clock, save, served } = await openClock(t);

  const results = [await save("second"), await save("second")];

  assert.deepEqual(
    results.map(({ result, from, to }) => [result, from, to]),
    [
      ["reloaded", 1, 2],
      ["unchanged", 2, 2],
    ],
  );
  assert.deepEqual(served, ["clock: first", "clock: second"]);
  assert.equal(clock.work.reloads, 1);
});

test("a widget with a new manifest is reloaded although its code is unchanged", async (t) => {
  const { clock, write, adopt } = await openClock(t);
  await write(
    "clock/package.json",
    manifest("clock", { widget: "widget.ts", title: "Time" }, "2.0.0"),
  );
  await adopt(clock);

  const { result } = await clock.reload("file");

  assert.equal(result, "reloaded");
  assert.deepEqual(
    [clock.view.name, clock.view.version, clock.view.generation],
    ["Time", "2.0.0", 2],
  );
  assert.equal((await clock.reload("file")).result, "unchanged");
});

test("a widget that does not build is refused, and the old one stays", async (t) => {
  const { clock, save, served } = await openClock(t);

  await assert.rejects(save("error"), /the widget has an error/);

  assert.deepEqual(served, ["clock: first"]);
  const { state, lastReload } = clock.view;
  assert.deepEqual([state, lastReload?.result], ["active", "rolled_back"]);
  assert.equal(clock.mayUseAnyFile, true);
  assert.ok(sentences(clock).includes("the new code did not start; the old code continues"));
});

test("a widget can be rolled back and is then kept until it changes", async (t) => {
  const { clock, save, served } = await openClock(t);
  await save("second");

  const { result, to } = await clock.rollBack();

  assert.deepEqual([result, to, served.at(-1)], ["rolled_back", 3, "clock: first"]);
  assert.equal((await clock.reload("file")).result, "unchanged");
  assert.equal((await clock.reload("config")).result, "unchanged");
  assert.equal((await save("third")).result, "reloaded");
  assert.equal(served.at(-1), "clock: third");
});

test("a rolled back widget stays so at the host's next start", async (t) => {
  const { clock, save, home, write } = await openClock(t);
  await save("second");
  await clock.rollBack();
  await clock.shutDown();

  const again = await stageModules(t, { home });
  const next = await again.open("clock");
  await next.start();

  assert.deepEqual([again.served, next.view.lastReload], [["clock: first"], null]);
  assert.ok(next.view.heldSince);
  await write("clock/widget.ts", "error");
  await assert.rejects(next.reload("file"), /the widget has an error/);
  assert.equal(again.served.at(-1), "clock: first");
});

test("the host's next start serves the last good widget if the one on disk does not build", async (t) => {
  const { clock, home, write } = await openClock(t);
  await clock.shutDown();
  await write("clock/widget.ts", "error");

  const again = await stageModules(t, { home });
  const next = await again.open("clock");
  await next.start();

  assert.deepEqual(again.served, ["clock: first"]);
  assert.deepEqual([next.view.state, next.view.lastReload?.result], ["active", "rolled_back"]);
  assert.deepEqual(sentences(next), [
    "the code on disk does not start; the previous version continues",
  ]);
});

test("a stopped widget is no longer served", async (t) => {
  const { clock, served } = await openClock(t);

  await clock.stop();

  assert.deepEqual([served.at(-1), clock.view.widget], ["clock: none", null]);
  assert.deepEqual([...clock.inputs], []);
});

test("a widget moves to the page when the config trusts it", async (t) => {
  const { clock, config } = await openClock(t);
  let changes = 0;
  const before = clock.view;
  clock.followTrust();
  assert.equal(clock.view, before);

  await config.patch({ modules: { clock: { trusted: true } } }, { admin: true });
  clock.followTrust();
  changes += clock.view === before ? 0 : 1;

  assert.deepEqual([clock.view.widget?.runsIn, changes], ["page", 1]);
});

test("a widget that ships with Mantel runs in the page", async (t) => {
  const { clock, shipped } = await openClock(t);

  shipped.add("clock");
  clock.followTrust();

  assert.deepEqual([clock.view.widget?.runsIn, clock.view.widget?.shipped], ["page", true]);
});

test("a saved widget beside a server side does not touch the process", async (t) => {
  const { clock, save, processes } = await openClock(t, BOTH);
  const { hash } = clock.view.widget ?? {};

  const { result, from, to } = await save("second");

  assert.deepEqual([result, from, to, processes.all.length], ["reloaded", 1, 1, 1]);
  assert.notEqual(clock.view.widget?.hash, hash);
  assert.equal(await ask(clock), "one");
});

test("a server side and its widget are replaced together", async (t) => {
  const { clock, save, write, served } = await openClock(t, BOTH);
  const { hash } = clock.view.widget ?? {};
  await write("clock/widget.ts", "second");

  const { result, to } = await save(answering("two"), "index.ts");

  assert.deepEqual([result, to, await ask(clock)], ["reloaded", 2, "two"]);
  assert.equal(served.at(-1), "clock: second");
  assert.notEqual(clock.view.widget?.hash, hash);
  assert.equal(clock.inputs.size, 2);

  await clock.rollBack();
  assert.deepEqual([await ask(clock), served.at(-1)], ["one", "clock: first"]);
});

test("a widget stays if the server side beside it does not start, and the other way round", async (t) => {
  const { clock, save, write, served } = await openClock(t, BOTH);
  await write("clock/widget.ts", "second");

  await assert.rejects(save(FAILS, "index.ts"), /no start/);
  assert.deepEqual([served, await ask(clock)], [["clock: first"], "one"]);
  await write("clock/index.ts", answering("two"));
  await assert.rejects(save("error"), /the widget has an error/);

  assert.deepEqual([served, await ask(clock)], [["clock: first"], "one"]);
});

const MORE = { needs: { devices: ["read"] } };

for (const [what, mantel, processCount] of [
  ["a widget", { widget: "widget.ts" }, 0],
  ["a widget and a server side", BOTH, 1],
] as const) {
  test(`${what} with an update that waits for consent run as before at the next start`, async (t) => {
    const { clock, home, write } = await openClock(t, mantel);
    await clock.shutDown();
    await write("clock/package.json", manifest("clock", { ...mantel, ...MORE }, "2.0.0"));
    await write("clock/widget.ts", "second");

    const again = await stageModules(t, { home });
    const next = await again.open("clock", clock.plugin);
    await next.start();

    assert.deepEqual([next.view.state, next.view.version], ["active", "1.0.0"]);
    assert.ok(next.view.consent);
    assert.deepEqual(again.served, ["clock: first"]);
    assert.equal(again.processes.all.length, processCount);
  });
}

test("a widget whose manifest asks for more while it is built is not served", async (t) => {
  const { clock, save, served, write, building } = await openClock(t);
  building.during = () =>
    write("clock/package.json", manifest("clock", { widget: "widget.ts", ...MORE }, "2.0.0"));

  await assert.rejects(save("second"), { code: "consent_needed" });

  assert.deepEqual(served, ["clock: first"]);
  assert.equal(clock.view.version, "1.0.0");
});

test("an error in a browser degrades the module until other code is served or a reload is requested", async (t) => {
  const { clock, save } = await openClock(t);
  const fail = (message: string, hash = clock.view.widget?.hash ?? "") =>
    clock.widgetFailed({ hash, message });
  const shown = () => [clock.view.state, clock.view.error?.message];
  const failed = ["degraded", "the widget failed in a browser: no hands"];

  fail("no hands", "another");
  const ofOtherCode = shown();
  fail("no hands");
  fail("no hands");
  const once = shown();
  await save("second");
  const byNewCode = shown();
  fail("no hands");
  const again = shown();
  await clock.reload("request");

  assert.deepEqual([ofOtherCode, once], [["active", undefined], failed]);
  assert.deepEqual(
    [byNewCode, again, shown()],
    [["active", undefined], failed, ["active", undefined]],
  );
  const told = sentences(clock).filter((sentence) => sentence.includes("browser"));
  assert.deepEqual(told, Array(2).fill("the widget failed in a browser"));
});

test("only the first twenty errors of one version are logged", async (t) => {
  const { clock } = await openClock(t);
  const hash = clock.view.widget?.hash ?? "";

  for (let count = 0; count < 30; count++) clock.widgetFailed({ hash, message: `no ${count}` });

  assert.equal(sentences(clock).filter((sentence) => sentence.includes("browser")).length, 20);
});

test("a bridge whose widget fails keeps its devices, and is not degraded itself", async (t) => {
  const { clock } = await openClock(t, {
    ...BOTH,
    bridge: { kind: "clock", commandsPerSecond: 1 },
  });

  clock.widgetFailed({ hash: clock.view.widget?.hash ?? "", message: "no hands" });

  const { status, reason } = new ModuleBridge(clock).view;
  assert.deepEqual([clock.view.state, status, reason], ["degraded", "ok", null]);
});
