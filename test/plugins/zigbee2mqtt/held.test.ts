import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as always, constantFrom, nat, property } from "fast-check";
import { Held } from "../../../plugins/zigbee2mqtt/held.ts";

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
