import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseInSlices, UnparsableMessage } from "../../../host/modules/process/json-slices.ts";
import { checkProperty } from "../../fuzz/settings.ts";
import { LOAD } from "../../helpers/until.ts";

/** The message, and into how many slices it was cut. */
function parse(json: string): { value: unknown; slices: number } {
  const parsing = parseInSlices(Buffer.from(json));
  for (let slices = 0; ; slices++) {
    const { done, value } = parsing.next();
    if (done) return { value: value.value, slices };
  }
}

/** Milliseconds of CPU time of each slice of a message that may be refused. */
function timesOf(json: string): number[] {
  const parsing = parseInSlices(Buffer.from(json));
  const times: number[] = [];
  for (let done: boolean | undefined = false; !done;) {
    const before = process.cpuUsage();
    try {
      ({ done } = parsing.next());
    } catch (error) {
      assert.ok(error instanceof UnparsableMessage || error instanceof SyntaxError, String(error));
      done = true;
    }
    times.push(process.cpuUsage(before).user / 1_000);
  }
  return times.toSorted((one, other) => one - other);
}

const MIB = 2 ** 20;
const PADDING = "p".repeat(20_000);

/** JSON with enough in it to be cut, and white space where it may be. */
const large = fc
  .tuple(
    fc.jsonValue({ maxDepth: 5 }),
    fc.jsonValue({ maxDepth: 5 }),
    fc.integer({ min: 1, max: 6 }),
  )
  .map(([a, b, times]) => {
    const entries = Array.from({ length: times }, (_, n) => [
      a,
      { [`${n}`]: b, [PADDING]: [[n, a]] },
    ]);
    return { entries, ["__proto__ "]: PADDING, nested: { deep: [PADDING, entries, b] }, last: a };
  });

test("a message that is parsed in slices is the same as one that is parsed at once", async (t) => {
  await checkProperty(
    t,
    fc.property(large, fc.boolean(), (value, isSpaced) => {
      const json = isSpaced ? JSON.stringify(value, undefined, "\t") : JSON.stringify(value);
      assert.deepStrictEqual(parse(json).value, JSON.parse(json));
    }),
    500,
  );
});

test("parsing in slices refuses exactly the texts that JSON.parse refuses", async (t) => {
  const places = fc.array(
    fc.tuple(
      fc.nat(),
      fc.constantFrom("[", "]", "{", "}", ",", ":", '"', "\\", " ", "0", "x", "\n"),
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  );
  await checkProperty(
    t,
    fc.property(large, places, fc.boolean(), (value, changes, isRemoved) => {
      let json = JSON.stringify(value);
      for (const [at, character] of changes) {
        const place = json.indexOf(",", at % json.length);
        if (place === -1) continue;
        json = json.slice(0, place) + (isRemoved ? "" : character) + json.slice(place + 1);
      }
      const outcome = (work: () => unknown) => {
        try {
          return { value: work() };
        } catch {
          return "refused"; // by us perhaps for its depth, before it is found to be no JSON
        }
      };
      assert.deepStrictEqual(
        outcome(() => parse(json).value),
        outcome(() => JSON.parse(json)),
      );
    }),
    2_000,
  );
});

test("a key named __proto__ stays a key in a slice", () => {
  const json = `{"a": 1, "__proto__": {"x": "${"y".repeat(40_000)}", "z": [1, 2]}, "b": 2}`;

  const { value, slices } = parse(json);

  assert.ok(slices > 0);
  assert.deepEqual(Object.keys(value as object), ["a", "__proto__", "b"]);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

for (const [what, json] of [
  ["short", `${"[".repeat(65)}${"]".repeat(65)}`],
  ["long", `[${"1,".repeat(50_000)}${"[".repeat(64)}${"]".repeat(64)}]`],
  ["of 4 MB", "[".repeat(4e6)],
] as const) {
  test(`a message that is ${what} and nested too deep is refused before it is parsed`, () => {
    assert.throws(() => parse(json), {
      name: "Unparsable",
      message: /nested more than 64 levels deep, which was not read/,
    });
  });
}

test("a message with 64 levels is read, and brackets in texts do not count as levels", () => {
  const json = `${"[".repeat(63)}"${"[".repeat(100)}\\"{"${"]".repeat(63)}`;

  assert.deepEqual(parse(json).value, JSON.parse(json));
});

test("a lone surrogate becomes U+FFFD; complete characters and similar bytes stay unchanged", () => {
  const json = String.raw`["\ud800", "\uDe00", "\ud83d\ude00", "\ud83d\ud83d\ude00", "\\ud800", "\u00e9\ud8ff\n"]`;

  assert.deepEqual(parse(json).value, [
    "\ufffd",
    "\ufffd",
    "😀",
    "\ufffd😀",
    "\\ud800",
    "é\ufffd\n",
  ]);
  assert.deepEqual(parse(json.padEnd(40_000)).value, parse(json).value);
  assert.deepEqual(parse(`{"\\ud800": 1}`).value, { "\ufffd": 1 });
});

const fill = (part: string, end: string): string =>
  `[${part.repeat(Math.floor((7.9 * MIB) / part.length))}${end}]`;
const distinct = (part: (n: number) => string, ends: string): string => {
  const parts: string[] = [];
  for (let n = 0, length = 0; length < 6 * MIB && n < 450_000; n++) {
    parts.push(part(n));
    length += part(n).length + 1;
  }
  return ends[0] + parts.join(",") + ends[1];
};

for (const [what, json] of [
  ["empty lists", fill("[],", "1")],
  ["nested lists", fill(`${"[".repeat(60)}${"]".repeat(60)},`, "1")],
  ["numbers", fill("0,", "0")],
  ["objects of one key", fill('{"a":1},', "1")],
  ["keys that all differ", distinct((n) => `"k${n}":1`, "{}")],
  ["objects that all differ", distinct((n) => `{"k${n}":1}`, "[]")],
  ["a long number", "1".repeat(8 * MIB)],
  ["escapes", `"${"\\u00e9".repeat(1_300_000)}"`],
  ["halves of characters", `"${"\\ud800".repeat(1_300_000)}"`],
  ["blanks", `${" ".repeat(8 * MIB)}1`],
  ["lists without end", `[${"[],".repeat(400_000)}`],
] as const) {
  test(`8 MiB of ${what} are read in short turns, or refused`, (t) => {
    const most = 250 * LOAD; // at once it would be 300 to 3,500 ms
    const longest: number[] = [];
    // CPU time too is longer beside others, so the quickest of three counts.
    while (longest.length < 3 && Math.min(...longest) >= most) {
      const times = timesOf(json);
      longest.push(times.at(-1) ?? 0);
      t.diagnostic(`${times.length} turns; the longest takes ${longest.at(-1)?.toFixed(1)} ms`);
    }

    assert.ok(Math.min(...longest) < most, longest.join(", "));
  });
}
