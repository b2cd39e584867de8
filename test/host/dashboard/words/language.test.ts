import assert from "node:assert/strict";
import { test } from "node:test";
import { effect } from "@preact/signals-core";
import { attentionOf } from "../../../../host/dashboard/attention.ts";
import { inEachLanguage, speak } from "../../../../host/dashboard/words/language.ts";

const TABLE = { stop: "Stop", left: (count: number) => `${count} left` };
const GERMAN = { left: (count: number) => `noch ${count}` };

test("a text is said in the spoken language, and in English where the translation lacks it", (t) => {
  t.after(() => speak("en"));
  const words = inEachLanguage(TABLE, { de: GERMAN });

  speak("de-AT");
  const german = [words.value.stop, words.value.left(2)];
  speak("fr-FR");
  const french = [words.value.stop, words.value.left(2)];

  assert.deepEqual(german, ["Stop", "noch 2"]);
  assert.deepEqual(french, ["Stop", "2 left"]);
});

test("what has read words is drawn again in another language", (t) => {
  t.after(() => speak("en"));
  const drawn: string[] = [];
  const words = inEachLanguage(TABLE, { de: GERMAN });
  t.after(effect(() => void drawn.push(words.value.left(1))));

  speak("DE");

  assert.deepEqual(drawn, ["1 left", "noch 1"]);
});

test("a locale that is named like something every object has is English", (t) => {
  t.after(() => speak("en"));
  const words = inEachLanguage(TABLE, { de: GERMAN });

  speak("constructor");

  assert.equal(words.value.stop, "Stop");
});

test("the header says in German what needs a look", (t) => {
  t.after(() => speak("en"));
  const door = { kind: "lock", available: true, name: "Haustür", state: { locked: false } };

  speak("de");

  assert.deepEqual(
    attentionOf([door] as never).map(({ text, name }) => [text, name]),
    [["{name} entriegelt", "Haustür"]],
  );
});
