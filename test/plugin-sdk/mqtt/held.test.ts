import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as always, constantFrom, nat, property } from "fast-check";
import { Held } from "../../../plugin-sdk/mqtt/held.ts";

const message = (text: string, at = 0, retained = false) => ({
  ...{ topic: "lamp", retained, at },
  payload: Buffer.from(text),
});

test("the next listener hears what came after the last one stopped, and nothing twice", () => {
  const words = array(constantFrom("a", "b", "c", "d", "e"), { minLength: 20, maxLength: 60 });
  always(
    property(words, nat(19), nat(19), (said, joinsAt, more) => {
      const all = said.map((word, at) => message(word, at * 1_100));
      const stopsAt = Math.min(joinsAt + more, all.length);
      const [first, second] = [new Held(), new Held()];
      for (const each of all.slice(0, stopsAt)) first.note(each);
      for (const each of all.slice(joinsAt)) second.keep({ ...each, at: each.at + 5 }, true);

      const heard = second.after(first.heard());

      const expected = all.slice(Math.max(stopsAt, joinsAt));
      assert.deepEqual(
        heard.map(({ at }) => at - 5),
        expected.map(({ at }) => at),
      );
    }),
  );
});

test("what is retained comes to each, and what nobody wants only counts for its place", () => {
  const held = new Held();
  held.keep(message("kept", 0, true), true);
  held.keep(message("list"), false);
  held.keep(message("press"), true);

  assert.deepEqual(
    held.after([]).map(({ payload }) => payload.toString()),
    ["kept", "press"],
  );
});

test("what the last listener had heard before it came here is not heard again", () => {
  const all = Array.from({ length: 12 }, (_, at) => message(`press ${at}`, at));
  const [first, second] = [new Held(), new Held()];
  for (const each of all.slice(0, 10)) first.note(each);
  for (const each of all.slice(0, 7)) second.keep(each, true);

  assert.deepEqual(second.after(first.heard()), []);

  const isNew = all.slice(7).map((each) => second.note(each));
  assert.deepEqual(isNew, [false, false, false, true, true]);
});

test("what was retained and then replaced does not undo what the last listener heard", () => {
  const [first, second] = [new Held(), new Held()];
  const offline = message("offline", 0, true);
  const online = message("online", 1);
  for (const held of [first, second]) held.keep(offline, true);
  first.after([]);
  first.note(online);
  second.keep(online, true);

  assert.deepEqual(second.after(first.heard()), []);
});

test("without a listener before, all is heard in its order", () => {
  const held = new Held();
  const [offline, online] = [message("offline", 0, true), message("online", 1)];
  for (const each of [offline, online]) held.keep(each, true);

  assert.deepEqual(held.after([]), [offline, online]);
});
