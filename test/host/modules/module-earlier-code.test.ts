import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { stageModules } from "../../helpers/stage-modules.ts";
import { until, untilByTurns } from "../../helpers/until.ts";
import { answering, ask, failure, FAILS, openLamp, restartHost, sentences } from "./staged-lamp.ts";

/** Code that starts a single time. */
const ONCE = `import { existsSync, writeFileSync } from "node:fs";
  const mark = new URL("./started", import.meta.url);
  export const start = () => {
    if (existsSync(mark)) throw new Error("only once");
    writeFileSync(mark, "");
  };`;

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
