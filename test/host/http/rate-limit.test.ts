import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { RateLimit } from "../../../host/http/rate-limit.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

const LIMIT = { perSecond: 2, burst: 3, loopback: true };
const ADDRESS = "192.168.1.5";
const LIMITED = { code: "rate_limited" };

test("a client may send a burst and then gets an error with the time to retry", async () => {
  const limit = openLimit();
  for (let n = 0; n < LIMIT.burst; n++) await limit.countToken("a", ADDRESS);

  await assert.rejects(
    async () => limit.countToken("a", ADDRESS),
    (error: unknown) => {
      const { code, extras } = error as { code: string; extras: { retryAfterMs: number } };
      return code === "rate_limited" && extras.retryAfterMs > 0 && extras.retryAfterMs <= 1_000;
    },
  );
});

test("tokens are counted separately from each other and from addresses", async () => {
  const limit = openLimit();
  for (let n = 0; n < LIMIT.burst; n++) await limit.countToken("a", ADDRESS);
  for (let n = 0; n < LIMIT.burst; n++) await limit.countAddress(ADDRESS);
  await assert.rejects(async () => limit.countToken("a", ADDRESS), LIMITED);
  await assert.rejects(async () => limit.countAddress(ADDRESS), LIMITED);

  await limit.countToken("b", ADDRESS);
  await limit.countAddress("192.168.1.6");
});

test("a token name cannot be mistaken for an address", async () => {
  const limit = openLimit();
  for (let n = 0; n < LIMIT.burst; n++) await limit.countToken(ADDRESS, ADDRESS);

  await limit.countAddress(ADDRESS);
});

test("the addresses of one IPv6 network count as one", async () => {
  const limit = openLimit();

  for (let n = 0; n < LIMIT.burst; n++) await limit.countAddress(`2001:db8:0:7::${n}`);

  await assert.rejects(async () => limit.countAddress("2001:0db8:0000:0007:ffff:1:2:3"), LIMITED);
  await limit.countAddress("2001:db8:0:8::1");
});

test("wrong tokens limit only their own address for a minute", async () => {
  const log = collectedLog();
  const limit = new RateLimit(() => ({ ...LIMIT, perSecond: 1_000, burst: 1_000 }), log);
  for (let n = 0; n < 10; n++) await limit.countFailure(ADDRESS);

  for (let n = 0; n < 3; n++) {
    await assert.rejects(limit.countFailure(ADDRESS), (error: unknown) => {
      const { code, extras } = error as { code: string; extras: { retryAfterMs: number } };
      return code === "rate_limited" && extras.retryAfterMs > 50_000;
    });
  }

  await limit.countFailure("192.168.1.6");
  await limit.countToken("phone", ADDRESS);
  await limit.countAddress(ADDRESS);
  assert.deepEqual(
    log.records.map(({ fields }) => fields),
    [{ address: ADDRESS }],
    "it is said once",
  );
});

test("a hundred thousand addresses cost little memory and lock out no token", async () => {
  const limit = new RateLimit(() => ({ ...LIMIT, perSecond: 1e5, burst: 1e5 }), collectedLog());
  collectGarbage();
  const before = process.memoryUsage().heapUsed;

  for (let n = 0; n < 100_000; n++) {
    const network = `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`;
    await limit.countFailure(network).catch(() => undefined);
  }

  await limit.countToken("phone", ADDRESS);
  collectGarbage();
  const grownMiB = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  assert.ok(grownMiB < 32, `the heap has grown by ${grownMiB} MiB`);
});

test("callers on this machine are not limited, unless the config says otherwise", async () => {
  const open = new RateLimit(() => ({ ...LIMIT, loopback: false }), collectedLog());
  const addresses = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"];

  for (const address of addresses) for (let n = 0; n < 20; n++) await open.countFailure(address);

  for (const foreign of ["::ffff:192.168.1.5", "fe80::1%eth0", "10.0.0.1"]) {
    for (let n = 0; n < LIMIT.burst; n++) await open.countAddress(foreign);
    await assert.rejects(async () => open.countAddress(foreign), LIMITED);
  }
});

test("a change of the config applies immediately", async () => {
  let limits = LIMIT;
  const limit = new RateLimit(() => limits, collectedLog());
  for (let n = 0; n < LIMIT.burst; n++) await limit.countToken("a", ADDRESS);

  limits = { ...LIMIT, burst: 8 };

  for (let n = 0; n < 8; n++) await limit.countToken("a", ADDRESS);
  await assert.rejects(async () => limit.countToken("a", ADDRESS), LIMITED);
});

test("a limit below one request per second works", async () => {
  const limit = new RateLimit(() => ({ ...LIMIT, perSecond: 0.5, burst: 1 }), collectedLog());
  await limit.countToken("a", ADDRESS);

  await assert.rejects(async () => limit.countToken("a", ADDRESS), LIMITED);
});

test("the burst is the most that pass at once, also if it is below the rate", async (t) => {
  const advance = stopClock(t);
  let limits = { perSecond: 20, burst: 100, loopback: true };
  const limit = new RateLimit(() => limits, collectedLog());
  const passed = async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 150 }, async () => limit.countToken("a", ADDRESS)),
    );
    return results.filter(({ status }) => status === "fulfilled").length;
  };

  const counts = [await passed()];
  for (const waitMs of [1_000, 1_000, 50, 49, 5_000, 60_000]) {
    advance(waitMs);
    counts.push(await passed());
  }
  limits = { ...limits, burst: 5 };
  counts.push(await passed());

  assert.deepEqual(counts, [100, 20, 20, 1, 0, 100, 100, 5]);
});

test("clients that have not sent requests for long cost no memory", async (t) => {
  const advance = stopClock(t);
  const limit = openLimit();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;

  for (let n = 0; n < 50_000; n++) {
    advance(100);
    await limit.countToken(`token ${n}`, ADDRESS);
  }

  collectGarbage();
  const grownMiB = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  assert.ok(grownMiB < 4, `the heap has grown by ${grownMiB} MiB`);
});

/** Stops the clock that limits use. A mock of the test runner would record each of its calls. */
function stopClock(t: TestContext): (ms: number) => void {
  let atMs = 0;
  Object.defineProperty(performance, "now", { value: () => atMs, configurable: true });
  t.after(() => Reflect.deleteProperty(performance, "now"));
  return (ms) => void (atMs += ms);
}

function openLimit(): RateLimit {
  return new RateLimit(() => LIMIT, collectedLog());
}

/** Node gives its collector away only when asked (`--expose-gc`), which a running process may do too. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}
