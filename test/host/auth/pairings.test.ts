import assert from "node:assert/strict";
import { test } from "node:test";
import { Pairings } from "../../../host/auth/pairings.ts";

const GRANT = { name: "Kitchen", scope: ["read"] } as const;

/** Pairings over a clock that the test moves. */
function openPairings() {
  let now = 0;
  const pairings = new Pairings(() => now);
  return {
    pairings,
    pass: (ms: number) => (now += ms),
    start: (network = "192.168.1.20") => pairings.start(network, network),
  };
}

test("a code is eight letters that can be read from afar, and is found however it is typed", () => {
  const { pairings, start } = openPairings();

  const { userCode, deviceCode } = start();

  assert.match(userCode, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.equal(Buffer.from(deviceCode, "base64url").length, 32);
  for (const typed of [userCode, userCode.replace("-", ""), userCode.toLowerCase()]) {
    assert.equal(pairings.find(typed).address, "192.168.1.20");
  }
});

test("what was approved is collected once", () => {
  const { pairings, start } = openPairings();
  const { userCode, deviceCode } = start();
  assert.throws(() => pairings.collect(deviceCode), { code: "authorization_pending" });

  pairings.decide(userCode, GRANT);

  assert.throws(() => pairings.decide(userCode, "denied"), { code: "pairing_unknown" });
  assert.deepEqual(pairings.collect(deviceCode), GRANT);
  assert.throws(() => pairings.collect(deviceCode), { code: "expired_token" });
});

test("a display that was turned away is told so, and has to ask for another code", () => {
  const { pairings, start } = openPairings();
  const { userCode, deviceCode } = start();

  pairings.decide(userCode, "denied");

  assert.throws(() => pairings.collect(deviceCode), { code: "access_denied" });
  assert.throws(() => pairings.collect(deviceCode), { code: "expired_token" });
});

test("a code ends after ten minutes, approved or not", () => {
  const { pairings, pass, start } = openPairings();
  const waiting = start();
  const approved = start();
  pairings.decide(approved.userCode, GRANT);

  pass(10 * 60 * 1000);

  assert.throws(() => pairings.find(waiting.userCode), { code: "pairing_unknown" });
  assert.throws(() => pairings.collect(approved.deviceCode), { code: "expired_token" });
});

test("asking too often costs a longer interval, and keeping to it does not", () => {
  const { pairings, pass, start } = openPairings();
  const { deviceCode } = start();
  const ask = () => {
    try {
      return pairings.collect(deviceCode);
    } catch (error) {
      const { code, extras } = error as { code: string; extras: { retryAfterMs: number } };
      return [code, extras.retryAfterMs];
    }
  };

  assert.deepEqual(ask(), ["authorization_pending", 5_000]);
  assert.deepEqual(ask(), ["slow_down", 10_000]);
  pass(9_600);
  assert.deepEqual(ask(), ["authorization_pending", 10_000]);
});

test("a network that asks for many codes loses its own, and nobody else's", () => {
  const { pairings, start } = openPairings();
  const kitchen = start("192.168.1.20");

  const flood = Array.from({ length: 1_000 }, () => start("192.168.1.66"));

  assert.equal(pairings.find(kitchen.userCode).address, "192.168.1.20");
  const alive = flood.filter(({ userCode }) => {
    try {
      return pairings.find(userCode);
    } catch {
      return false;
    }
  });
  assert.deepEqual(alive, flood.slice(-8));
});

test("more displays than may wait are refused, and room comes back by itself", () => {
  const { pass, start } = openPairings();
  for (let at = 0; at < 64; at++) start(`10.0.0.${at}`);

  assert.throws(() => start("10.0.1.1"), { code: "rate_limited" });
  pass(10 * 60 * 1000);
  assert.ok(start("10.0.1.1").userCode);
});
