import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";

const LOG = resolve(import.meta.dirname, "../../host/log.ts");

/** A process that runs `code` with a log of its own. Its standard error is a pipe that a test may read. */
function run(t: TestContext, code: string): ChildProcess {
  const program = `
    const { openLog } = await import(${JSON.stringify(LOG)});
    const log = openLog("info", false);
    ${code}`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program]);
  t.after(() => {
    child.kill("SIGKILL");
    child.stderr.destroy(); // what nobody has read would keep this process
  });
  return child;
}

test("a log without a reader does not block, and dropped records are counted", async (t) => {
  const child = run(
    t,
    `const { spawnSync } = await import("node:child_process");
    spawnSync("true", { stdio: "inherit" }); // makes it blocking for this process, too
    for (let at = 0; at < 20_000; at++) log.info("said", { at, filler: "x".repeat(500) });
    process.stdout.write("still here");
    process.stdin.once("data", async () => {
      await log.flushed();
      log.info("heard again");
      process.exit(0);
    });`,
  );
  assert.ok(child.stdout && child.stderr && child.stdin);

  const [said] = (await once(child.stdout, "data")) as [Buffer];
  child.stdin.write("go");
  const lines = (await text(child.stderr)).trim().split("\n");
  const told = JSON.parse(lines.at(-2) ?? "") as { dropped: number; msg: string };

  assert.equal(String(said), "still here");
  assert.match(told.msg, /records were dropped/);
  assert.equal(lines.length - 2 + told.dropped, 20_000);
});

test("all records are written before the process ends", async (t) => {
  const child = run(
    t,
    `for (let at = 0; at < 1_500; at++) log.info("said", { at, filler: "x".repeat(500) });
    await log.flushed();
    process.exit(0);`,
  );
  assert.ok(child.stderr);

  const lines = (await text(child.stderr)).trim().split("\n");

  assert.equal(lines.length, 1_500);
});

test("a process whose log is not read still ends", async (t) => {
  const child = run(
    t,
    `for (let at = 0; at < 5_000; at++) log.info("said", { at, filler: "x".repeat(500) });
    await log.flushed();
    process.exit(7);`,
  );

  const [code] = (await once(child, "exit")) as [number];

  assert.equal(code, 7);
});

test("a log level can be set for one module and reset again", async (t) => {
  const child = run(
    t,
    `let own = "debug";
    const lamp = log.with({ module: "lamp" }, () => own);
    const others = log.with({ module: "others" });
    lamp.debug("heard");
    others.debug("quiet");
    own = undefined;
    lamp.debug("quiet");
    log.setLevel("debug");
    lamp.debug("heard");
    others.debug("heard");
    own = "error";
    lamp.warn("quiet");
    await log.flushed();
    process.exit(0);`,
  );
  assert.ok(child.stderr);

  const lines = (await text(child.stderr)).trim().split("\n");
  const said = lines.map((line) => JSON.parse(line) as { module: string; msg: string });

  assert.deepEqual(
    said.map(({ module, msg }) => `${module} ${msg}`),
    ["lamp heard", "lamp heard", "others heard"],
  );
});
