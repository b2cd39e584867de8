import assert from "node:assert/strict";
import { test } from "node:test";
import { checkTexts } from "../../scripts/languages/check-texts.ts";

const ENGLISH = {
  stop: "Stop",
  named: "{name} open",
  forms: "a | b",
  left: (count: number) => `${count} left`,
  kind: (name: string, isNew: boolean) => (isNew ? `new ${name}` : name),
};
const FRENCH = {
  stop: "Arrêt",
  named: "{name} ouvert",
  forms: "un | deux",
  left: "{0, plural, one {# restant} other {{0} restants}}",
  kind: "{1, select, true {nouveau {0}} other {{0}}}",
};

test("a complete table has no faults", () => {
  assert.deepEqual(checkTexts(ENGLISH, FRENCH), []);
});

test("missing and unknown texts are named, with the English text", () => {
  const { stop: _, ...texts } = FRENCH;

  assert.deepEqual(checkTexts(ENGLISH, { ...texts, stopp: "Arrêt" }), [
    "“stop” is missing: Stop",
    "“stopp” is unknown",
  ]);
  assert.deepEqual(checkTexts(ENGLISH, texts, { isWhole: false }), []);
});

test("texts whose placeholders are not those of the English text are named", () => {
  const faults = checkTexts(ENGLISH, {
    stop: " ",
    named: "ouvert",
    forms: "un",
    left: "{0} de {1}",
    kind: "{1, select, true {x}}",
  });

  assert.deepEqual(faults, [
    "“stop” is empty: Stop",
    "“named” lacks {name}: {name} open",
    "“forms” has too few forms between bars: a | b",
    "“left” has {1}, which nothing fills in: {0} left",
    "“kind” is not valid, a plural or select needs “other”: new {0}",
  ]);
});
