import assert from "node:assert/strict";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { Pairings, USER_CODE } from "../../../host/auth/pairings.ts";

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

test("a code has eight easily readable letters and is found in every way of typing it", () => {
  const { pairings, start } = openPairings();

  const startedAt = Date.now();
  const { userCode, deviceCode, ...times } = start();

  assert.deepEqual(times, { expiresInSeconds: 600, intervalSeconds: 5 });
  assert.match(userCode, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.equal(Buffer.from(deviceCode, "base64url").length, 32);
  for (const typed of [userCode, userCode.replace("-", ""), userCode.toLowerCase()]) {
    const found = pairings.find(typed);
    assert.deepEqual([found.userCode, found.address], [userCode, "192.168.1.20"]);
    assert.ok(found.startedAt >= startedAt && found.startedAt <= Date.now());
  }
});

test("a code may be typed with or without its hyphen, in capital or small letters", () => {
  const pattern = new RegExp(USER_CODE);
  const right = ["BCDF-GHJK", "BCDFGHJK", "lmnp-qrst", "vwxzVWXZ"];
  const wrong = ["", "BCDF-GHJ", "BCDF GHJK", "BCDF-GHJKL", "ABCD-EFGH", "xBCDF-GHJK"];

  assert.deepEqual(
    [...right, ...wrong].filter((typed) => pattern.test(typed)),
    right,
  );
});

test("a code that no display waits with is refused by name", () => {
  const { pairings } = openPairings();

  assert.throws(() => pairings.find("BBBB-CCCC"), {
    code: "pairing_unknown",
    message: "no display waits with the code BBBB-CCCC",
  });
});

test("a name is granted from its approval until the display fetches its token", () => {
  const { pairings, pass, start } = openPairings();
  const [display, denied, late] = [start(), start(), start()];
  const seen = () => pairings.hasGranted("Kitchen");

  pairings.decide(denied.userCode, "denied");
  const before = seen();
  pairings.decide(display.userCode, GRANT);
  const approved = [seen(), pairings.hasGranted("Hall")];
  pairings.collect(display.deviceCode);
  const collected = seen();
  pairings.decide(late.userCode, GRANT);
  pass(10 * 60 * 1000);

  assert.deepEqual([before, approved, collected, seen()], [false, [true, false], false, false]);
});

test("an approved token can be collected once", () => {
  const { pairings, start } = openPairings();
  const { userCode, deviceCode } = start();
  assert.throws(() => pairings.collect(deviceCode), { code: "authorization_pending" });

  pairings.decide(userCode, GRANT);

  assert.throws(() => pairings.decide(userCode, "denied"), { code: "pairing_unknown" });
  assert.deepEqual(pairings.collect(deviceCode), GRANT);
  assert.throws(() => pairings.collect(deviceCode), { code: "expired_token" });
});

test("a rejected display is informed and must request another code", () => {
  const { pairings, start } = openPairings();
  const { userCode, deviceCode } = start();

  pairings.decide(userCode, "denied");

  assert.throws(() => pairings.collect(deviceCode), {
    code: "access_denied",
    message: "the display was not approved",
  });
  assert.throws(() => pairings.collect(deviceCode), { code: "expired_token" });
});

test("a code ends after ten minutes, approved or not", () => {
  const { pairings, pass, start } = openPairings();
  const waiting = start();
  const approved = start();
  pairings.decide(approved.userCode, GRANT);

  pass(10 * 60 * 1000 - 1);
  assert.ok(pairings.find(waiting.userCode));
  pass(1);

  assert.throws(() => pairings.find(waiting.userCode), { code: "pairing_unknown" });
  assert.throws(() => pairings.collect(approved.deviceCode), {
    code: "expired_token",
    message: "the code has expired; request another one",
  });
});

test("polling too often makes the interval longer, keeping to it does not", () => {
  const { pairings, pass, start } = openPairings();
  const { deviceCode } = start();
  const ask = () => {
    try {
      return pairings.collect(deviceCode);
    } catch (error) {
      const { code, message, extras } = error as MantelError;
      return [code, message, extras.retryAfterMs];
    }
  };
  const pending = ["authorization_pending", "the display is not approved yet"];
  const slower = ["slow_down", "the display polls too often"];

  assert.deepEqual(ask(), [...pending, 5_000]);
  assert.deepEqual(ask(), [...slower, 10_000]);
  pass(9_500);
  assert.deepEqual(ask(), [...pending, 10_000], "half a second early is not too often");
  pass(9_499);
  assert.deepEqual(ask(), [...slower, 15_000]);
});

test("a network that requests many codes loses only its own oldest ones", () => {
  const { pairings, start } = openPairings();
  const kitchen = start("192.168.1.20");

  const flood = Array.from({ length: 12 }, () => start("192.168.1.66"));

  assert.equal(pairings.find(kitchen.userCode).address, "192.168.1.20");
  assert.deepEqual(
    flood.filter((each) => isThere(pairings, each)),
    flood.slice(-8),
  );
});

test("code requests are limited per network and minute, without affecting others", () => {
  const { pass, start } = openPairings();
  for (let at = 0; at < 16; at++) start("192.168.1.66");

  assert.throws(() => start("192.168.1.66"), {
    code: "rate_limited",
    message: "192.168.1.66 requested 16 codes within a minute",
    extras: { retryAfterMs: 60_000 },
  });
  assert.ok(start("192.168.1.20").userCode);
  pass(59_999);
  assert.throws(() => start("192.168.1.66"), { extras: { retryAfterMs: 1 } });
  pass(1);
  assert.ok(start("192.168.1.66").userCode);
});

test("the requests of the 4096 most recent networks are counted", () => {
  const { start } = openPairings();
  for (let at = 0; at < 16; at++) start("192.168.1.66");

  for (let at = 1; at < 4_096; at++) start(`network ${at}`);
  assert.throws(() => start("192.168.1.66"), { code: "rate_limited" });
  start("one more");

  assert.ok(start("192.168.1.66").userCode);
});

test("eight networks that take all places do not lock out others", () => {
  const { pairings, start } = openPairings();
  const flood = Array.from({ length: 64 }, (_, at) => start(`10.0.0.${at % 8}`));

  const kitchen = start("192.168.1.20");

  assert.ok(isThere(pairings, kitchen));
  const gone = flood.filter((each) => !isThere(pairings, each));
  assert.deepEqual(gone, flood.slice(0, 1), "the oldest of a network with the most");
});

test("a display that a user is viewing or has approved keeps its place", () => {
  const { pairings, pass, start } = openPairings();
  const looked = start("10.0.0.1");
  const granted = start("10.0.0.1");
  const waiting = start("10.0.0.1");
  for (let at = 3; at < 64; at++) start(`10.0.3.${at % 8}`);
  pairings.find(looked.userCode);
  pairings.find(granted.userCode);
  pairings.decide(granted.userCode, GRANT);

  for (let at = 0; at < 100; at++) start(`10.0.1.${at}`);

  assert.ok(isThere(pairings, looked));
  assert.deepEqual(pairings.collect(granted.deviceCode), GRANT);
  assert.ok(!isThere(pairings, waiting));
  pass(2 * 60_000);
  for (let at = 0; at < 100; at++) start(`10.0.4.${at}`);
  assert.ok(isThere(pairings, looked), "a user has two minutes to decide");
  pass(1);
  for (let at = 0; at < 100; at++) start(`10.0.2.${at}`);
  assert.ok(!isThere(pairings, looked), "nobody looks at it any more");
});

test("a network keeps its display that a user is viewing", () => {
  const { pairings, start } = openPairings();
  const looked = start();
  pairings.find(looked.userCode);

  for (let at = 0; at < 12; at++) start();

  assert.ok(isThere(pairings, looked));
});

test("further displays are refused while all waiting ones are being approved", () => {
  const { pairings, pass, start } = openPairings();
  for (let at = 0; at < 64; at++) {
    pairings.decide(start(`10.0.0.${at}`).userCode, { ...GRANT, name: `screen ${at}` });
  }

  assert.throws(() => start("10.0.1.1"), {
    code: "rate_limited",
    message: "too many displays are being paired now",
    extras: { retryAfterMs: 60_000 },
  });
  pass(10 * 60 * 1000);
  assert.ok(start("10.0.1.1").userCode);
});

/** True if a display's code has not ended, as the display itself sees it. */
function isThere(pairings: Pairings, { deviceCode }: { deviceCode: string }): boolean {
  try {
    pairings.collect(deviceCode);
    return true;
  } catch (error) {
    return (error as { code: string }).code !== "expired_token";
  }
}
