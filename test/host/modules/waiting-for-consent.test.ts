import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { manifest, stageModules } from "../../helpers/stage-modules.ts";
import { answering, ask, openLamp, PROVIDES, restartHost, sentences } from "./staged-lamp.ts";

const MORE = { ...PROVIDES, permissions: { hosts: ["b.test"] } };
const NEEDED = ["connect to b.test"];

const refused = ({ code, extras, message }: MantelError) => {
  assert.equal(code, "consent_needed");
  assert.deepEqual(extras.needed, NEEDED);
  assert.match(message, /^lamp needs consent for more permissions: it wants to connect to b\.test/);
  return true;
};

/** A module that runs, beside a new version on disk that asks for more. */
async function openWaiting(t: TestContext) {
  const opened = await openLamp(t);
  await opened.write("lamp/index.ts", answering("two"));
  await opened.write("lamp/package.json", manifest("lamp", MORE, "2.0.0"));
  await opened.adopt(opened.lamp);
  return opened;
}

test("an update that asks for more waits for consent, and the old version continues", async (t) => {
  const { lamp, processes } = await openWaiting(t);

  await assert.rejects(lamp.reload("file"), refused);
  await assert.rejects(lamp.reload("request"), refused);

  assert.deepEqual([await ask(lamp), processes.all.length], ["one", 1]);
  const { state, version, consent, lastReload } = lamp.view;
  assert.deepEqual([state, version, lastReload], ["active", "1.0.0", null]);
  assert.deepEqual(consent?.needed, NEEDED);
  assert.deepEqual([lamp.plugin.version, lamp.onDisk.version], ["1.0.0", "2.0.0"]);
  assert.deepEqual(sentences(lamp), ["the plugin asks for more permissions and waits for consent"]);
});

test("consent lets the update take over", async (t) => {
  const { lamp } = await openWaiting(t);

  assert.deepEqual(await lamp.allow(NEEDED), NEEDED);
  const { result } = await lamp.takeOver();

  assert.deepEqual([result, await ask(lamp)], ["reloaded", "two"]);
  assert.deepEqual([lamp.view.version, lamp.view.consent], ["2.0.0", null]);
  assert.deepEqual(lamp.view.permissions.added, ["hosts: b.test"]);
  assert.deepEqual(await lamp.allow(), []);
});

test("consent to less than the update asks for is refused", async (t) => {
  const { lamp } = await openWaiting(t);

  await assert.rejects(lamp.allow(["connect to a.test"]), refused);

  assert.deepEqual(lamp.view.consent?.needed, NEEDED);
});

test("a change of the config restarts the running version of a module that waits", async (t) => {
  const { lamp, processes } = await openWaiting(t);

  const { result } = await lamp.reload("config");

  assert.deepEqual([result, await ask(lamp), processes.all.length], ["reloaded", "one", 2]);
  assert.equal(lamp.view.version, "1.0.0");
});

test("an error of code that no longer exists is not shown while an update waits", async (t) => {
  const { lamp, write, adopt, save } = await openLamp(t);
  await assert.rejects(save("export const = 1;"));
  await write("lamp/package.json", manifest("lamp", MORE, "2.0.0"));
  await adopt(lamp);

  await assert.rejects(lamp.reload("file"), refused);

  const { result, error } = lamp.view.lastReload ?? {};
  assert.deepEqual([result, error], ["unchanged", undefined]);
});

test("the host's next start runs the version that has its consent", async (t) => {
  const opened = await openWaiting(t);
  await opened.lamp.shutDown();

  const { lamp, processes } = await restartHost(t, opened);
  lamp.setOnDisk(opened.lamp.onDisk);
  await lamp.start();

  assert.deepEqual(
    [lamp.view.state, lamp.view.version, await ask(lamp)],
    ["active", "1.0.0", "one"],
  );
  assert.deepEqual(lamp.view.consent?.needed, NEEDED);
  assert.equal(lamp.view.lastReload, null);
  assert.equal(lamp.mayUseAnyFile, true);
  assert.equal(processes.all.length, 1);
});

test("without a version that has its consent, a module waits unconfigured", async (t) => {
  const { lamp, write, services } = await openLamp(t, "export const = 1;");
  await write("lamp/package.json", manifest("lamp", MORE, "2.0.0"));

  await lamp.start();

  assert.equal(lamp.view.state, "unconfigured");
  assert.match(lamp.view.error?.message ?? "", /^lamp needs consent/);
  assert.equal(services.findProvider("broker.address"), undefined);
  assert.equal(sentences(lamp).filter((each) => each === "the module did not start").length, 1);
  await assert.rejects(lamp.reload("request"), refused);
});

test("an update that asks for more while its code loads does not take over", async (t) => {
  const { lamp, save, root, processes } = await openLamp(t);
  const text = manifest("lamp", MORE, "2.0.0");
  const grabbing = `import { writeFileSync } from "node:fs";
    export const load = () =>
      writeFileSync("${root}/lamp/package.json", ${JSON.stringify(text)});`;

  await assert.rejects(save(answering("two", grabbing)), refused);

  assert.equal(await ask(lamp), "one");
  const { state, lastReload, consent } = lamp.view;
  assert.deepEqual([state, lastReload?.result, consent?.needed], ["active", "unchanged", NEEDED]);
  assert.equal(processes.all.filter(({ isEnded }) => !isEnded).length, 1);

  await lamp.allow();
  assert.equal((await lamp.reload("file")).result, "reloaded", "the code was not at fault");
  assert.equal(await ask(lamp), "two");
});

test("a version without its permissions gives back their consent", async (t) => {
  const { lamp, write, adopt, consents } = await openWaiting(t);
  await lamp.allow();
  await lamp.takeOver();
  const more = lamp.onDisk;

  await write("lamp/package.json", manifest("lamp", PROVIDES, "3.0.0"));
  await adopt(lamp);
  await lamp.reload("file");

  assert.equal(lamp.view.version, "3.0.0");
  assert.equal(consents.neededBy(more).length, 1);
});

test("a module that a rollback returned to keeps only the consent it needs", async (t) => {
  const { lamp, consents } = await openWaiting(t);
  await lamp.allow();
  await lamp.takeOver();

  await lamp.rollBack();

  assert.equal(await ask(lamp), "one");
  assert.deepEqual(lamp.view.consent?.needed, NEEDED);
  assert.equal(consents.neededBy(lamp.onDisk).length, 1);
});

test("after a crash of new code its permissions are not shown, and its repair keeps their consent", async (t) => {
  const { lamp, processes, consents } = await openWaiting(t);
  await lamp.allow();
  await lamp.takeOver();

  processes.all.at(-1)?.crash({ code: 7 });
  while (lamp.view.lastReload?.trigger !== "crash") await new Promise((done) => setImmediate(done));

  assert.deepEqual([await ask(lamp), lamp.plugin.version], ["one", "1.0.0"]);
  assert.deepEqual(lamp.view.permissions.added, []);
  assert.equal(consents.neededBy(lamp.onDisk).length, 0);
});

test("taking over a module that is disabled or not configured leaves it so", async (t) => {
  const { lamp } = await openWaiting(t);
  await lamp.allow();
  await lamp.stop();
  const stage = await stageModules(t);
  const needy = await stage.add("lamp", {
    "package.json": manifest("lamp", { requiresConfig: true }),
    "index.ts": answering("one"),
  });
  await needy.start();

  const results = [(await lamp.takeOver()).result, (await needy.takeOver()).result];

  assert.deepEqual(results, ["unchanged", "unchanged"]);
  assert.deepEqual([lamp.view.state, needy.view.state], ["disabled", "unconfigured"]);
  assert.deepEqual([lamp.view.lastReload, needy.view.lastReload?.result], [null, "failed"]);
});
