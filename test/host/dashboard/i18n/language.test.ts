import assert from "node:assert/strict";
import { test } from "node:test";
import { effect } from "@preact/signals-core";
import { headerAlerts } from "../../../../host/dashboard/header-alerts.ts";
import { translated, setLocale } from "../../../../host/dashboard/i18n/language.ts";

const TABLE = { stop: "Stop", left: (count: number) => `${count} left` };
const GERMAN = { left: (count: number) => `noch ${count}` };

test("a text is shown in the chosen language, or in English without a translation", (t) => {
  t.after(() => setLocale("en"));
  const words = translated("test", TABLE, { de: GERMAN });

  setLocale("de-AT");
  const german = [words.value.stop, words.value.left(2)];
  setLocale("fr-FR");
  const french = [words.value.stop, words.value.left(2)];

  assert.deepEqual(german, ["Stop", "noch 2"]);
  assert.deepEqual(french, ["Stop", "2 left"]);
});

test("effects that read texts run again when the language changes", (t) => {
  t.after(() => setLocale("en"));
  const drawn: string[] = [];
  const words = translated("test", TABLE, { de: GERMAN });
  t.after(effect(() => void drawn.push(words.value.left(1))));

  setLocale("DE");

  assert.deepEqual(drawn, ["1 left", "noch 1"]);
});

test("a locale named like an inherited property falls back to English", (t) => {
  t.after(() => setLocale("en"));
  const words = translated("test", TABLE, { de: GERMAN });

  setLocale("constructor");

  assert.equal(words.value.stop, "Stop");
});

test("the header shows its alerts in German", (t) => {
  t.after(() => setLocale("en"));
  const door = { kind: "lock", available: true, name: "Haustür", state: { locked: false } };

  setLocale("de");

  assert.deepEqual(
    headerAlerts([door] as never).map(({ text, name }) => [text, name]),
    [["{name} entriegelt", "Haustür"]],
  );
});
