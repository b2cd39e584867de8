import assert from "node:assert/strict";
import { test } from "node:test";
import { DEVICE_KINDS } from "@mantel/plugin-sdk/device";
import {
  CAPABILITY_WORDS,
  capabilityWord,
  CONTROL_TEXTS_DE,
  KIND_WORDS,
  VALUE_WORDS,
  valueWord,
} from "@mantel/plugin-sdk/ui/control-words";
import { DEVICE_TEXTS_DE } from "@mantel/plugin-sdk/ui/device-texts";
import { KINDS, READINGS } from "@mantel/plugin-sdk/vocabulary";

const CAPABILITIES = [...Object.values(KINDS).map((kind) => kind.capabilities), READINGS];

test("each kind, each capability and each value of the vocabulary has words", () => {
  const names = new Set(CAPABILITIES.flatMap((each) => Object.keys(each)));
  const values = CAPABILITIES.flatMap((each) => Object.values(each)).flatMap(
    (each) => each.values ?? [],
  );

  assert.deepEqual(Object.keys(KIND_WORDS).toSorted(), [...DEVICE_KINDS].toSorted());
  assert.deepEqual(Object.keys(CAPABILITY_WORDS).toSorted(), [...names].toSorted());
  for (const value of values) assert.ok(Object.hasOwn(VALUE_WORDS, value), value);
});

test("an English text has one German text", () => {
  const texts = new Map<string, string>(Object.entries(DEVICE_TEXTS_DE));
  const all = [
    ...Object.values(CAPABILITY_WORDS),
    ...Object.values(VALUE_WORDS),
    ...Object.entries(CONTROL_TEXTS_DE),
  ];
  for (const [english, german] of all) {
    assert.equal(texts.get(english) ?? german, german, english);
    texts.set(english, german);
  }
});

test("a name beyond the vocabulary is shown as words, and a value with its own capitals", () => {
  assert.equal(capabilityWord("powerOnBehavior"), "Power on behavior");
  assert.equal(capabilityWord("constructor"), "Constructor");
  assert.equal(valueWord("night mode"), "Night mode");
  assert.equal(valueWord("HDMI 1"), "HDMI 1");
});
