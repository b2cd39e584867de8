import assert from "node:assert/strict";
import { test } from "node:test";
import { RateLimit } from "../../../host/http/rate-limit.ts";

const LIMIT = { perSecond: 2, burst: 3, loopback: true };
const ADDRESS = "192.168.1.5";

test("a client has its burst, and then an error that says when to come back", async () => {
  const limit = new RateLimit(() => LIMIT);
  for (let n = 0; n < 5; n++) await limit.count("a", ADDRESS);

  await assert.rejects(limit.count("a", ADDRESS), (error: unknown) => {
    const { code, extras } = error as { code: string; extras: { retryAfterMs: number } };
    return code === "rate_limited" && extras.retryAfterMs > 0 && extras.retryAfterMs <= 1_000;
  });
});

test("clients are counted apart", async () => {
  const limit = new RateLimit(() => LIMIT);
  for (let n = 0; n < 5; n++) await limit.count("a", ADDRESS);

  await limit.count("b", ADDRESS);
});

test("callers on this machine are let through unless the config says otherwise", async () => {
  const open = new RateLimit(() => ({ ...LIMIT, loopback: false }));
  const addresses = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"];

  for (const address of addresses) for (let n = 0; n < 10; n++) await open.count("a", address);

  for (const foreign of ["::ffff:192.168.1.5", "fe80::1", "10.0.0.1"]) {
    const client = `client at ${foreign}`;
    for (let n = 0; n < 5; n++) await open.count(client, foreign);
    await assert.rejects(open.count(client, foreign), { code: "rate_limited" });
  }
});

test("a change of the config counts at once", async () => {
  let limits = LIMIT;
  const limit = new RateLimit(() => limits);
  for (let n = 0; n < 5; n++) await limit.count("a", ADDRESS);

  limits = { ...LIMIT, burst: 100 };

  await limit.count("a", ADDRESS);
});

test("a rate below one per second lets one through", async () => {
  const limit = new RateLimit(() => ({ perSecond: 0.5, burst: 1, loopback: true }));

  await limit.count("a", ADDRESS);
  await limit.count("a", ADDRESS);

  await assert.rejects(limit.count("a", ADDRESS), { code: "rate_limited" });
});
