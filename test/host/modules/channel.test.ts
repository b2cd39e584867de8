import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { test } from "node:test";
import { openChannel } from "../../../host/modules/process/channel.ts";
import { readProcess } from "../../../host/modules/process/proc.ts";

/** Says that a call has begun, and is gone at once. */
const PLUGIN = `require("node:fs").writeSync(3, '{"kind":"begun","call":1}\\n'); process.exit(0);`;

/** The host is busy, and looks at nothing, until the process is gone. */
function beBusyUntilGone(pid: number): void {
  const turn = new Int32Array(new SharedArrayBuffer(4));
  while (readProcess(pid).state !== "Z") Atomics.wait(turn, 0, 0, 20);
}

test("what a process has said is heard, also when it is written to after its end", async () => {
  const child = spawn(process.execPath, ["-e", PLUGIN], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const heard: unknown[] = [];
  const channel = openChannel(child.stdio[3] as Duplex, () => undefined);
  channel.onMessage((message) => heard.push(message));
  const closed = once(child, "close");

  beBusyUntilGone(child.pid ?? 0);
  channel.send({ kind: "call", call: 2, method: "ping", input: {} });
  await closed;

  assert.deepEqual(heard, [{ kind: "begun", call: 1 }]);
});
