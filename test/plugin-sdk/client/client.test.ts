import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  createClient,
  type MantelClient,
  ProblemError,
  unwrap,
} from "../../../plugin-sdk/client/index.ts";

const PROBLEM = {
  type: "urn:mantel:problem:bridge_rate_limited",
  title: "Too many commands for the bridge",
  status: 409,
  detail: "the bridge takes 5 commands per second",
  code: "bridge_rate_limited",
  requestId: "1",
  retryAfterMs: 2_000,
};
const command = { params: { path: { id: "hue:light:3" } }, body: { on: true } } as const;

interface Home {
  readonly client: MantelClient;
  /** The requests, in order, as method, path and body. */
  readonly requests: string[];
  readonly seen: Request[];
}

/** A client whose requests are answered in turn; the last answer repeats. */
function home(...answers: ((request: Request) => Response)[]): Home {
  const requests: string[] = [];
  const seen: Request[] = [];
  const client = createClient({
    url: "http://home.test/",
    token: "secret",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      seen.push(request);
      const next = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(
        `${request.method} ${pathname}${search} ${await request.clone().text()}`.trim(),
      );
      if (!next) throw new TypeError("fetch failed");
      return next(request);
    },
  });
  return { client, requests, seen };
}

const refused =
  (status = 409, headers: Record<string, string> = { "Retry-After": "2" }) =>
  () =>
    Response.json({ ...PROBLEM, status }, { status, headers });
/** An answer that sends nothing until it is aborted. */
const silent = ({ signal }: Request) =>
  new Response(
    new ReadableStream({
      start: (body) => signal.addEventListener("abort", () => body.error(signal.reason)),
    }),
  );
const offline = () => {
  throw new TypeError("fetch failed");
};
const stream = (text: string) => () =>
  new Response(text, { headers: { "Content-Type": "text/event-stream" } });

/** Runs timers until the promise settles. */
async function settle<T>(t: TestContext, promise: Promise<T>): Promise<T> {
  const settled = { is: false };
  const done = promise.finally(() => (settled.is = true));
  done.catch(() => undefined);
  for (let turn = 0; !settled.is && turn < 1_000; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(1_000);
  }
  return done;
}

test("a call names its path below the prefix, and sends the token", async () => {
  const { client, requests, seen } = home(() => Response.json({ devices: [], revision: 4 }));

  const { devices, revision } = await unwrap(
    client.GET("/smart-home/devices", { params: { query: { room: "Hall" } } }),
  );

  assert.deepEqual([devices, revision], [[], 4]);
  assert.deepEqual(requests, ["GET /api/v1/smart-home/devices?room=Hall"]);
  assert.equal(seen[0]?.headers.get("Authorization"), "Bearer secret");
});

test("a command that a busy bridge refuses is sent again after the time it names", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, requests } = home(refused(), refused(429), () =>
    Response.json({ status: "applied" }),
  );

  const { data } = await settle(t, client.POST("/smart-home/devices/{id}/command", command));

  assert.equal(data?.status, "applied");
  assert.deepEqual(
    requests,
    Array(3).fill('POST /api/v1/smart-home/devices/hue%3Alight%3A3/command {"on":true}'),
  );
});

test("a call is repeated three times at most, and then refused with the host's problem", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, requests } = home(refused());

  const sent = settle(t, unwrap(client.POST("/smart-home/devices/{id}/command", command)));

  await assert.rejects(sent, (error: unknown) => {
    assert.ok(error instanceof ProblemError);
    assert.deepEqual([error.status, error.code, error.retryAfterMs], [409, PROBLEM.code, 2_000]);
    assert.equal(error.message, PROBLEM.detail);
    return true;
  });
  assert.equal(requests.length, 4);
});

test("a conflict without a time, a long wait and other problems are not repeated", async () => {
  for (const answer of [refused(409, {}), refused(429, { "Retry-After": "31" }), refused(503)]) {
    const { client, requests } = home(answer);

    const { error } = await client.GET("/smart-home/scenes");

    assert.equal(error?.code, PROBLEM.code);
    assert.equal(requests.length, 1);
  }
});

test("a call that is aborted while it waits is not sent again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const abort = new AbortController();
  const { client, requests } = home(() => {
    setImmediate(() => abort.abort());
    return refused()();
  });

  await assert.rejects(client.GET("/smart-home/scenes", { signal: abort.signal }), {
    name: "AbortError",
  });

  assert.equal(requests.length, 1);
});

test("an answer that is not the host's is an error with its status", async () => {
  const { client } = home(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));

  await assert.rejects(unwrap(client.GET("/layout")), {
    name: "ProblemError",
    status: 502,
    code: undefined,
  });
});

test("events continue from the last one when the stream breaks", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, requests, seen } = home(
    stream('id: 7\nevent: layout.changed\ndata: {"revision":2}\n\n'),
    offline,
    refused(503),
    stream('id: 8\nevent: layout.changed\ndata: {"revision":3}\n\n'),
  );

  const events = client.events({ topics: ["layout.changed", "channel"] });
  await settle(t, events.next()); // a resync
  const read = [await settle(t, events.next()), await settle(t, events.next())];
  await events.return();

  assert.deepEqual(
    read.map(({ value }) => value),
    [7, 8].map((id) => ({ id: String(id), topic: "layout.changed", data: { revision: id - 5 } })),
  );
  assert.equal(requests[0], "GET /api/v1/events?topics=layout.changed&topics=channel");
  assert.deepEqual(
    seen.map(({ headers }) => headers.get("Last-Event-ID")),
    [null, "7", "7", "7"],
  );
});

test("a stream without a last event begins with a resync once it is open, each time", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const empty = stream("retry: 2000\n\n");
  const { client, requests } = home(offline, empty, empty);

  const events = client.events();
  const read = [await settle(t, events.next()), await settle(t, events.next())];
  await events.return();

  assert.deepEqual(
    read.map(({ value }) => value?.topic),
    ["resync", "resync"],
  );
  assert.equal(requests.length, 3);
});

test("paths and topics that the shipped plugins add have types", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sampled = 'id: 1\nevent: system.sample\ndata: {"memory":{"percent":40}}\n\n';
  const { client, requests } = home(
    () => Response.json({ cpu: { percent: 12 } }),
    () => Response.json({ forecast: null }),
    stream(sampled),
  );

  const { cpu } = await unwrap(client.GET("/system"));
  const { forecast } = await unwrap(client.GET("/weather"));
  const events = client.events({ topics: ["system.sample", "weather.updated", "automation.run"] });
  await settle(t, events.next()); // a resync
  const { value } = await settle(t, events.next());
  await events.return();

  const percent: number | null = cpu.percent;
  const places: string | null | undefined = forecast?.place;
  assert.deepEqual([percent, places], [12, undefined]);
  assert.ok(value?.topic === "system.sample");
  const used: number = value.data.memory.percent;
  assert.equal(used, 40);
  assert.match(requests[2] ?? "", /topics=system\.sample&topics=weather\.updated/);
});

test("a host's resync is passed on", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client } = home(stream('id: 9\nevent: resync\ndata: {"reason":"too slow"}\n\n'));

  const events = client.events({ lastEventId: "1" });
  const { value } = await settle(t, events.next());
  await events.return();

  assert.deepEqual(value, { topic: "resync", data: { reason: "too slow" }, id: "9" });
});

test("a host that is silent for 35 seconds is asked again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, requests } = home(silent, stream("event: layout.changed\ndata: {}\n\n"));
  const abort = new AbortController();

  const events = client.events({ lastEventId: "1", signal: abort.signal });
  await settle(t, events.next());
  await events.return();

  assert.equal(requests.length, 2);
});

test("events end with an error if the token is refused, and silently if the signal aborts", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client } = home(refused(401));
  const aborted = AbortSignal.abort();

  await assert.rejects(client.events().next(), { name: "ProblemError", status: 401 });
  assert.deepEqual(await client.events({ signal: aborted }).next(), {
    done: true,
    value: undefined,
  });
});
