import assert from "node:assert/strict";
import { test } from "node:test";
import {
  argumentsOf,
  formatMessage,
  type MessageValue,
  parseMessage,
} from "../../../../host/dashboard/i18n/message.ts";

const LAMPS = "{0, plural, =0 {aucune lampe} one {# lampe allumée} other {# lampes allumées}}";

test("a plural follows the rules of the language, and writes its number as usual there", () => {
  const french = [0, 1, 2, 1500].map((count) => said(LAMPS, [count], "fr"));
  const polish = [1, 3, 5].map((count) =>
    said("{0, plural, one {# lampa} few {# lampy} many {# lamp} other {# lampy}}", [count], "pl"),
  );

  assert.deepEqual(french, [
    "aucune lampe",
    "1 lampe allumée",
    "2 lampes allumées",
    "1 500 lampes allumées",
  ]);
  assert.deepEqual(polish, ["1 lampa", "3 lampy", "5 lamp"]);
});

test("a choice has its own text, one for an empty value, and one for all others", () => {
  const text = "{0, select, empty {rien} true {oui} other {peut-être {0}}}";

  assert.deepEqual(
    ["", undefined, true, "x"].map((value) => said(text, [value])),
    ["rien", "rien", "oui", "peut-être x"],
  );
});

test("an argument without a value stays, and a number is written as usual in the language", () => {
  assert.equal(said("{0} et {1}", ["lui"]), "lui et {1}");
  assert.equal(said("{0, number}", [12345.5], "de"), "12.345,5");
});

test("braces and signs that form no argument are text", () => {
  for (const text of ["a } b", "{ not an argument", "{a b}", "n° #3", ""]) {
    assert.equal(said(text, []), text);
  }
});

test("the names of all arguments are known, also inside plurals", () => {
  const names = argumentsOf(
    parseMessage("{0, plural, one {{1}} other {{2, select, other {{3}}}}}"),
  );

  assert.deepEqual([...names], ["0", "1", "2", "3"]);
});

test("a text with a broken argument is refused with what is wrong", () => {
  const faults = {
    "{0, plural, one {x}}": /needs “other”/,
    "{0, plural, other {x}": /“}” is missing|is not a choice/,
    "{0, plural}": /“,” is missing/,
    "{0, date}": /unknown form “date”/,
    "{0, select, a b {x} other {y}}": /“{” is missing/,
    "{0, number": /“}” is missing/,
    "{0,plural,other{{0,plural,other{{0,plural,other{{0,plural,other{{0,plural,other{x}}}}}}}}}}":
      /too many braces/,
  };
  for (const [text, reason] of Object.entries(faults)) {
    assert.throws(() => parseMessage(text), reason, text);
  }
});

function said(text: string, values: readonly MessageValue[], locale = "fr"): string {
  const plain = formatMessage(parseMessage(text), (name) => values[Number(name)], locale);
  return plain.replaceAll(/[\u00A0\u202F]/g, " ");
}
