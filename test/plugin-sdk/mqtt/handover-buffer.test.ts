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
