import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import {
  SandboxProcess,
  signalOfExitCode,
} from "../../../../host/modules/process/sandbox/sandbox-process.ts";
import { fakeSystemFiles } from "../../../helpers/system-files.ts";

const OUTER = 10;
const FIRST = 20;
const PLUGIN = 30;
const INFO = `{\n    "child-pid": ${FIRST},\n    "net-namespace": 4026532\n}\n`;

/** A sandbox that bubblewrap starts to build. Nothing is killed: the ids are noted, a negative one is a group. */
async function openSandbox(t: TestContext, { hasStarted = true } = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { write } = await fakeSystemFiles(t, "/proc", {});
  const info = new PassThrough();
  const killed: (number | "outer")[] = [];
  const parts = { onKill: (): void => undefined };
  const kill = (signal: string) => {
    assert.equal(signal, "SIGKILL");
    killed.push("outer");
  };
  t.mock.method(process, "kill", (id: number, signal: unknown) => {
    assert.equal(signal, "SIGKILL");
    killed.push(id);
    parts.onKill();
    return true;
  });
  const outer = {
    pid: hasStarted ? OUTER : undefined,
    kill,
    stdio: [null, null, null, null, null, info],
  };
  const sandbox = new SandboxProcess(outer as unknown as ChildProcess);
  const say = async (text: string) => {
    info.write(text);
    await new Promise(setImmediate);
  };
  const startPlugin = () => write(`${FIRST}/task/${FIRST}/children`, `${PLUGIN} `);
  return { sandbox, killed, parts, say, startPlugin, info, write };
}

test("the plugin's process is the child of the first process in the sandbox", async (t) => {
  const { sandbox, say, startPlugin, write } = await openSandbox(t);
  assert.equal(sandbox.pid, undefined);

  await say(INFO.slice(0, 12));
  assert.equal(sandbox.pid, undefined);
  await say(INFO.slice(12));
  assert.equal(sandbox.pid, undefined);
  startPlugin();
  assert.equal(sandbox.pid, PLUGIN);

  write(`${FIRST}/task/${FIRST}/children`, "99 ");
  assert.equal(sandbox.pid, PLUGIN);
});

test("killing a sandbox ends its first process, and bubblewrap if it has not ended a second later", async (t) => {
  const { sandbox, killed, say } = await openSandbox(t);
  await say(INFO);

  sandbox.kill();
  assert.deepEqual(killed, [FIRST]);
  t.mock.timers.tick(999);
  assert.deepEqual(killed, [FIRST]);
  t.mock.timers.tick(1);

  assert.deepEqual(killed, [FIRST, "outer"]);
});

test("a sandbox that has just ended can be killed", async (t) => {
  const { sandbox, killed, parts, say } = await openSandbox(t);
  await say(INFO);
  parts.onKill = () => {
    throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH" });
  };

  sandbox.kill();
  t.mock.timers.tick(1_000);

  assert.deepEqual(killed, [FIRST, "outer"]);
});

test("killing bubblewrap before it has built the sandbox ends its group, and what it starts meanwhile", async (t) => {
  const { sandbox, killed, say } = await openSandbox(t);

  sandbox.kill();
  assert.deepEqual(killed, ["outer", -OUTER]);
  await say(INFO);

  assert.deepEqual(killed, ["outer", -OUTER, FIRST]);
});

test("killing bubblewrap that never started kills nothing else", async (t) => {
  const { sandbox, killed, info } = await openSandbox(t, { hasStarted: false });

  sandbox.kill();
  info.destroy(new Error("it did not start"));
  await new Promise(setImmediate);

  assert.deepEqual(killed, ["outer"]);
});

test("a sandbox that is not being killed continues when its first process is known", async (t) => {
  const { killed, say } = await openSandbox(t);

  await say(INFO);
  await say("more");

  assert.deepEqual(killed, []);
});

for (const [code, signal] of [
  [0, undefined],
  [1, undefined],
  [128, undefined],
  [134, "SIGABRT"],
  [137, "SIGKILL"],
  [139, "SIGSEGV"],
  [143, "SIGTERM"],
  [255, undefined],
] as const) {
  test(`exit code ${code} of bubblewrap means ${signal ?? "no signal"}`, () => {
    assert.equal(signalOfExitCode(code), signal);
  });
}
