import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { Bus } from "../../../host/events/bus.ts";
import { EventStreams } from "../../../host/events/sse.ts";

const STREAMS = 100;

test("a few streams get each event at once", (t) => {
  const { bus, writes } = open(t, 24);

  for (let revision = 1; revision <= 3; revision++) bus.emit("layout.changed", { revision });

  assert.ok(writes.every((each) => each.length === 3));
});

test("many streams get the first event at once and later ones together, in order, encoded once", (t) => {
  const { bus, writes } = open(t, STREAMS);

  for (let revision = 1; revision <= 4; revision++) bus.emit("layout.changed", { revision });

  assert.ok(writes.every((each) => each.length === 1));
  t.mock.timers.tick(4);
  assert.deepEqual(new Set(writes.map((each) => each.length)), new Set([2]));
  const texts = writes.map((each) => each.join(""));
  assert.equal(new Set(texts).size, 1);
  assert.deepEqual(
    [...(texts[0] ?? "").matchAll(/"revision":(\d)/g)].map(([, number]) => number),
    ["1", "2", "3", "4"],
  );
  assert.equal(new Set(writes.map(([, later]) => later)).size, 1, "one buffer serves all streams");
});

test("a flood of events within a pause lets no stream fall behind", (t) => {
  const { bus, writes } = open(t, STREAMS);

  for (let revision = 1; revision <= 5_000; revision++) bus.emit("layout.changed", { revision });
  t.mock.timers.tick(4);

  const text = writes[0]?.join("") ?? "";
  assert.equal(text.match(/^event: layout.changed$/gm)?.length, 5_000);
  assert.doesNotMatch(text, /resync/);
});

test("events that wait are sent before a value of a channel and before the end of a stream", (t) => {
  const { bus, writes, streams } = open(t, STREAMS);
  const value = { channel: "news/latest", scope: "read", isRemoved: false, text: "{}" } as const;

  bus.emit("layout.changed", { revision: 1 });
  bus.emit("layout.changed", { revision: 2 });
  bus.emit("channel", value);
  bus.emit("layout.changed", { revision: 3 });
  streams.close();

  const [text = ""] = writes.map((each) => each.join(""));
  assert.match(text, /"revision":2[^]+event: channel[^]+"revision":3/);
});

test("the first value of a channel goes out at once, and of the following 16 ms the last of each together", (t) => {
  t.mock.method(performance, "now", () => 0); // a busy machine takes longer than 16 ms for the next lines
  const { bus, writes } = open(t, 2);
  const publish = (name: string, value: number) => {
    const text = JSON.stringify({ name, value });
    bus.emit("channel", { channel: `news/${name}`, scope: "read", isRemoved: false, text });
  };

  publish("first", 1);
  assert.deepEqual(
    writes.map((each) => each.length),
    [1, 1],
  );
  for (const value of [2, 3]) publish("first", value);
  publish("second", 4);
  t.mock.timers.tick(16);

  for (const written of writes) {
    assert.equal(written.length, 2);
    assert.deepEqual(
      [...String(written[1]).matchAll(/"name":"(\w+)","value":(\d)/g)].map(([, ...each]) => each),
      [
        ["first", "3"],
        ["second", "4"],
      ],
    );
  }
});

/** Streams whose sockets take everything, and the writes to each after its opening. */
function open(t: TestContext, count: number) {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const bus = new Bus();
  const streams = new EventStreams(bus, { streams: count, ofOneToken: count });
  t.after(() => streams.close());
  const writes = Array.from({ length: count }, () => {
    const written: (Buffer | string)[] = [];
    const response = Object.assign(new EventEmitter(), {
      setHeader: () => undefined,
      removeHeader: () => undefined,
      write: (bytes: Buffer | string) => written.push(bytes) > 0,
      end: () => undefined,
    });
    const request = { lastEventId: undefined, topics: undefined, owner: "tablet" };
    const allowed = { permitted: () => true, mayRead: () => true };
    streams.open(response as unknown as ServerResponse, { ...request, ...allowed });
    written.length = 0;
    return written;
  });
  return { bus, streams, writes };
}
