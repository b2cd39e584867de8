import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Api, ApiError } from "../../../host/dashboard/api.ts";
import { Connection } from "../../../host/dashboard/connection.ts";

test("a reconnect waits as long as the host's Retry-After says", async (t) => {
  const host = follow(t, [new ApiError(429, { retryAfterMs: 20_000 })]);
  await settled();

  t.mock.timers.tick(19_999);
  await settled();
  const before = host.opened;
  t.mock.timers.tick(1);
  await settled();

  assert.deepEqual([before, host.opened], [1, 2]);
});

test("a stream stays open while it receives data, and is opened again after 35 silent seconds", async (t) => {
  const host = follow(t, []);
  await settled();

  for (let pings = 0; pings < 4; pings++) {
    t.mock.timers.tick(15_000);
    host.ping();
    await settled();
  }
  const { aborted } = host;
  t.mock.timers.tick(34_999);
  const almost = host.aborted;
  t.mock.timers.tick(1);

  assert.deepEqual([aborted, almost, host.aborted], [0, 0, 1]);
  await settled();
  t.mock.timers.tick(500);
  await settled();
  assert.equal(host.opened, 2);
});

/** Follows a host that first gives these answers, and then streams that never end by themselves. */
function follow(t: TestContext, refusals: readonly ApiError[]): StreamingHost {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.addEventListener = () => undefined;
  t.after(() => Reflect.deleteProperty(globalThis, "addEventListener"));
  const host = new StreamingHost(refusals);
  const connection = new Connection(host, { opened: () => undefined, event: () => undefined });
  t.after(() => connection.close());
  return host;
}

class StreamingHost extends Api {
  opened = 0;
  aborted = 0;
  readonly #refusals: ApiError[];
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(refusals: readonly ApiError[]) {
    super(() => undefined);
    this.#refusals = [...refusals];
  }

  override async open(_: string, __: Record<string, string>, signal: AbortSignal) {
    this.opened++;
    const refusal = this.#refusals.shift();
    if (refusal) throw refusal;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => void (this.#stream = stream),
    });
    const stream = this.#stream;
    signal.addEventListener("abort", () => {
      this.aborted++;
      stream?.error(signal.reason);
    });
    return new Response(body);
  }

  ping(): void {
    this.#stream?.enqueue(new TextEncoder().encode(": ping\n\n"));
  }
}

/** Resolves once all that was due has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setImmediate();
}
