import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as always, constantFrom, nat, property } from "fast-check";
import { HandoverBuffer } from "../../../plugin-sdk/mqtt/handover-buffer.ts";

const message = (text: string, at = 0, retained = false) => ({
  topic: "lamp",
  retained,
  at,
  payload: Buffer.from(text),
});

test("the next generation gets the messages after the handover, each exactly once", () => {
  const words = array(constantFrom("a", "b", "c", "d", "e"), { minLength: 20, maxLength: 60 });
  always(
    property(words, nat(19), nat(19), (said, joinsAt, more) => {
      const all = said.map((word, at) => message(word, at * 1_100));
      const stopsAt = Math.min(joinsAt + more, all.length);
      const [first, second] = [new HandoverBuffer(), new HandoverBuffer()];
      for (const each of all.slice(0, stopsAt)) first.accept(each);
      for (const each of all.slice(joinsAt)) second.add({ ...each, at: each.at + 5 }, true);

      const heard = second.takeAfter(first.lastReceived());

      const expected = all.slice(Math.max(stopsAt, joinsAt));
      assert.deepEqual(
        heard.map(({ at }) => at - 5),
        expected.map(({ at }) => at),
      );
    }),
  );
});

test("both generations get retained messages, and unwanted messages only serve the comparison", () => {
  const held = new HandoverBuffer();
  held.add(message("kept", 0, true), true);
  held.add(message("list"), false);
  held.add(message("press"), true);

  assert.deepEqual(
    held.takeAfter([]).map(({ payload }) => payload.toString()),
    ["kept", "press"],
  );
});

test("a message that the previous generation received earlier is not delivered again", () => {
  const all = Array.from({ length: 12 }, (_, at) => message(`press ${at}`, at));
  const [first, second] = [new HandoverBuffer(), new HandoverBuffer()];
  for (const each of all.slice(0, 10)) first.accept(each);
  for (const each of all.slice(0, 7)) second.add(each, true);

  assert.deepEqual(second.takeAfter(first.lastReceived()), []);

  const isNew = all.slice(7).map((each) => second.accept(each));
  assert.deepEqual(isNew, [false, false, false, true, true]);
});

test("an outdated retained message does not override a newer one from the previous generation", () => {
  const [first, second] = [new HandoverBuffer(), new HandoverBuffer()];
  const offline = message("offline", 0, true);
  const online = message("online", 1);
  for (const held of [first, second]) held.add(offline, true);
  first.takeAfter([]);
  first.accept(online);
  second.add(online, true);

  assert.deepEqual(second.takeAfter(first.lastReceived()), []);
});

test("without a previous generation all messages are delivered in order", () => {
  const held = new HandoverBuffer();
  const [offline, online] = [message("offline", 0, true), message("online", 1)];
  for (const each of [offline, online]) held.add(each, true);

  assert.deepEqual(held.takeAfter([]), [offline, online]);
});

test("a buffer of more than 8 MiB or 50,000 messages begins again, and unwanted ones have no size", () => {
  const half = Buffer.alloc(4 * 2 ** 20);
  const takeAll = (...payloads: (readonly [payload: Buffer, isWanted: boolean])[]) => {
    const held = new HandoverBuffer();
    for (const [payload, isWanted] of payloads) held.add({ ...message(""), payload }, isWanted);
    return held.takeAfter([]).length;
  };
  const tiny = [Buffer.from("x"), true] as const;

  assert.equal(takeAll([half, true], [half, true]), 2);
  assert.equal(takeAll([half, true], [half, true], tiny), 1);
  assert.equal(takeAll([half, true], [half, false], [half, false], tiny), 2);
  assert.equal(takeAll(...Array.from({ length: 50_000 }, () => tiny)), 50_000);
  assert.equal(takeAll(...Array.from({ length: 50_001 }, () => tiny)), 1);
});

test("the last 16 messages that were not retained are handed over, oldest first", () => {
  const first = new HandoverBuffer();
  first.accept(message("kept", 0, true));
  for (let at = 1; at <= 100; at++) first.accept(message(`${at}`, at));

  assert.deepEqual(
    first.lastReceived().map(([at, topic]) => [at, topic]),
    Array.from({ length: 16 }, (_, index) => [85 + index, "lamp"]),
  );
});

for (const [what, other] of [
  ["another payload", { payload: Buffer.from("other") }],
  ["another topic", { topic: "plug" }],
  ["a second later", { at: 1_003 }],
] as const) {
  test(`a message with ${what} is a new one`, () => {
    const [first, second] = [new HandoverBuffer(), new HandoverBuffer()];
    first.accept(message("press", 3));
    const arrived = { ...message("press", 3), ...other };
    second.add(arrived, true);

    assert.deepEqual(second.takeAfter(first.lastReceived()), [arrived]);
  });
}

test("a retained message is delivered after the start, also while older ones are compared", () => {
  const [first, second] = [new HandoverBuffer(), new HandoverBuffer()];
  for (const at of [1, 2, 3]) first.accept(message(`${at}`, at));
  second.add(message("1", 1), true);
  second.takeAfter(first.lastReceived());

  assert.equal(second.accept(message("2", 2, true)), true);
  assert.equal(second.accept(message("2", 2)), false);
  assert.equal(second.accept(message("new", 3)), true);
  assert.equal(second.accept(message("3", 3)), true);
});

test("a message is recognized only together with those before it", () => {
  const [first, second] = [new HandoverBuffer(), new HandoverBuffer()];
  for (const [at, text] of ["a", "press"].entries()) first.accept(message(text, at));
  const arrived = ["b", "press"].map((text, at) => message(text, at));
  for (const each of arrived) second.add(each, true);

  assert.deepEqual(second.takeAfter(first.lastReceived()), arrived);
});
