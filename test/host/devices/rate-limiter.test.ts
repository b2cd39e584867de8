import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { RateLimiter, RateLimiters } from "../../../host/devices/rate-limiter.ts";
import { watchResources } from "../../helpers/resources.ts";
import { createBridge } from "./open-devices.ts";

const light = { kind: "light", gateway: undefined } as const;

const limits = (commandsPerSecond: number, burst: number) => ({
  commandsPerSecond,
  burst,
  confirmMs: 1_000,
});

test("a burst is sent immediately, and the rest at the bridge's rate in order", async (t) => {
  t.after(watchResources());
  const pace = new RateLimiter("b", limits(50, 3));
  const started = performance.now();
  const done: number[] = [];

  const all = [0, 1, 2, 3, 4, 5].map(
    (n) =>
      new Promise<void>((resolve) =>
        pace.reserve(1_000)(() => {
          done.push(n);
          resolve();
        }),
      ),
  );
  const burst = [...done];
  await Promise.all(all);

  const tookMs = performance.now() - started;
  assert.deepEqual(burst, [0, 1, 2]);
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
  assert.ok(tookMs >= 59, `three commands after the burst took ${tookMs} ms`);
});

test("a taken slot counts before its work starts", () => {
  const pace = new RateLimiter("b", limits(1, 1));
  pace.reserve(1_000);
  pace.reserve(1_500);

  assert.throws(() => pace.reserve(1_500), { code: "bridge_rate_limited" });
});

test("a bridge with less than one command per second still gets the first one immediately", () => {
  let asked = 0;

  new RateLimiter("b", limits(0.2, 0.2)).reserve(0)(() => asked++);

  assert.equal(asked, 1);
});

test("a bridge keeps its rate until the manifest changes it", () => {
  const paces = new RateLimiters();
  const bridge = createBridge("b", "demo", limits(1, 1));

  const pace = paces.of(bridge, light);

  assert.equal(paces.of({ ...bridge, limits: limits(1, 1) }, light), pace);
  assert.notEqual(paces.of({ ...bridge, limits: limits(2, 1) }, light), pace);
});

test("kinds with the same rate limit share it and do not use the rate of other kinds", () => {
  const paces = new RateLimiters();
  const slow = { kinds: ["group", "scene"] as const, commandsPerSecond: 1, burst: 1 };
  const bridge = createBridge("b", "demo", { ...limits(10, 1), rates: [slow] });

  paces.of(bridge, { ...light, kind: "group" }).reserve(0);

  assert.throws(() => paces.of(bridge, { ...light, kind: "scene" }).reserve(0), {
    code: "bridge_rate_limited",
    message: "b takes 1 commands per second, and 1 already wait",
  });
  paces.of(bridge, light).reserve(0);
  assert.equal(paces.of(bridge, light), paces.of(bridge, { ...light, kind: "switch" }));
});

test("each gateway has the rates of its bridge to itself", () => {
  const paces = new RateLimiters();
  const slow = { kinds: ["scene"] as const, commandsPerSecond: 1, burst: 1 };
  const bridge = createBridge("b", "demo", { ...limits(2, 1), rates: [slow] });
  const asks = [
    { kind: "light", gateway: "one" },
    { kind: "light", gateway: "two" },
    { kind: "light", gateway: undefined },
    { kind: "scene", gateway: "one" },
    { kind: "scene", gateway: "two" },
  ] as const;

  for (const ask of asks) paces.of(bridge, ask).reserve(0);

  for (const ask of asks) {
    assert.throws(() => paces.of(bridge, ask).reserve(0), { code: "bridge_rate_limited" });
  }
  assert.throws(() => paces.of(bridge, asks[1]).reserve(0), {
    message: "two of b takes 2 commands per second, and 1 already wait",
  });
});

test("rate limits are stored only for busy gateways, however many ids a bridge invents", () => {
  const paces = new RateLimiters();
  const bridge = createBridge("b", "demo", limits(1, 1));
  const made = (n: number) => paces.of(bridge, { kind: "light", gateway: `${n}` });
  const busy = made(0);
  busy.reserve(0);
  const idle = made(1);

  for (let n = 2; n < 100; n++) made(n);

  assert.equal(made(0), busy);
  assert.notEqual(made(1), idle);
});

/** A limiter over clocks that the test moves; `sent` has the numbers of the work that ran. */
function openLimiter(t: TestContext, perSecond: number, burst: number) {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const pace = new RateLimiter("b", limits(perSecond, burst));
  const sent: number[] = [];
  return {
    pace,
    sent,
    send: (n: number) => pace.reserve(60_000)(() => void sent.push(n)),
    pass: (ms: number) => {
      now += ms;
      t.mock.timers.tick(ms);
    },
  };
}

test("waiting commands are sent one by one, each as soon as the rate allows", (t) => {
  const { sent, send, pass } = openLimiter(t, 4, 2);
  for (const n of [1, 2, 3, 4]) send(n);

  const seen = [0, 249, 1, 249, 1].map((ms) => {
    pass(ms);
    return sent.length;
  });

  assert.deepEqual(seen, [2, 2, 3, 3, 4]);
  assert.deepEqual(sent, [1, 2, 3, 4]);
});

test("a long pause allows one burst and no more", (t) => {
  const { sent, send, pass } = openLimiter(t, 4, 2);
  pass(60_000);

  for (const n of [1, 2, 3]) send(n);

  assert.deepEqual(sent, [1, 2]);
});

test("a refused command is told when to try again", (t) => {
  const { pace, pass } = openLimiter(t, 2, 1);
  const refusal = () => {
    try {
      pace.reserve(700)(() => undefined);
    } catch (error) {
      return (error as MantelError).extras.retryAfterMs;
    }
    return "accepted";
  };

  const told = [refusal(), refusal()];
  const refused = refusal();
  pass(299);
  const later = refusal();
  pass(1);

  assert.deepEqual(
    [told, refused, later, refusal()],
    [["accepted", "accepted"], 300, 1, "accepted"],
  );
});

test("a limiter is idle when its burst is full again and nobody waits", (t) => {
  const { pace, send, pass } = openLimiter(t, 1, 2);
  const fresh = pace.isIdle;
  send(1);
  const used = pace.isIdle;
  pass(999);
  const nearly = pace.isIdle;
  pass(1);
  const full = pace.isIdle;
  pace.reserve(0);

  assert.deepEqual([fresh, used, nearly, full, pace.isIdle], [true, false, false, true, false]);
});

test("a limiter has the rate it was made with, whose burst is at least one", () => {
  const pace = new RateLimiter("b", limits(2, 0.5));

  assert.deepEqual(
    [limits(2, 0.5), limits(2, 1), limits(2, 2), limits(3, 1)].map((rate) => pace.has(rate)),
    [true, true, false, false],
  );
});
