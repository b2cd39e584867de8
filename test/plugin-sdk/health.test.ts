import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Health } from "../../plugin-sdk/health.ts";
import { collectedLog } from "../helpers/collected-log.ts";

const NOISE = { what: "a message", why: "it is not JSON", where: "hall/lamp" };

/** A bridge that says why it does not work, and all that people have heard. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const log = collectedLog();
  const heard: (string | undefined)[] = [];
  const status = {
    ok: () => void heard.push(undefined),
    degraded: (sentence: string) => void heard.push(sentence),
  };
  const health = new Health({ status, log }, ["broker", "host"]);
  return { health, heard, log };
}

test("only the most important reason is reported, and only when it changes", (t) => {
  const { health, heard } = open(t);
  health.startReporting();

  health.set("host", "the host is full");
  health.set("broker", "the broker is away");
  health.set("host", undefined);
  health.set("broker", undefined);
  health.set("broker", undefined);

  assert.deepEqual(heard, ["the host is full", "the broker is away", undefined]);
});

test("nothing is reported before startReporting(), and then the current reason", (t) => {
  const { health, heard } = open(t);

  health.set("broker", "the broker is away");
  assert.deepEqual(heard, []);
  health.startReporting();

  assert.deepEqual(heard, ["the broker is away"]);
});

test("ignored messages are reported at 1, 10, 100 and so on, until a minute without any", (t) => {
  const { health, heard, log } = open(t);
  health.startReporting();

  for (let at = 0; at < 50; at++) health.countIgnored(NOISE);
  t.mock.timers.tick(59_000);
  health.countIgnored({ ...NOISE, where: "w".repeat(500) });
  t.mock.timers.tick(59_000);
  assert.equal(heard.length, 2);
  t.mock.timers.tick(1_000);

  assert.deepEqual(heard, [
    "1 message was ignored; the last, hall/lamp: it is not JSON",
    "10 messages were ignored; the last, hall/lamp: it is not JSON",
    undefined,
  ]);
  assert.deepEqual(
    log.records.map(({ sentence, fields }) => [sentence, fields["count"]]),
    [1, 10].map((count) => ["a message was ignored", count]),
  );
});

test("tolerated messages are only logged, and more within a quiet period are reported", (t) => {
  const { log, heard } = open(t);
  const status = { ok: () => undefined, degraded: (sentence: string) => void heard.push(sentence) };
  const health = new Health({ status, log }, ["broker"], 3);
  health.startReporting();

  for (let at = 0; at < 3; at++) health.countIgnored(NOISE);
  t.mock.timers.tick(60_000);
  for (let at = 0; at < 3; at++) health.countIgnored(NOISE);
  assert.deepEqual(heard, []);
  assert.deepEqual(
    log.records.map(({ sentence }) => sentence),
    ["a message was ignored"],
  );
  for (let at = 0; at < 7; at++) health.countIgnored(NOISE);

  assert.deepEqual(heard, [
    "4 messages were ignored; the last, hall/lamp: it is not JSON",
    "10 messages were ignored; the last, hall/lamp: it is not JSON",
  ]);
});

test("ignored messages are reported again after another reason has ended", (t) => {
  const { health, heard } = open(t);
  health.startReporting();

  health.set("broker", "the broker is away");
  health.countIgnored(NOISE);
  health.set("broker", undefined);

  assert.match(heard.at(-1) ?? "", /^1 message was ignored/);
});

test("the kinds of ignored items are limited, and several items counted at once are logged once", (t) => {
  const { health, log } = open(t);

  for (let at = 0; at < 1_000; at++) health.count({ ...NOISE, why: `it is the ${at}th` });
  health.count(NOISE, 10_000);

  assert.equal(log.records.length, 200);
  health.count({ ...NOISE, why: "it is the 1th" }, 10_000);
  assert.equal(log.records.at(-1)?.fields["count"], 10_001);
});

test("long places and reasons are cut", (t) => {
  const { health, heard, log } = open(t);
  health.startReporting();

  health.countIgnored({ what: "a message", why: "y".repeat(400), where: "w".repeat(400) });

  assert.deepEqual(heard, [
    `1 message was ignored; the last, ${"w".repeat(100)}: ${"y".repeat(400)}`,
  ]);
  assert.deepEqual(log.records[0]?.fields, {
    reason: "y".repeat(300),
    where: "w".repeat(200),
    count: 1,
  });
});

test("nothing is reported after the end", (t) => {
  const { health, heard } = open(t);
  health.startReporting();
  health.countIgnored(NOISE);

  health.close();
  t.mock.timers.tick(60_000);

  assert.equal(heard.length, 1);
});
