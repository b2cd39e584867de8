import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { buildOnce, endBuildService, Rebuilder, transform } from "../../host/build-service.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { until } from "../helpers/until.ts";

/** The ids of this process's esbuild processes. */
async function services(): Promise<string[]> {
  const found: string[] = [];
  for (const id of await readdir("/proc")) {
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
    const isOwn = status.includes(`\nPPid:\t${process.pid}\n`);
    if (isOwn && /^Name:\tesbuild\nState:\t[^Z]/m.test(status.replace(/^Umask.*\n/m, "")))
      found.push(id);
  }
  return found;
}

async function openLamp(t: TestContext) {
  const folder = await emptyFolder(t);
  const entry = join(folder, "lamp.ts");
  await writeFile(entry, "export const on: boolean = true;");
  const lamp = new Rebuilder({ entryPoints: [entry], write: false, format: "esm" });
  t.after(() => lamp.dispose());
  const built = async () => (await lamp.rebuild()).outputFiles?.[0]?.text;
  return { entry, built };
}

/** The esbuild processes that a test has started. Timers are mocked from here to its end. */
async function watchServices(t: TestContext) {
  await transform("", {}); // loads esbuild, so that a process of an earlier test can be ended
  await until(async () => {
    await endBuildService();
    return (await services()).length === 0;
  });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const untilEnded = async () => {
    while ((await services()).length > 0) await new Promise((done) => setImmediate(done));
  };
  return { own: services, untilEnded };
}

test("after a minute without a build esbuild's process ends, and the next build starts it again", async (t) => {
  const { entry, built } = await openLamp(t);
  const { own, untilEnded } = await watchServices(t);
  assert.match((await built()) ?? "", /on = true/);
  const [first] = await own();

  t.mock.timers.tick(59_000);
  await writeFile(entry, "export const on: boolean = false;");
  assert.match((await built()) ?? "", /on = false/);
  t.mock.timers.tick(59_000);
  assert.deepEqual(await own(), [first], "the second build began the minute again");

  t.mock.timers.tick(1_000);
  await untilEnded();
  assert.match((await built()) ?? "", /on = false/);
  await endBuildService();
});

test("esbuild's process ends a second after a single build, but not within the minute after another one", async (t) => {
  const { entry, built } = await openLamp(t);
  const { own, untilEnded } = await watchServices(t);
  const once = () => buildOnce({ entryPoints: [entry], write: false });
  await once();
  assert.equal((await own()).length, 1);
  t.mock.timers.tick(1_000);
  await untilEnded();

  await built();
  const [kept] = await own();
  await once();
  t.mock.timers.tick(58_000);
  assert.deepEqual(await own(), [kept]);
  t.mock.timers.tick(2_000);
  await untilEnded();
});

test("a build that runs when the service is to end is finished", async (t) => {
  const { built } = await openLamp(t);
  const { code } = await transform("let a: number = 1", { loader: "ts" });
  assert.equal(code, "let a = 1;\n");

  const [text] = await Promise.all([built(), endBuildService()]);

  assert.match(text ?? "", /on = true/);
});
