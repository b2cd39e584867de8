import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { StreamEvent } from "@mantel/plugin-sdk/client/event-stream";
import { Api, ApiError, type OpenRequest } from "../../../host/dashboard/api.ts";
import { Connection } from "../../../host/dashboard/connection.ts";

const OFFLINE = new ApiError(0, { code: "offline" });

test("a reconnect waits as long as the host's Retry-After says", async (t) => {
  const { host, pass } = await follow(t, [new ApiError(429, { retryAfterMs: 20_000 })]);

  await pass(19_999);
  const before = host.opened;
  await pass(1);

  assert.deepEqual([before, host.opened], [1, 2]);
});

test("a stream stays open while it receives data, and is opened again after 35 silent seconds", async (t) => {
  const { host, pass } = await follow(t);

  for (let pings = 0; pings < 4; pings++) {
    await pass(15_000);
    await host.sendEvents(": ping\n\n");
  }
  const { aborted } = host;
  await pass(34_999);
  const almost = host.aborted;
  await pass(1);

  assert.deepEqual([aborted, almost, host.aborted], [0, 0, 1]);
  await pass(500);
  assert.equal(host.opened, 2);
});

test("a host that does not answer at all is asked again after 35 seconds", async (t) => {
  const { host, pass } = await follow(t, ["silence"]);

  await pass(34_999);
  const before = host.aborted;
  await pass(1);
  await pass(500);

  assert.deepEqual([before, host.opened], [0, 2]);
});

test("events are passed on in order, each with its topic and data", async (t) => {
  const { host, events } = await follow(t);

  await host.sendEvents("event: a\ndata: 1\n\nevent: b\ndata: 2\n\n");

  assert.deepEqual(
    events.map(({ topic, data }) => [topic, data]),
    [
      ["a", "1"],
      ["b", "2"],
    ],
  );
});

test("a stream that ended continues behind the last event that had an id", async (t) => {
  const { host, opened, pass } = await follow(t);
  await host.sendEvents("id: 7\ndata: a\n\ndata: without an id\n\n");

  await host.end();
  await pass(500);

  assert.deepEqual(host.headers, [{}, { "Last-Event-ID": "7" }]);
  assert.deepEqual(opened, [false, true]);
});

test("without an event before, the next stream does not continue the previous one", async (t) => {
  const { host, opened, pass } = await follow(t);

  await host.end();
  await pass(500);

  assert.deepEqual(host.headers, [{}, {}]);
  assert.deepEqual(opened, [false, false]);
});

test("the wait doubles from half a second to half a minute, and begins again after a success", async (t) => {
  const { host, connection, pass } = await follow(
    t,
    Array.from({ length: 8 }, () => OFFLINE),
  );
  const waits: number[] = [];
  for (let failure = 0; failure < 8; failure++) {
    const waitMs = waitOf(connection);
    waits.push(waitMs);
    await pass(waitMs);
  }

  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.equal(connection.link.value.state, "live");
  await host.end();
  assert.equal(waitOf(connection), 500);
});

test("screens that lost the host at the same moment spread their retries over a quarter of the wait", async (t) => {
  const { connection } = await follow(t, [OFFLINE], { random: 0 });

  assert.equal(waitOf(connection), 375);
});

test("only an answer of the host sets the wait, not any other error", async (t) => {
  const { connection } = await follow(t, [Object.assign(new Error("no"), { retryAfterMs: 9_000 })]);

  assert.equal(waitOf(connection), 500);
});

test("the state is away before the stream opens and after it is lost, with the time when it was lost", async (t) => {
  const { host, connection, pass } = await follow(t, ["silence", OFFLINE]);
  const first = connection.link.value;
  await pass(35_000);
  await pass(500);
  const refused = connection.link.value;
  await pass(1_000);
  const open = connection.link.value;

  await pass(60);
  await host.end();
  const lost = connection.link.value;
  host.answers.push(OFFLINE);
  await pass(500);

  assert.deepEqual(first, { state: "away", since: 0, retryAt: 0 });
  assert.deepEqual(refused, { state: "away", since: 0, retryAt: 36_500 });
  assert.deepEqual(open, { state: "live" });
  assert.deepEqual(lost, { state: "away", since: 36_560, retryAt: 37_060 });
  assert.deepEqual(connection.link.value, { state: "away", since: 36_560, retryAt: 38_060 });
});

test("an answer without a stream is a failure", async (t) => {
  const { connection, opened } = await follow(t, ["no body"]);

  assert.equal(connection.link.value.state, "away");
  assert.deepEqual(opened, []);
});

test("a browser that is online again retries immediately, and only once", async (t) => {
  const { host, goOnline, pass } = await follow(t, [OFFLINE]);

  await goOnline();
  const { opened } = host;
  await pass(500);

  assert.deepEqual([opened, host.opened], [2, 2]);
});

test("a closed connection ends its stream, and never opens another", async (t) => {
  const { host, connection, goOnline, pass } = await follow(t);

  connection.close();
  await pass(60_000);
  await goOnline();

  assert.deepEqual([host.aborted, host.opened], [1, 1]);
});

test("a connection closed while it waits opens no stream", async (t) => {
  const { host, connection, pass } = await follow(t, [OFFLINE]);

  connection.close();
  await pass(60_000);

  assert.equal(host.opened, 1);
});

type Answer = Error | "silence" | "no body";

/** Follows a host that first gives these answers, and then streams that end when the test says so. */
async function follow(t: TestContext, answers: readonly Answer[] = [], { random = 1 } = {}) {
  let now = 0;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  t.mock.method(Math, "random", () => random);
  const page = new EventTarget();
  globalThis.addEventListener = page.addEventListener.bind(page);
  t.after(() => Reflect.deleteProperty(globalThis, "addEventListener"));
  const host = new StreamingHost(answers);
  const events: StreamEvent[] = [];
  const opened: boolean[] = [];
  const connection = new Connection(host, {
    opened: (resumed) => opened.push(resumed),
    event: (event) => events.push(event),
  });
  t.after(() => connection.close());
  await settled();
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    t.mock.timers.tick(ms);
    await settled();
  };
  const goOnline = async (): Promise<void> => {
    page.dispatchEvent(new Event("online"));
    await settled();
  };
  return { host, connection, events, opened, pass, goOnline };
}

function waitOf({ link }: Connection): number {
  const { value } = link;
  return value.state === "away" ? value.retryAt - performance.now() : 0;
}

class StreamingHost extends Api {
  opened = 0;
  aborted = 0;
  readonly headers: OpenRequest["headers"][] = [];
  readonly answers: Answer[];
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(answers: readonly Answer[]) {
    super(() => undefined);
    this.answers = [...answers];
  }

  override async open(path: string, { headers, signal }: OpenRequest) {
    assert.equal(path, "/events");
    this.opened++;
    this.headers.push(headers);
    signal.addEventListener("abort", () => this.aborted++);
    const answer = this.answers.shift();
    if (answer instanceof Error) throw answer;
    if (answer === "no body") return new Response(null);
    if (answer === "silence") return rejectedBy(signal);
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => void (this.#stream = stream),
    });
    const stream = this.#stream;
    signal.addEventListener("abort", () => stream?.error(signal.reason));
    return new Response(body);
  }

  async sendEvents(text: string): Promise<void> {
    this.#stream?.enqueue(new TextEncoder().encode(text));
    await settled();
  }

  async end(): Promise<void> {
    this.#stream?.close();
    await settled();
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}

/** Resolves once all that was due has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
}
