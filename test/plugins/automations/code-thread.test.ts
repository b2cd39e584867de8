import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { build, stop } from "esbuild";
import { attached } from "../../../plugins/automations/code/start-worker.ts";
import type { StartThread } from "../../../plugins/automations/code/thread.ts";
import { removeFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";
import { stageCode } from "./staged-code.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "mantel-thread-"));
  await build({
    entryPoints: [resolve("plugins/automations/code/worker.ts")],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
  });
});
after(async () => {
  await stop();
  await removeFolder(folder);
});

const startThread: StartThread = (running, events) =>
  attached(
    new Worker(join(folder, "worker.mjs"), {
      workerData: { running },
      resourceLimits: { maxOldGenerationSizeMb: 24 },
    }),
    events,
  );

const GOOD = `const { when, home, minutes } = require("mantel");
when(home.binarySensor("Front door").opens()).then(async (run) => {
  await run.wait(minutes(5));
  await run.notify("good");
});`;
const bad = (body: string) => `const { when, home } = require("mantel");
when(home.binarySensor("Front door").opens()).then(async (run) => {
  await run.value(() => 1);
  ${body}
});`;

for (const [what, body, reason, loopMs = 500] of [
  ["an endless loop", "for (;;);", /ran for 0.5 s without a pause/],
  [
    "an endless loop in a timer",
    "setTimeout(() => { for (;;); }, 1); await run.wait(60000);",
    /ran for 0.5 s without a pause/,
  ],
  ["process.exit()", "process.exit();", /its thread has ended/],
  [
    "an error in a timer",
    "setTimeout(() => { throw new Error('late'); }, 1); await run.wait(60000);",
    /its code failed: line 4: late/,
  ],
  ["a promise that nobody awaits", "void Promise.reject(new Error('lost'));", /line 4: lost/],
  [
    "endless memory",
    "const all = []; for (;;) all.push(new Array(1000).fill(run.id + all.length));",
    /needs more than \d+ MiB/,
    60_000, // a busy machine takes longer than half a second to fill the memory
  ],
] as const) {
  const skip =
    what === "endless memory" &&
    Number.parseInt(process.versions.node) >= 24 &&
    "V8 of Node 24 may end the process instead of the thread (nodejs/node#47224)";
  test(
    `${what} sets only its automation aside; the waits of others continue`,
    { skip },
    async (t) => {
      const { code, engine, staged, open } = await stageCode(
        { "good.ts": GOOD, "bad.ts": bad(body) },
        { startThread, loopMs },
      );
      t.after(() => code.stop());
      void open();
      await until(() => engine.stateOf("bad.ts") === "failed", { withinMs: 10_000 });
      assert.match(engine.problemOf("bad.ts") ?? "", reason);
      assert.equal(engine.stateOf("good.ts"), "running");
      await staged.advance(5 * 60_000);
      await until(() => staged.messages.includes("good"));
      await until(() => engine.stateOf("good.ts") === "idle");
      assert.equal(engine.tracesOf("good.ts")[0]?.result, "completed");
    },
  );
}

test("a file whose loading does not end is not loaded; its last good code and others continue", async (t) => {
  const { code, engine, staged, save, open } = await stageCode(
    { "good.ts": GOOD, "bad.ts": GOOD.replace("good", "bad") },
    { startThread, loopMs: 500 },
  );
  t.after(() => code.stop());
  await save("bad.ts", "for (;;);");
  await until(() => code.problemOf("bad.ts") !== undefined, { withinMs: 10_000 });
  assert.match(code.problemOf("bad.ts") ?? "", /^bad\.ts: its code ran for 0.5 s/);
  await open();
  await until(
    () => engine.stateOf("bad.ts") === "running" && engine.stateOf("good.ts") === "running",
  );
  await staged.advance(5 * 60_000);
  await until(() => staged.messages.length === 2);
});
