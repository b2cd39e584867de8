import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseFromFrame } from "../../../../host/dashboard/frames/from-frame.ts";

const send = (message: unknown): unknown => parseFromFrame(JSON.stringify(message));

test("a valid message of a frame is accepted unchanged", () => {
  const command = { kind: "command", call: 1, device: "hue:light:1", command: { on: true } };
  assert.deepEqual(send(command), command);
  assert.deepEqual(send({ kind: "ready" }), { kind: "ready" });
});

const WRONG: Readonly<Record<string, unknown>> = {
  "an object that was cloned": { kind: "ready" },
  "no text": undefined,
  "no JSON": "{",
  "no record": '["ready"]',
  "an unknown kind": '{"kind":"evaluate","code":"1"}',
  "a kind that every object has": '{"kind":"constructor"}',
  "a call that is not a number": '{"kind":"read","call":"1","path":"/photos"}',
  "a call that is not a whole number": '{"kind":"read","call":1.5,"path":"/photos"}',
  "a command that is a list": '{"kind":"command","call":1,"device":"a","command":[]}',
  "a name of an icon that leads elsewhere": '{"kind":"icon","name":"../../api"}',
  "a height that is negative": '{"kind":"height","px":-1}',
  "a height beyond any page": '{"kind":"height","px":1e9}',
  "details of nothing": '{"kind":"details","target":{},"box":{"x":0,"y":0,"width":1,"height":1}}',
  "details at no place": '{"kind":"details","target":{"device":"a"},"box":{"x":"0"}}',
  "details far outside":
    '{"kind":"details","target":{"room":""},"box":{"x":1e9,"y":0,"width":1,"height":1}}',
  "a room's devices of no kind":
    '{"kind":"commandRoom","call":1,"room":"","device":"constructor","command":{}}',
  "a long reason": JSON.stringify({ kind: "fault", message: "x".repeat(1_001) }),
  "a long text": JSON.stringify({ kind: "announce", text: "x".repeat(300_000) }),
  "a deep command": `{"kind":"command","call":1,"device":"a","command":${'{"a":'.repeat(50)}1${"}".repeat(50)}}`,
  "a depth hidden by brackets in texts": `{"kind":"command","call":1,"device":"a","command":{"a":${'["]]",'.repeat(50)}1${"]".repeat(50)}}}`,
};

for (const [what, data] of Object.entries(WRONG)) {
  test(`refuses ${what}`, () => {
    assert.throws(() => parseFromFrame(data), Error);
  });
}

test("any data is accepted completely or refused, and changes no prototype", () => {
  const kinds = fc.constantFrom(
    "ready",
    "command",
    "read",
    "icon",
    "definition",
    "height",
    "details",
    "commandRoom",
    "x",
  );
  const messages = fc
    .tuple(kinds, fc.dictionary(fc.string(), fc.json()))
    .map(
      ([kind, rest]) =>
        `{"kind":"${kind}","__proto__":{"polluted":1},${JSON.stringify(rest).slice(1)}`,
    );
  fc.assert(
    fc.property(fc.oneof(messages, fc.string(), fc.anything()), (data) => {
      try {
        assert.equal(typeof parseFromFrame(data).kind, "string");
      } catch (error) {
        assert.ok(error instanceof Error);
      }
      assert.equal("polluted" in {}, false);
    }),
    { numRuns: 2_000 },
  );
});
