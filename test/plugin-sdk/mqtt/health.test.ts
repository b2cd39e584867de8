import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Health } from "../../../plugin-sdk/mqtt/health.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

const NOISE = { what: "a message", why: "it is not JSON", where: "hall/lamp" };

/** A bridge that says why it does not work, and all that people have heard. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const log = collectedLog();
  const heard: (string | undefined)[] = [];
  const reportDegraded = (sentence: string | undefined) => void heard.push(sentence);
  const health = new Health({ reportDegraded, log }, ["broker", "host"]);
  return { health, heard, log };
}

test("people hear of the most important reason, and only of changes", (t) => {
  const { health, heard } = open(t);
  health.speak();

  health.set("host", "the host is full");
  health.set("broker", "the broker is away");
  health.set("host", undefined);
  health.set("broker", undefined);
  health.set("broker", undefined);

  assert.deepEqual(heard, ["the host is full", "the broker is away", undefined]);
});

test("before it speaks nobody hears, and then what is so", (t) => {
  const { health, heard } = open(t);

  health.set("broker", "the broker is away");
  assert.deepEqual(heard, []);
  health.speak();

  assert.deepEqual(heard, ["the broker is away"]);
});

test("what is left out is shown at each tenfold, until a minute without any", (t) => {
  const { health, heard, log } = open(t);
  health.speak();

  for (let at = 0; at < 50; at++) health.leaveOut(NOISE);
  t.mock.timers.tick(59_000);
  health.leaveOut({ ...NOISE, where: "w".repeat(500) });
  t.mock.timers.tick(59_000);
  assert.equal(heard.length, 2);
  t.mock.timers.tick(1_000);

  assert.deepEqual(heard, [
    "1 message was left out; the last, hall/lamp: it is not JSON",
    "10 messages were left out; the last, hall/lamp: it is not JSON",
    undefined,
  ]);
  assert.deepEqual(
    log.records.map(({ sentence, fields }) => [sentence, fields["count"]]),
    [1, 10].map((count) => ["a message was left out", count]),
  );
});

test("what was left out is shown after a reason that came between is over", (t) => {
  const { health, heard } = open(t);
  health.speak();

  health.set("broker", "the broker is away");
  health.leaveOut(NOISE);
  health.set("broker", undefined);

  assert.match(heard.at(-1) ?? "", /^1 message was left out/);
});

test("kinds of what is left out are bounded, and what many are counted at once is logged once", (t) => {
  const { health, log } = open(t);

  for (let at = 0; at < 1_000; at++) health.count({ ...NOISE, why: `it is the ${at}th` });
  health.count(NOISE, 10_000);

  assert.equal(log.records.length, 200);
  health.count({ ...NOISE, why: "it is the 1th" }, 10_000);
  assert.equal(log.records.at(-1)?.fields["count"], 10_001);
});
