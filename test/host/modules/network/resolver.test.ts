import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Resolver } from "../../../../host/modules/process/network/resolver.ts";

/** A resolver in the test's time; `asked` are the names that it looks up, in order, which `answer` ends. */
function openResolver(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const time = { now: 5_500 };
  t.mock.method(performance, "now", () => time.now);
  const asked: string[] = [];
  const ends: ((fails: boolean) => void)[] = [];
  t.mock.method(dns, "lookup", (host: string) => {
    asked.push(host);
    return new Promise((resolve, reject) =>
      ends.push((fails) => (fails ? reject(new Error("ENOTFOUND")) : resolve([{ address: host }]))),
    );
  });
  const answer = async (at: number, fails = false) => {
    ends[at]?.(fails);
    for (let turn = 0; turn < 2; turn++) await setImmediate();
  };
  return { resolver: new Resolver(), time, asked, answer };
}

const messageOf = (answer: unknown) => (answer as { message?: string }).message;

test("two look-ups run at once, and the others follow in order, also after one failed", async (t) => {
  const { resolver, asked, answer } = openResolver(t);

  const found = ["a", "b", "c", "d", "e"].map((host) => resolver.lookUp(host, 0));
  await setImmediate();
  assert.deepEqual(asked, ["a", "b"]);
  await answer(1, true);
  assert.deepEqual(asked, ["a", "b", "c"]);
  await answer(0);
  assert.deepEqual(asked, ["a", "b", "c", "d"]);
  for (const at of [2, 3, 4]) await answer(at);

  const [a, b, , , e] = await Promise.all(found);
  assert.deepEqual([a, messageOf(b), e], [[{ address: "a" }], "ENOTFOUND", [{ address: "e" }]]);
  void resolver.lookUp("f", 0);
  void resolver.lookUp("g", 0);
  await setImmediate();
  assert.deepEqual(asked.slice(5), ["f", "g"]);
});

test("64 look-ups may wait, and a further one fails at once", async (t) => {
  const { resolver, time, answer, asked } = openResolver(t);
  for (let at = 0; at < 66; at++) {
    if (at === 40) time.now += 1_000;
    void resolver.lookUp(`${at}`, 0);
  }
  await setImmediate();

  const refused = await resolver.lookUp("late", 0);
  assert.equal(messageOf(refused), "getaddrinfo EAI_AGAIN late - 64 lookups already wait");
  await answer(0);
  void resolver.lookUp("next", 0);
  await answer(1);

  assert.deepEqual(asked, ["0", "1", "2", "3"]);
});

test("a second has 50 look-ups, and the next second has 50 more", async (t) => {
  const { resolver, time } = openResolver(t);
  t.mock.method(dns, "resolve", async () => ["192.0.2.1"]);
  const look = async (times: number) => {
    const answers = [];
    for (let at = 0; at < times; at++) answers.push(await resolver.records("a", "A", false));
    return answers.filter((each) => !Array.isArray(each)).length;
  };

  assert.equal(await look(51), 1);
  time.now = 5_999;
  assert.equal(await look(1), 1);
  time.now = 6_000;
  assert.equal(await look(51), 1);
});

test("a look-up without an answer fails after 15 seconds, and says so", async (t) => {
  const { resolver } = openResolver(t);
  const states: unknown[] = [];
  const found = resolver.lookUp("dead.example", 0).then((each) => states.push(messageOf(each)));

  t.mock.timers.tick(14_999);
  await setImmediate();
  assert.deepEqual(states, []);
  t.mock.timers.tick(1);
  await found;

  assert.deepEqual(states, ["getaddrinfo EAI_AGAIN dead.example - no answer in 15000 ms"]);
});

test("addresses are looked up in the family that the process wants", async (t) => {
  const lookup = t.mock.method(dns, "lookup", async () => []);

  await new Resolver().lookUp("a.example", 6);

  assert.deepEqual(lookup.mock.calls[0]?.arguments, ["a.example", { all: true, family: 6 }]);
});

for (const [type, ttl, method, given] of [
  ["A", true, "resolve4", ["a.example", { ttl: true }]],
  ["AAAA", true, "resolve6", ["a.example", { ttl: true }]],
  ["A", false, "resolve", ["a.example", "A"]],
  ["AAAA", false, "resolve", ["a.example", "AAAA"]],
  ["MX", true, "resolve", ["a.example", "MX"]],
] as const) {
  test(`records of type ${type}${ttl ? " with their time to live" : ""} are asked for by ${method}`, async (t) => {
    const asked: unknown[][] = [];
    for (const name of ["resolve", "resolve4", "resolve6"] as const) {
      const ask = async (...how: unknown[]) => (asked.push([name, ...how]), [name]);
      t.mock.method(dns, name, ask as never);
    }

    assert.deepEqual(await new Resolver().records("a.example", type, ttl), [method]);

    assert.deepEqual(asked, [[method, ...given]]);
  });
}

test("a record that is not a list is one record", async (t) => {
  t.mock.method(dns, "resolve", (async () => ({ nsname: "ns.example" })) as never);

  const records = await new Resolver().records("a.example", "SOA", false);

  assert.deepEqual(records, [{ nsname: "ns.example" }]);
});
