import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenBucket } from "../../../../host/dashboard/frames/token-bucket.ts";

test("a burst is allowed, and then as much as is added each second", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const bucket = new TokenBucket({ burst: 2, perSecond: 4 });
  const take = (times: number) => Array.from({ length: times }, () => bucket.has());

  const first = take(3);
  now += 249;
  const early = take(1);
  now += 1;
  const later = take(2);
  now += 60_000;

  assert.deepEqual([first, early, later], [[true, true, false], [false], [true, false]]);
  assert.deepEqual(take(3), [true, true, false]);
});

test("a request beyond the limit is refused with its name and code", (t) => {
  t.mock.method(performance, "now", () => 0);
  const bucket = new TokenBucket({ burst: 1, perSecond: 1 });
  bucket.take("scenes");

  assert.throws(() => bucket.take("scenes"), {
    code: "rate_limited",
    message: "the widget requests too many scenes",
  });
});
