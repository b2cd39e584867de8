import assert from "node:assert/strict";
import { test } from "node:test";
import { Subscriptions } from "../../../plugin-sdk/mqtt/subscriptions.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

function open() {
  const log = collectedLog();
  return { log, subscriptions: new Subscriptions(log) };
}

for (const [filter, topic, matches] of [
  ["home/lamp", "home/lamp", true],
  ["home/lamp", "home/lamps", false],
  ["home/lamp", "home", false],
  ["home/+", "home/lamp", true],
  ["home/+", "home/", true],
  ["home/+", "home", false],
  ["home/+", "home/lamp/set", false],
  ["+/lamp", "home/lamp", true],
  ["+/lamp", "home/plug", false],
  ["home/+/set", "home/lamp/set", true],
  ["home/+/set", "home/lamp/get", false],
  ["home/#", "home/lamp/set", true],
  ["home/#", "home", true],
  ["home/#", "house/lamp", false],
  ["#", "home/lamp", true],
  ["#", "$SYS/load", false],
  ["+/load", "$SYS/load", false],
  ["$SYS/#", "$SYS/load", true],
] as const) {
  test(`the filter ${filter} ${matches ? "matches" : "does not match"} the topic ${topic}`, () => {
    const { subscriptions } = open();
    const heard: unknown[] = [];
    subscriptions.add(filter, (...message) => heard.push(message));

    subscriptions.receive(topic, Buffer.from("x"), true);

    assert.deepEqual(heard, matches ? [[topic, Buffer.from("x"), true]] : []);
  });
}

test("filters are named once, and are the last until the last of their subscriptions is removed", () => {
  const { subscriptions } = open();
  for (const filter of ["a", "b/+"]) {
    const [first, second] = [1, 2].map(() => subscriptions.add(filter, () => undefined));

    assert.deepEqual(subscriptions.filters, [filter]);
    assert.equal(first?.(), false);
    assert.deepEqual(subscriptions.filters, [filter]);
    assert.equal(second?.(), true);
    assert.deepEqual(subscriptions.filters, []);
    assert.equal(second?.(), false);
  }
});

test("subscriptions to another filter do not keep one alive, and none hears after its removal", () => {
  const { subscriptions } = open();
  const heard: string[] = [];
  const removals = ["a/+", "b/+", "a/x"].map((filter) =>
    subscriptions.add(filter, () => heard.push(filter)),
  );

  assert.deepEqual(
    removals.map((remove) => remove()),
    [true, true, true],
  );
  subscriptions.receive("a/x", Buffer.from(""), false);

  assert.deepEqual(heard, []);
});

test("every matching subscription hears a message, also when the handler of another fails", () => {
  const { subscriptions, log } = open();
  const heard: string[] = [];
  const error = new Error("broken");
  subscriptions.add("a", () => {
    throw error;
  });
  subscriptions.add("a", () => heard.push("a"));
  subscriptions.add("#", () => heard.push("#"));

  subscriptions.receive("a", Buffer.from(""), false);

  assert.deepEqual(heard, ["a", "#"]);
  assert.deepEqual(
    log.records.map(({ sentence, fields }) => [sentence, fields]),
    [["the handler of an MQTT message failed", { topic: "a", error, count: 1 }]],
  );
});

test("a message longer than the subscription takes is dropped and counted, and others hear it", () => {
  const { subscriptions, log } = open();
  const heard: string[] = [];
  const dropped: unknown[] = [];
  subscriptions.add("a", () => heard.push("usual"));
  subscriptions.add("a", () => heard.push("short"), {
    maxBytes: 3,
    onTooLong: (...about) => dropped.push(about),
  });

  subscriptions.receive("a", Buffer.from("four"), false);
  subscriptions.receive("a", Buffer.from("two"), false);

  assert.deepEqual(heard, ["usual", "usual", "short"]);
  assert.deepEqual(dropped, [["a", 4]]);
  assert.equal(log.records[0]?.sentence, "MQTT message dropped: too long");
});

test("a subscription takes 256 KiB unless it says otherwise", () => {
  const { subscriptions } = open();
  const heard: number[] = [];
  subscriptions.add("a", (_, payload) => heard.push(payload.length));

  for (const bytes of [262_144, 262_145]) subscriptions.receive("a", Buffer.alloc(bytes), false);

  assert.deepEqual(heard, [262_144]);
});

test("a repeated fault is logged at 1, 10, 100 and so on, with a topic of at most 200 characters", () => {
  const { subscriptions, log } = open();
  const topic = "t".repeat(201);
  subscriptions.add(topic, () => undefined, { maxBytes: 0 });

  for (let at = 0; at < 120; at++) subscriptions.receive(topic, Buffer.from("x"), false);

  assert.deepEqual(
    log.records.map(({ fields }) => fields),
    [1, 10, 100].map((count) => ({ topic: "t".repeat(200), bytes: 1, count })),
  );
});
