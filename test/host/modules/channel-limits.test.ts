import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Channel, openChannel } from "../../../host/modules/process/channel.ts";

/** The host's end of a channel, what the process hears, and why it is ended. Time is the test's. */
function open(t: TestContext, { isBroken = false } = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const time = { now: 1_000 };
  t.mock.method(performance, "now", () => time.now);
  const sent: string[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      sent.push(chunk.toString());
      done(isBroken ? new Error("EPIPE") : null);
    },
  });
  const ends: unknown[][] = [];
  const heard: unknown[] = [];
  const channel = openChannel(stream, { end: (...how) => ends.push(how) });
  channel.onMessage((message) => heard.push(message));
  const say = async (text: string) => {
    stream.push(text);
    await setImmediate();
    await channel.finish();
  };
  return { stream, time, sent, ends, heard, channel, say };
}

const call = (channel: Channel, method: string) =>
  channel.send({ kind: "call", call: 1, method, input: {} });

test("messages are read one a line, in order, also if a line arrives in parts", async (t) => {
  const { say, heard, ends } = open(t);

  await say('{"kind":"begun","call":1}\n{"kind":"be');
  await say('gun","call":2}\n');

  assert.deepEqual(heard, [
    { kind: "begun", call: 1 },
    { kind: "begun", call: 2 },
  ]);
  assert.deepEqual(ends, []);
});

test("messages that arrive before a listener is attached are dropped", async (t) => {
  const { stream, sent, ends } = open(t);
  openChannel(stream, { end: () => undefined });

  stream.push('{"kind":"begun","call":1}\n');
  await setImmediate();

  assert.deepEqual([sent, ends], [[], []]);
});

test("a message is sent as one line, and its callback runs once it is written", async (t) => {
  const { channel, sent } = open(t);
  const written: string[] = [];

  channel.send({ kind: "begun", call: 1 }, () => written.push("written"));
  await setImmediate();

  assert.deepEqual(sent, ['{"kind":"begun","call":1}\n']);
  assert.deepEqual(written, ["written"]);
});

test("a message for a process that has ended is dropped, and one that cannot be written is not an error", async (t) => {
  const ended = open(t);
  ended.stream.destroy();
  call(ended.channel, "ping");
  await setImmediate();
  assert.deepEqual(ended.sent, []);
});

test("the callback of a message that cannot be written runs too", async (t) => {
  const { channel, ends } = open(t, { isBroken: true });
  const written: string[] = [];

  channel.send({ kind: "begun", call: 1 }, () => written.push("written"));
  await setImmediate();

  assert.deepEqual([written, ends], [["written"], []]);
});

const NO_MESSAGE = "it wrote an invalid message to the host's channel";

for (const [what, line] of [
  ["no JSON", "{"],
  ["an empty line", ""],
  ["a failure without an error", '{"kind":"failure","call":1}'],
  ["a failure whose error is null", '{"kind":"failure","call":1,"error":null}'],
  ["a failure whose error is a text", '{"kind":"failure","call":1,"error":"late"}'],
] as const) {
  test(`a process that sends ${what} is ended`, async (t) => {
    const { say, heard, ends } = open(t);

    await say(`${line}\n`);

    assert.deepEqual([heard, ends], [[], [[NO_MESSAGE]]]);
  });
}

for (const line of [
  '{"kind":"failure","call":1,"error":{"name":"Error","message":"late"}}',
  '{"kind":"answer","call":1}',
  "null",
  "7",
  '"text"',
]) {
  test(`${line} is a message`, async (t) => {
    const { say, heard, ends } = open(t);

    await say(`${line}\n`);

    assert.deepEqual([heard, ends], [[JSON.parse(line)], []]);
  });
}

test("a message longer than 8 MiB ends the process as soon as it is too long", async (t) => {
  const { stream, ends, heard } = open(t);

  stream.push(Buffer.alloc(8 * 2 ** 20, "x"));
  await setImmediate();
  assert.deepEqual(ends, []);
  stream.push("x");
  await setImmediate();

  const cause = "it sent a message larger than 8 MiB, which was not read";
  assert.deepEqual([ends, heard], [[[cause]], []]);
});

test("the unfinished message of a process that ended is ignored", async (t) => {
  const { stream, say, ends, heard } = open(t);

  await say('{"kind":"begun","call":1}\n{"kind":"begun","ca');
  stream.push(null);
  await setImmediate();

  assert.deepEqual([heard, ends], [[{ kind: "begun", call: 1 }], []]);
});

const MIB = 2 ** 20;

for (const [method, bytes, values] of [
  ["updateDevices", 2 * MIB, 25_000],
  ["announceDeviceEvent", 65_536, 2_000],
  ["publishScenes", undefined, 100_000],
  ["publish", 2 * MIB, 50_000],
  ["publishCalendarPart", undefined, 50_000],
  ["callService", undefined, 50_000],
  ["reportDegraded", 65_536, 2_000],
  ["showStep", 262_144, 20_000],
  ["log", 65_536, 2_000],
  ["lookUp", 65_536, 2_000],
  ["openConnection", 65_536, 2_000],
  ["closeConnection", 65_536, 2_000],
  ["toString", 65_536, 2_000],
] as const) {
  const name = method === "toString" ? "a call that does not exist" : method;
  const limits = (sent: number, found: number) =>
    `it sent ${sent} bytes with ${found} values in ${name}: the limits are ${bytes ?? 8 * MIB} bytes and ${values} values; send less at once`;
  /** The message itself, its kind, its method and the list are four values. */
  const message = (input: unknown) => JSON.stringify({ kind: "call", method, input });

  test(`a call of ${method} may have ${values} values, and not one more`, async (t) => {
    const { say, heard, ends } = open(t);
    const list = (count: number) => Array.from({ length: count - 4 }, () => 1);

    await say(`${message(list(values))}\n`);
    assert.deepEqual([heard.length, ends], [1, []]);
    const line = message(list(values + 1));
    await say(`${line}\n`);

    assert.deepEqual([heard.length, ends], [1, [[limits(line.length, values + 1)]]]);
  });

  if (bytes === undefined) continue;

  test(`a call of ${method} may have ${bytes} bytes, and not one more`, async (t) => {
    const { say, heard, ends } = open(t);
    const room = bytes - message("").length;

    await say(`${message("x".repeat(room))}\n`);
    assert.deepEqual([heard.length, ends], [1, []]);
    await say(`${message("x".repeat(room + 1))}\n`);

    assert.deepEqual([heard.length, ends], [1, [[limits(bytes + 1, 4)]]]);
  });
}

test("a call without a name, and answers, are within limits of their own", async (t) => {
  const { say, heard, ends } = open(t);
  const input = "x".repeat(65_536);

  await say(`${JSON.stringify({ kind: "answer", call: 1, method: "log", value: input })}\n`);
  assert.deepEqual([heard.length, ends], [1, []]);
  await say(`${JSON.stringify({ kind: "call", method: 7, input })}\n`);

  assert.match(String(ends[0]), /in a call that does not exist: the limits are 65536 bytes/);
});

const line = '{"kind":"begun","call":1}\n';

test("more than 8,000 messages at once are held back, and half a second later they are a flood", async (t) => {
  const { stream, channel, heard, ends, time } = open(t);

  stream.push(line.repeat(7_999));
  await setImmediate();
  assert.deepEqual([heard.length, channel.isHeldBack, channel.hasUnread], [7_999, false, false]);
  stream.push(line.repeat(20_000));
  await setImmediate();
  assert.deepEqual([heard.length, channel.isHeldBack, channel.hasUnread], [8_000, true, true]);
  for (let passed = 0; passed < 520; passed += 20) {
    time.now += 20;
    t.mock.timers.tick(20);
    await setImmediate();
  }

  const cause =
    "message rate limit exceeded: more than 2000 messages or 16 MiB per second; publish less often, and only what has changed";
  assert.deepEqual(ends, [[cause, 1_000]]);
});

for (const [what, message, more] of [
  [
    "each call of the host allows two more",
    { kind: "call", call: 1, method: "ping", input: {} },
    2,
  ],
  ["a notification allows none", { kind: "call", method: "refuseStorage", input: {} }, 0],
  ["an answer of the host allows none", { kind: "answer", call: 1 }, 0],
] as const) {
  test(`of the messages that count, ${what}`, async (t) => {
    const { stream, channel, heard } = open(t);

    for (let times = 0; times < 10; times++) channel.send(message);
    stream.push(line.repeat(9_000));
    await setImmediate();

    assert.equal(heard.length, 8_000 + 10 * more);
  });
}
