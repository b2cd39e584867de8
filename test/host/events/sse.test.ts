import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test, type TestContext } from "node:test";
import type { CalendarSource } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { Bus } from "../../../host/events/bus.ts";
import { EventStreams, type StreamRequest } from "../../../host/events/sse.ts";
import { until } from "../../helpers/until.ts";

interface StreamEvent {
  readonly id: number;
  readonly topic: string;
  readonly data: unknown;
}

test("a stream carries all announced events, in order, with increasing ids", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const stream = await follow();

  bus.emit("layout.changed", { revision: 7 });
  bus.emit("device.removed", { id: "demo:light:1" });

  const events = await stream.events(2);
  assert.deepEqual(
    events.map(({ topic, data }) => [topic, data]),
    [
      ["layout.changed", { revision: 7 }],
      ["device.removed", { id: "demo:light:1" }],
    ],
  );
  const [first, second] = events;
  assert.equal((second?.id ?? 0) - (first?.id ?? 0), 1);
});

test("an event is encoded once for all streams, and not at all without any", async (t) => {
  const { bus, follow, streams } = await serveStreams(t);
  let encoded = 0;
  const event = (revision: number) => ({
    revision,
    toJSON: () => {
      encoded++;
      return { revision };
    },
  });
  const early = await follow();
  bus.emit("layout.changed", event(1));
  const [seen] = await early.events(1);
  await early.leave();
  await until(() => streams.streams === 0);
  encoded = 0;

  bus.emit("layout.changed", event(2));
  assert.equal(encoded, 0);

  for (let times = 0; times < 2; times++) {
    const [late] = await (await follow({ lastEventId: String(seen?.id) })).events(1);
    assert.deepEqual(late?.data, { revision: 2 });
  }
  assert.equal(encoded, 1);
});

test("a stream for some topics carries no others", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const stream = await follow({ topics: new Set(["layout.changed"]) });

  bus.emit("device.removed", { id: "demo:light:1" });
  bus.emit("layout.changed", { revision: 1 });

  const [event] = await stream.events(1);
  assert.equal(event?.topic, "layout.changed");
});

test("module log records do not displace events from the replay buffer", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const before = await follow();
  bus.emit("layout.changed", { revision: 1 });
  const [seen] = await before.events(1);
  await before.leave();

  bus.emit("layout.changed", { revision: 2 });
  for (let at = 0; at < 2_000; at++) bus.emit("module.log", { module: "chatty", entry: LOG_ENTRY });
  const after = await follow({ lastEventId: String(seen?.id) });

  const [event] = await after.events(1);
  assert.deepEqual(event?.data, { revision: 2 });
});

test("log records go to the streams that ask for them, and have no id to continue from", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const admin = await follow({ topics: new Set(["module.log", "layout.changed"]) });
  const [chosen, plain] = [await follow({ topics: new Set(["layout.changed"]) }), await follow()];

  bus.emit("module.log", { module: "demo", entry: LOG_ENTRY });
  bus.emit("layout.changed", { revision: 1 });

  for (const stream of [admin, chosen, plain]) await stream.until("layout.changed");
  const record = JSON.stringify({ module: "demo", entry: LOG_ENTRY });
  assert.ok(admin.text().includes(`\n\nevent: module.log\ndata: ${record}\n\n`));
  assert.ok(!chosen.text().includes("module.log"));
  assert.ok(!plain.text().includes("module.log"));
});

test("the first log record after a pause tells how many the client missed", async (t) => {
  const { bus, port, responses, streams } = await serveStreams(t, {}, new Set(["module.log"]));
  const socket = connect(port, "127.0.0.1").pause();
  t.after(() => socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await until(() => streams.streams === 1);
  const say = (module: string) => bus.emit("module.log", { module, entry: LOG_ENTRY });
  await until(() => {
    for (let n = 0; n < 200; n++) say("x".repeat(2_000));
    return responses[0]?.writableNeedDrain;
  });
  let text = "";
  const missed = () => [...text.matchAll(/"module":"(\w+)".*?(?:"missed":(\d+))?}$/gm)].slice(-2);

  socket.on("data", (bytes: Buffer) => void (text += bytes.toString("utf8"))).resume();
  await until(() => responses[0]?.writableLength === 0 && !responses[0].writableNeedDrain);
  say("first");
  say("second");

  await until(() => text.includes('"module":"second"'));
  const [first, second] = missed();
  assert.deepEqual([first?.[1], second?.[1]], ["first", "second"]);
  assert.ok(Number(first?.[2]) > 0);
  assert.equal(second?.[2], undefined);
});

test("a reconnecting client gets exactly the missed events, once", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const before = await follow();
  bus.emit("layout.changed", { revision: 1 });
  const [seen] = await before.events(1);
  await before.leave();
  for (let revision = 2; revision <= 1_001; revision++) bus.emit("layout.changed", { revision });

  const after = await follow({ lastEventId: String(seen?.id) });
  bus.emit("layout.changed", { revision: 1_002 });

  const events = await after.events(1_001);
  assert.deepEqual(
    events.map(({ data }) => (data as { revision: number }).revision),
    Array.from({ length: 1_001 }, (_, n) => n + 2),
  );
});

test("a new client can reconnect before the first event", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const before = await follow();
  const begun = before.firstId();
  await before.leave();
  bus.emit("layout.changed", { revision: 1 });

  const after = await follow({ lastEventId: String(begun) });

  const [event] = await after.events(1);
  assert.deepEqual([event?.topic, event?.data], ["layout.changed", { revision: 1 }]);
});

test("a client that has missed nothing continues without a resync", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const first = await follow();
  const begun = String(first.firstId());
  const second = await follow({ lastEventId: begun });
  bus.emit("layout.changed", { revision: 1 });
  const [seen] = await second.events(1);

  const third = await follow({ lastEventId: String(seen?.id) });
  bus.emit("layout.changed", { revision: 2 });

  const [event] = await third.events(1);
  assert.deepEqual([event?.topic, event?.data], ["layout.changed", { revision: 2 }]);
});

test("a client whose last id is not one of this host gets no stored events", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const first = await follow();
  bus.emit("layout.changed", { revision: 1 });
  const begun = String(first.firstId());

  for (const lastEventId of ["abc", "", `${begun}x`, `x${begun}`, `${begun}.0`, `${begun}00`]) {
    const stream = await follow({ lastEventId });
    const [resync] = await stream.events(1);
    assert.equal(resync?.topic, "resync", lastEventId);
  }
});

for (const [name, lastEventId] of Object.entries({
  "has missed too much": (firstId: number) => String(firstId),
  "comes from an earlier run of the host": (firstId: number) => String(firstId - 3_600_000_000),
  "names an event that was never sent": (firstId: number) => String(firstId + 5_000),
  "names no event": () => "abc",
})) {
  test(`a client that ${name} gets a resync and continues from there`, async (t) => {
    const { bus, follow } = await serveStreams(t);
    const before = await follow();
    for (let revision = 0; revision <= 1_001; revision++) bus.emit("layout.changed", { revision });

    const stream = await follow({ lastEventId: lastEventId(before.firstId()) });
    bus.emit("device.removed", { id: "demo:light:1" });

    const [resync, next] = await stream.events(2);
    assert.equal(resync?.topic, "resync");
    assert.deepEqual(resync?.data, { reason: "the events since then are no longer stored" });
    assert.equal(next?.topic, "device.removed");
    assert.equal((next?.id ?? 0) - (resync?.id ?? 0), 1);
  });
}

test("a client that does not read has a limited buffer and is dropped after ten seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { bus, streams, port, responses } = await serveStreams(t);
  const socket = connect(port, "127.0.0.1").pause();
  t.after(() => socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await until(() => streams.streams === 1);

  let highest = 0;
  for (let round = 0; round < 400; round++) {
    for (let n = 0; n < 50; n++) bus.emit("calendar.updated", { sources: [BULKY] });
    highest = Math.max(highest, responses[0]?.writableLength ?? 0);
    await new Promise(setImmediate);
  }
  t.mock.timers.tick(9_000);
  const stalledAt = streams.streams;
  t.mock.timers.tick(1_000);

  assert.equal(stalledAt, 1);
  assert.ok(highest > 0 && highest < 256 * 1024, `${highest} bytes were buffered`);
  await until(() => streams.streams === 0);
  assert.equal(streams.dropped, 1);
});

test("a client that reads again in time has ten more seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { bus, streams, port, responses } = await serveStreams(t);
  const socket = connect(port, "127.0.0.1").pause();
  t.after(() => socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const stall = () =>
    until(() => {
      for (let n = 0; n < 200; n++) bus.emit("calendar.updated", { sources: [BULKY] });
      return responses[0]?.writableNeedDrain;
    });
  await until(() => streams.streams === 1);

  await stall();
  t.mock.timers.tick(6_000);
  socket.on("data", () => undefined).resume();
  await until(() => responses[0]?.writableLength === 0);
  socket.pause();
  await stall();
  t.mock.timers.tick(6_000);
  assert.deepEqual([streams.streams, streams.dropped], [1, 0]);
  t.mock.timers.tick(5_000);

  assert.deepEqual([streams.streams, streams.dropped], [0, 1]);
});

test("a client that does not read is cut off when its permission ends", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { bus, streams, port, responses, revoke } = await serveStreams(t);
  const socket = connect(port, "127.0.0.1").pause();
  t.after(() => socket.destroy());
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await until(() => streams.streams === 1);
  for (let round = 0; round < 400; round++) {
    for (let n = 0; n < 50; n++) bus.emit("calendar.updated", { sources: [BULKY] });
    await new Promise(setImmediate);
  }
  assert.ok(responses[0]?.writableNeedDrain);

  revoke();
  t.mock.timers.tick(1_000);

  await until(() => responses[0]?.destroyed);
  assert.equal(streams.streams, 0);
});

test("a burst that is too large for a reader causes a resync and no other loss", async (t) => {
  const { bus, follow } = await serveStreams(t);
  const stream = await follow();

  for (let n = 0; n < 5_000; n++) bus.emit("calendar.updated", { sources: [BULKY] });
  await stream.until("resync");
  bus.emit("layout.changed", { revision: 1 });

  await stream.until("layout.changed");
  const [reason] = /(?<="reason":")[^"]+/.exec(stream.text()) ?? [];
  assert.equal(reason, "the client reads too slowly");
});

test("a silent stream gets a ping every fifteen seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { follow } = await serveStreams(t);
  const stream = await follow();

  t.mock.timers.tick(45_000);

  await until(() => stream.text().match(/^: ping$/gm)?.length === 3);
});

test("a stream ends with the permission it was opened with", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let permitted = true;
  const { streams, follow, bus } = await serveStreams(t);
  const stream = await follow({ permitted: () => permitted });

  permitted = false;
  t.mock.timers.tick(1_000);
  bus.emit("layout.changed", { revision: 1 });

  await stream.ended;
  assert.equal(streams.streams, 0);
  assert.ok(!stream.text().includes("layout.changed"));
});

test("each token has its own limit", async (t) => {
  const { follow } = await serveStreams(t, { streams: 10, ofOneToken: 2 });
  const [first] = [await follow(), await follow()];

  await assert.rejects(follow(), {
    message:
      "rate_limited after 2000 ms: the token tablet already has 2 open event streams, which is the limit; close one",
  });
  await follow({ owner: "phone" });
  await first.leave();

  await until(() => follow());
});

test("when all streams are in use, a new one replaces the oldest of the token with the most", async (t) => {
  const { streams, follow } = await serveStreams(t, { streams: 3, ofOneToken: 3 });
  const [first, second, third] = [await follow(), await follow(), await follow()];

  const newcomer = await follow({ owner: "phone" });

  await first.ended;
  assert.equal(streams.streams, 3);
  await assert.rejects(follow(), /: 3 event streams are open, and no other token/);
  assert.deepEqual(
    [second, third, newcomer].map(({ text }) => text().includes("id: ")),
    [true, true, true],
  );
});

test("a replaced stream that does not read is cut", async (t) => {
  const { streams, follow, bus, port, responses } = await serveStreams(t, {
    streams: 1,
    ofOneToken: 1,
  });
  const stalled = connect(port, "127.0.0.1").pause();
  t.after(() => stalled.destroy());
  stalled.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => streams.streams === 1);
  await until(() => {
    bus.emit("calendar.updated", { sources: [BULKY] });
    return (responses[0]?.writableLength ?? 0) > 0;
  });

  await follow({ owner: "phone" });

  await until(() => responses[0]?.destroyed);
  assert.equal(streams.streams, 1);
});

test("closing ends every stream", async (t) => {
  const { streams, follow } = await serveStreams(t);
  const opened = await Promise.all([follow(), follow()]);

  streams.close();

  assert.deepEqual(await Promise.all(opened.map(({ ended }) => ended)), ["ended", "ended"]);
  assert.equal(streams.streams, 0);
});

const LOG_ENTRY = { at: "2026-01-01T00:00:00.000Z", level: "info", sentence: "again" } as const;

const BULKY: CalendarSource = {
  id: "family",
  name: "x".repeat(2_000),
  color: "#000000",
  status: "ok",
  fetchedAt: null,
};

async function serveStreams(
  t: TestContext,
  limits: ConstructorParameters<typeof EventStreams>[1] = {},
  topics?: StreamRequest["topics"],
) {
  const bus = new Bus();
  const streams = new EventStreams(bus, limits);
  const responses: ServerResponse[] = [];
  let asked: Partial<StreamRequest> = {};
  let isPermitted = true;
  const server = createServer((_, response) => {
    responses.push(response);
    try {
      const request = { lastEventId: undefined, topics, permitted: () => isPermitted };
      streams.open(response, { owner: "tablet", ...request, ...asked });
    } catch (error) {
      assert.ok(error instanceof MantelError);
      const { code, message, extras } = error;
      response.writeHead(429).end(`${code} after ${extras.retryAfterMs} ms: ${message}`);
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    streams.close();
    server.closeAllConnections();
    server.close();
  });
  return {
    bus,
    streams,
    port,
    responses,
    revoke: () => (isPermitted = false),
    follow: (request: Partial<StreamRequest> = {}) => {
      asked = request;
      return followStream(t, `http://127.0.0.1:${port}`);
    },
  };
}

async function followStream(t: TestContext, url: string) {
  const leaving = new AbortController();
  t.after(() => leaving.abort());
  const response = await fetch(url, { signal: leaving.signal });
  if (!response.ok || !response.body) throw new Error(await response.text());
  let text = "";
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  })().then(
    () => "ended",
    () => "cut", // Left, by this side or the other.
  );
  await until(() => text.includes("\n\n"));

  const parsed = () => [...text.matchAll(/^id: (\d+)\nevent: (.+)\ndata: (.+)\n\n/gm)].map(toEvent);
  return {
    ended,
    text: () => text,
    firstId: () => Number(/^id: (\d+)$/m.exec(text)?.[1]),
    async events(count: number): Promise<StreamEvent[]> {
      await until(() => parsed().length >= count);
      const events = parsed();
      assert.equal(events.length, count);
      return events;
    },
    until: (topic: string) => until(() => parsed().some((event) => event.topic === topic)),
    async leave() {
      leaving.abort();
      await ended;
    },
  };
}

function toEvent([, id, topic = "", data = ""]: RegExpMatchArray): StreamEvent {
  return { id: Number(id), topic, data: JSON.parse(data) as unknown };
}
