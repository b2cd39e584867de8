import assert from "node:assert/strict";
import { test } from "node:test";
import { parseInSlices, UnparsableMessage } from "../../../host/modules/process/json-slices.ts";

function parse(json: string): { value: unknown; values: number; slices: number } {
  const parsing = parseInSlices(Buffer.from(json));
  for (let slices = 0; ; slices++) {
    const { done, value } = parsing.next();
    if (done) return { ...value, slices };
  }
}

/** A text longer than a slice, so that it ends one. */
const P = JSON.stringify("p".repeat(33_000));

/** Lists and objects count too, keys do not. An empty list counts twice, which is a quick upper limit. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const parts = Object.values(value);
  return parts.length === 0 ? 2 : parts.reduce((sum: number, each) => sum + countOf(each), 1);
}

for (const json of [
  `[${P},1,[],{},"x",null,true]`,
  `[${P},${P},1]`,
  `[1,2,[3,4,${P},5],6]`,
  `[1,[2,[${P},3],4],[5,${P},6]]`,
  `[[${P},1],[${P},2]]`,
  `[[[[${P},1]]]]`,
  `[{"a":${P},"b":1},{"c":${P},"d":2}]`,
  `{"a":[1,${P},2],"b":{"c":3,"d":${P},"e":4}}`,
  `{"a":1,"b":2,"c":[${P},3],"d":4}`,
  `{"a":{"b":{"c":[${P},${P}],"d":5}}}`,
  `{"a,[{}]\\"":${P},"\\u0062":[${P},1],"]":"[","c":"\\\\"}`,
  ` [ ${P} , 1 , [ 2 , ${P} , 3 ] , { "a" : ${P} , "b" : [ 4 , ${P} , 5 ] } ] `,
  `\t\n\r{\n\t"a" : [ ${P} ,\r 1 ] , "b" : 2 }\r\n`,
  `[${P},${P},[1]]`,
  `[[${P},{"a":1}],"last"]`,
  `[${P},"a",["b",["c",${P}]]]`,
  P,
  "1".repeat(33_000),
  ` {"a":${P}} `,
]) {
  const name = JSON.stringify(json.replaceAll(P, "P").slice(0, 80));

  test(`${name} is parsed in slices, and its values are counted`, () => {
    const { value, values } = parse(json);

    assert.deepEqual(value, JSON.parse(json));
    assert.deepEqual(Object.keys(Object(value)), Object.keys(Object(JSON.parse(json))));
    assert.equal(values, countOf(value));
  });
}

test("of several values of a key the last one counts, also in slices", () => {
  for (const json of [`{"a":1,"a":${P},"a":2,"b":3}`, `{"a":[${P},1],"a":[2,3]}`])
    assert.deepEqual(parse(json).value, JSON.parse(json));
});

for (const json of [
  `[${P},${P},]`,
  `[,${P},${P}]`,
  `[${P},,${P}]`,
  `[${P}, ,${P}]`,
  `[${P},${P}`,
  `[${P},${P}}`,
  `{"a":${P},"b":${P}]`,
  `{"a":${P},"b":${P},}`,
  `{"a":${P},"b"}`,
  `{"a":${P},${P}}`,
  `{"a":${P} "b":${P}}`,
  `[${P},${P}]]`,
  `[${P},${P}] 1`,
  `[${P},${P}][${P}]`,
  `1 [${P},${P}]`,
  `[${P},${P}],1`,
  `${P},${P}`,
  `]${P}`,
  `${P}}`,
  `[1 [${P},${P}]]`,
  `[[${P},${P}] 1]`,
  `[[${P},${P}] 1,2]`,
  `[[${P},1] ,,2]`,
  `[[${P},1],]`,
  `[[${P},1] ${P},${P}]`,
  `[[${P},1][${P},2]]`,
  `[[${P},1] [${P},2],3]`,
  `{[${P},1]}`,
  `{"a" [${P},1]}`,
  `{"a":1 [${P},1]}`,
  `{"a":[${P},1] "b":2}`,
  `{"a":[${P},1],}`,
  `{"a":[${P},1],,"b":2}`,
  `{"a":[${P},1]"b":[${P},2]}`,
  `{"a":1,"b" [${P},2]}`,
  P.slice(0, -1),
  `[${P},"x`,
  `[${P},1]${P}`,
]) {
  test(`${JSON.stringify(json.replaceAll(P, "P").slice(0, 40))} is not JSON, also in slices`, () => {
    assert.throws(() => JSON.parse(json), SyntaxError);
    assert.throws(() => parse(json), SyntaxError);
  });
}

test("a long message takes a step for every 32 KiB, and a short one takes none", () => {
  assert.equal(parse(`[${"1,".repeat(100_000)}1]`).slices, 6);
  assert.equal(parse(`[${"1,".repeat(16_382)}1]`).slices, 0); // 32,767 bytes
  assert.equal(parse(`{"a":[${"1,".repeat(100_000)}1],"b":[1,2]}`).slices, 6);
});

for (const [what, fill] of [
  ["short", ""],
  ["long", "1,".repeat(40_000)],
] as const) {
  const nested = (depth: number) => `[${fill}${"[".repeat(depth - 1)}1${"]".repeat(depth)}`;

  test(`a ${what} message may have 64 levels, and not 65`, () => {
    assert.deepEqual(parse(nested(64)).value, JSON.parse(nested(64)));

    assert.throws(
      () => parse(nested(65)),
      (error) => {
        assert.ok(error instanceof UnparsableMessage);
        assert.equal(error.name, "Unparsable");
        assert.match(error.message, /^it sent a message nested more than 64 levels deep/);
        return true;
      },
    );
  });
}

test("levels side by side do not add up", () => {
  const json = `[${"[[1]],".repeat(20_000)}1]`;

  assert.deepEqual(parse(json).value, JSON.parse(json));
});

test("a message may have a million values, and not one more", () => {
  const list = (values: number) => `[${"1,".repeat(values - 2)}1]`;

  assert.equal(parse(list(1_000_000)).values, 1_000_000);
  assert.throws(() => parse(list(1_000_001)), {
    name: "Unparsable",
    message:
      "it sent a message with more than 1000000 values, which was not read; send less at once",
  });
  const objects = `[${"{},".repeat(500_000)}1]`;
  assert.throws(() => parse(objects), /more than 1000000 values/);
});

test("half a character becomes U+FFFD in every slice, and in keys", () => {
  const json = `[${P},"\\ud800",{"\\udc00":[${P},"\\ud83d\\ude00",{"a":"\\ud800x"}]},"é"]`;

  const { value } = parse(json);

  const long = JSON.parse(P) as string;
  assert.deepEqual(value, [long, "\ufffd", { "\ufffd": [long, "😀", { a: "\ufffdx" }] }, "é"]);
  assert.deepEqual(parse('["\\ud800"]').value, ["\ufffd"]);
});

test("a key named __proto__ stays a key, also of a value that is parsed in slices", () => {
  const { value } = parse(`{"a":${P},"__proto__":{"b":[${P},1]},"c":{"__proto__":[${P},2]}}`);

  const { c } = value as { c: object };
  assert.deepEqual(Object.keys(value as object), ["a", "__proto__", "c"]);
  assert.deepEqual(Object.keys(c), ["__proto__"]);
  for (const each of [value, c]) assert.equal(Object.getPrototypeOf(each), Object.prototype);
  const { value: own } = Object.getOwnPropertyDescriptor(value, "__proto__") ?? {};
  assert.deepEqual(own, { b: [JSON.parse(P), 1] });
  const [found = {}] = [Object.getOwnPropertyDescriptor(c, "__proto__")];
  assert.deepEqual([found.enumerable, found.writable, found.configurable], [true, true, true]);
});
