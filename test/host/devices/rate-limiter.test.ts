import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
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
  await setImmediate();
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
