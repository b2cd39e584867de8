import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, type Duplex } from "node:stream";
import { test } from "node:test";
import { Peer } from "@mantel/plugin-sdk/rpc";
import { openChannel } from "../../../host/modules/process/channel.ts";
import { readProcess } from "../../../host/modules/process/procfs.ts";

/** Says that a call has begun, and is gone at once. */
const PLUGIN = `require("node:fs").writeSync(3, '{"kind":"begun","call":1}\\n'); process.exit(0);`;

/** The host is busy, and looks at nothing, until the process is gone. */
function beBusyUntilGone(pid: number): void {
  const turn = new Int32Array(new SharedArrayBuffer(4));
  while (readProcess(pid).state !== "Z") Atomics.wait(turn, 0, 0, 20);
}

test("messages of an ended process are received, even after a failed write to it", async () => {
  const child = spawn(process.execPath, ["-e", PLUGIN], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const heard: unknown[] = [];
  const channel = openChannel(child.stdio[3] as Duplex, { end: () => undefined });
  channel.onMessage((message) => heard.push(message));
  const closed = once(child, "close");

  beBusyUntilGone(child.pid ?? 0);
  channel.send({ kind: "call", call: 2, method: "ping", input: {} });
  await closed;

  assert.deepEqual(heard, [{ kind: "begun", call: 1 }]);
});

/** The host's end of a channel into which a process writes this; what it was ended for, and what it heard. */
async function write(line: string) {
  const stream = new PassThrough();
  const sent: string[] = [];
  const ends: string[] = [];
  const both = Object.assign(stream, { write: (text: string) => sent.push(text) });
  const channel = openChannel(both, { end: (cause) => ends.push(cause) });
  const peer = new Peer<object, { log(record: unknown): Promise<void> }>(channel, {
    log: () => undefined,
  });
  stream.push(`${line}\n`);
  await new Promise(setImmediate);
  await channel.finish();
  await new Promise(setImmediate);
  peer.close(new Error("the test is over"));
  return { sent, ends };
}

const message = (parts: object) => JSON.stringify({ kind: "call", method: "log", ...parts });
const many = (count: number) => Array.from({ length: count }, () => 1);

for (const [what, line, cause] of [
  [
    "a record of 3 MB",
    message({ input: "x".repeat(3e6) }),
    /bytes with \d+ values in log: the limits are 65536/,
  ],
  [
    "updates with 30,000 values",
    message({ method: "updateDevices", input: many(30_000) }),
    /updateDevices/,
  ],
  [
    "a host name of 100 kB",
    message({ method: "lookUp", input: { host: "x".repeat(1e5), family: 0 } }),
    /it sent 1000\d\d bytes with \d+ values in lookUp: the limits are 65536/,
  ],
  [
    "a long call that does not exist",
    message({ method: "nope", input: many(3_000) }),
    /does not exist/,
  ],
  [
    "what is nested too deep",
    "[".repeat(1e6),
    /nested more than 64 levels deep, which was not read/,
  ],
  [
    "a million values",
    `[${"1,".repeat(1_000_001)}1]`,
    /more than 1000000 values, which was not read/,
  ],
  ["no JSON", '{"kind":', /invalid message/],
] as const) {
  test(`a process that sends ${what} is ended with this cause`, async () => {
    const { ends, sent } = await write(line);

    assert.equal(ends.length, 1);
    assert.match(ends[0] ?? "", cause);
    assert.deepEqual(sent, []);
  });
}

test("a call with an id of megabytes gets no answer and ends nothing", async () => {
  const line = JSON.stringify({ kind: "call", call: "x".repeat(50_000), method: "nope" });

  assert.deepEqual(await write(line), { sent: [], ends: [] });
});
