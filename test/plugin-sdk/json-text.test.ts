import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJsonText } from "../../plugin-sdk/json-text.ts";

const messageFor = (text: string): string => {
  try {
    parseJsonText(text, "config.json");
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
};

test("a byte-order mark is allowed", () => {
  assert.deepEqual(parseJsonText('\uFEFF{"a":1}', "config.json"), { a: 1 });
});

test("the message contains line and column of the fault", () => {
  assert.match(
    messageFor('{\n  "a": 1,\n  "b": x\n}'),
    /^config\.json is not valid JSON at line 3, column 8: /,
  );
  assert.match(
    messageFor('{"a": 1,}'),
    /at line 1, column 9: expected double-quoted property name$/,
  );
  assert.match(messageFor('{\n"a": 1\n"b": 2}'), /at line 3, column 1: /);
  assert.match(messageFor('{\n"a": 1\n'), /at line 3, column 1: expected/);
  assert.match(messageFor(""), /at line 1, column 1: unexpected end of it$/);
});

test("the message does not quote the text", () => {
  assert.doesNotMatch(messageFor('{"password": canary, "canary": "canary"}'), /canary/);
  assert.doesNotMatch(messageFor('{"password": "canary'), /canary/);
});

test("a document with a fault is invalid, with the same words for the client", () => {
  assert.throws(() => parseJsonText('{"a": x}', "config.json"), {
    code: "invalid",
    message: "config.json is not valid JSON at line 1, column 7: unexpected character",
    extras: {
      errors: [
        { pointer: "", detail: "is not valid JSON at line 1, column 7: unexpected character" },
      ],
    },
  });
});

test("a byte-order mark is allowed at the beginning only", () => {
  assert.notEqual(messageFor('{"a":\uFEFF1}'), "");
});
