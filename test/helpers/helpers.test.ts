import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { startHost } from "./host.ts";
import { livingProcesses } from "./processes.ts";
import { watchResources } from "./resources.ts";
import { until } from "./until.ts";

test("until returns the first truthy value", async () => {
  let calls = 0;

  const value = await until(() => ++calls === 3 && "third");

  assert.equal(value, "third");
  assert.equal(calls, 3);
});

test("until reports the unmet condition and its last error", async () => {
  const never = async () => {
    throw new Error("the reason");
  };

  await assert.rejects(until(never, { withinMs: 30 }), (error: Error) => {
    const [, waitedMs] = /not within (\d+) ms: .*the reason/s.exec(error.message) ?? [];
    assert.ok(Number(waitedMs) >= 30, error.message);
    assert.equal((error.cause as Error).message, "the reason");
    return true;
  });
});

test("watchResources fails while something that was opened is open", async () => {
  const assertClosed = watchResources();
  const timer = setInterval(() => {}, 1_000);

  await assert.rejects(assertClosed(), /left open/);
  clearInterval(timer);
  await assertClosed();
});

test("livingProcesses finds the running processes of a group, not the ended ones", async () => {
  const child = spawn("sh", ["-c", "sleep 60 & wait"], { detached: true });
  const group = child.pid ?? 0;

  await until(() => livingProcesses(group).length === 2);
  process.kill(-group, "SIGKILL");
  await once(child, "exit");
  await until(() => livingProcesses(group).length === 0);
});

test("startHost returns a host that answers, and stop leaves no resources", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/system"] });

  const withoutToken = await host.api("/modules", { scope: null });
  const modules = (await (await host.api("/modules", { scope: "read" })).json()) as {
    modules: { id: string }[];
  };
  const code = await host.stop();

  assert.equal(withoutToken.status, 401);
  assert.deepEqual(
    modules.modules.map(({ id }) => id),
    ["system"],
  );
  assert.equal(code, 0);
  assert.deepEqual(livingProcesses(host.pid), []);
  assert.ok(existsSync(host.data), "the data outlasts the stop, until the test ends");
});
