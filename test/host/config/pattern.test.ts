import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PatternChecker, patternFaults } from "../../../host/config/pattern.ts";
import { checkProperty } from "../../fuzz/settings.ts";

const faultOf = (pattern: string) => new PatternChecker().faultOf(pattern);

for (const pattern of [
  ...[
    "(a|a)*$",
    "(.*)*",
    "(a*)*",
    "(a+)+$",
    "^(a+)+$",
    "(x+x+)+y",
    "^(\\s*\\w*)*$",
    "^(\\w+\\s?)*$",
  ],
  ...["a*a*a*b", "^a*a*b$", "^.*a.*b.*c$", "(.*,){11}P", "(a|b|ab)*c", "^([a-z]+-?)*$"],
  ...["a*b", "\\s+$", "foo.*bar$", "^(a?){50}$", "^(a?){20}a{20}$", "^(?:(?=.*a)b)*$"],
  ...[
    "^\\p{L}+(\\p{Lu}| )*$",
    "^(\\u{61}|a)*$",
    "^(\\x61|[^b])*$",
    "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$",
  ],
]) {
  test(`the pattern ${pattern} is refused, because some texts take long`, () => {
    assert.match(faultOf(pattern) ?? "", /^can match in too many ways/);
  });
}

for (const pattern of ["(?<=a)b", "(?<!a)b", "(a)\\1", "(?<x>a)\\k<x>"]) {
  test(`the pattern ${pattern} is refused, because it looks back or refers to a group`, () => {
    assert.match(faultOf(pattern) ?? "", /^looks back or refers to a group/);
  });
}

for (const pattern of [
  "x".repeat(1_001),
  "^.{1,5000}$",
  "^(?:(?:){1000}){1000}$",
  "^(?:a{0,30}){30}$",
]) {
  test(`the pattern ${pattern.slice(0, 30)} is refused, because it is too large`, () => {
    assert.match(faultOf(pattern) ?? "", /^(is too large|can match in too many ways)/);
  });
}

test("an invalid regular expression is refused with the engine's message", () => {
  assert.match(faultOf("(") ?? "", /^is not a regular expression: .*Unterminated group/);
});

for (const pattern of [
  ...["", "^.*$", "\\S", "^\\d+$", "^#[0-9a-f]{6}$", "^\\d{4}-\\d{2}-\\d{2}$", "^.{1,200}$"],
  ...[
    "^[a-z]+(-[a-z]+)*$",
    "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
    "^[a-z0-9-]{0,61}[a-z0-9]$",
  ],
  ...["^(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", "^([01]\\d|2[0-3]):[0-5]\\d$"],
  ...["^https?://[A-Za-z0-9.-]+(:\\d{1,5})?$", "^(mqtts?|wss?)://[^\\s@/?#]+(/[^\\s@]*)?$"],
  ...["^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$", "^[0-9A-F]{2}(:[0-9A-F]{2}){5}$"],
  ...["^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$", "^-?(?:0|[1-9][0-9]*)$"],
  ...["^\\p{L}+( \\p{L}+)*$", "^[\\p{L}\\p{N}._@ -]{1,64}$", "^[^@\\s]+@[^@\\s.]+(\\.[^@\\s.]+)+$"],
  ...["[0-9]{1,5}:[0-9]{1,5}", "^(UTC|Europe/[A-Z][a-z]+)$", "^\\s*-----BEGIN CERTIFICATE-----"],
]) {
  test(`the pattern ${pattern} is accepted`, () => {
    assert.equal(faultOf(pattern), undefined);
  });
}

/** Two sets that overlap in one character, however it is written: the second repeat meets the first. */
for (const [first, second] of [
  ["\\t", "\\x09"],
  ["\\n", "\\u000a"],
  ["\\v", "\\u{b}"],
  ["\\f", "\\cL"],
  ["\\r", "\\cm"],
  ["\\0", "\\x00"],
  ["[\\t]", "[^\\0-\\x08\\n-\\u{10ffff}]"],
  ["[a-f]", "[f-z]"],
  ["[a-f]", "[^g-z]"],
  ["\\u0041", "\\u{000041}"],
  ["\\u{1f600}", "\\ud83d\\ude00"],
  ["😀", "\\u{1F600}"],
  ["[\\ud83d\\ude00-\\ud83d\\ude02]", "[\\ud83d\\ude02-\\ud83d\\ude04]"],
  ["[\\u{10fffe}-\\u{10ffff}]", "\\u{10ffff}"],
  ["\\p{Lu}", "A"],
  ["\\P{L}", "1"],
  ["\\d", "[5]"],
  ["\\w", "_"],
  ["\\s", "\\ufeff"],
  [".", "\\u2027"],
  ["\\]", "[\\]]"],
] as const) {
  test(`${first} and ${second} are known to overlap`, () => {
    assert.match(faultOf(`^${first}*${second}*$`) ?? "", /^can match in too many ways/);
  });
}

for (const [first, second] of [
  ["[a-f]", "[g-z]"],
  ["\\t", "\\n"],
  ["[\\0-\\x08]", "\\t"],
  ["\\u{1f600}", "\\u{1f601}"],
  ["[\\ud83d\\ude00-\\ud83d\\ude02]", "\\ud83d\\ude03"],
  ["\\p{Lu}", "[a-z]"],
  ["\\d", "\\D"],
  ["\\w", "\\W"],
  ["\\s", "\\S"],
  [".", "[\\n\\r\\u2028\\u2029]"],
  ["\\cA", "\\cB"],
  ["\\x41", "\\x42"],
  ["\\u0041", "\\u0042"],
  ["\\[", "\\]"],
  ["[\\]]", "a"],
] as const) {
  test(`${first} and ${second} are known to be disjoint`, () => {
    assert.equal(faultOf(`^${first}*${second}*$`), undefined);
  });
}

for (const [pattern, fault] of [
  ["x".repeat(1_000), /^can match|^is too large/],
  [`^${"x".repeat(499)}$`, undefined],
  [`^${"x".repeat(501)}$`, /^is too large: use at most 1000 characters/],
  [`^[${"x".repeat(998)}$`, /^is too large: use at most 1000 characters/],
  [`^[${"x".repeat(996)}]$`, undefined],
  ["^a{500}$", undefined],
  ["^a{501}$", /^is too large/],
  ["^a{3,}$", undefined],
  ["^a{3,}a$", undefined],
  ["^a{2}a{3}$", undefined],
  ["^(a|b)$|^c*c*$", /^can match/],
  ["^a|^b", undefined],
  ["^a*|b*c", /^can match/],
  ["(?=a)^a*$", undefined],
  ["^a\\b *\\B$", undefined],
  ["^(?:a$|b)*$", undefined],
  ["^(?!a*a*b)", /^can match/],
] as const) {
  test(`the pattern ${pattern.slice(0, 30)} of ${pattern.length} characters is ${fault ? "refused" : "accepted"}`, () => {
    const found = faultOf(pattern);

    if (fault) assert.match(found ?? "", fault);
    else assert.equal(found, undefined);
  });
}

test("at most eight different Unicode properties are allowed in a pattern", () => {
  const classes = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd"].map(
    (each) => `\\p{${each}}`,
  );

  assert.equal(faultOf(`^${classes.slice(0, 8).join("")}$`), undefined);
  assert.match(faultOf(`^${classes.join("")}$`) ?? "", /^is too large/);
  assert.equal(faultOf(`^${"\\p{Lu}".repeat(9)}$`), undefined);
});

test("a refused pattern comes with a way to write it", () => {
  assert.equal(
    faultOf("^([a-z]+-?)*$"),
    "can match in too many ways, which takes long for some texts: begin it with ^, and let nothing that " +
      "repeats hold or meet another repeat of the same characters, such as ^[a-z]+(-[a-z]+)*$ for ^([a-z]+-?)*$",
  );
});

test("all patterns of a schema are checked together, within one limit of work", () => {
  const costly = (n: number) => `^a{${100 + n}}b{100}$`;
  const checker = new PatternChecker();

  const together = Array.from({ length: 300 }, (_, n) => checker.faultOf(costly(n)));

  assert.equal(faultOf(costly(299)), undefined);
  assert.equal(together[0], undefined);
  assert.match(together.at(-1) ?? "", /^is too large/);
  assert.equal(checker.faultOf(costly(0)), undefined, "it was checked already");
});

test("patterns are found wherever a schema may have them, and nothing else is taken for one", () => {
  const slow = "(a|a)*$";
  const long = `(a|a)*${"x".repeat(80)}`;
  const schema = {
    title: slow,
    pattern: { pattern: slow },
    patternProperties: { [slow]: {}, [long]: {} },
    default: { pattern: slow, patternProperties: slow },
    anyOf: [{ pattern: 5 }, { patternProperties: null }, { "a/b": { pattern: long } }],
    properties: { [slow]: {} },
  };

  const faults = patternFaults(schema);

  assert.deepEqual(
    faults.map(({ pointer }) => pointer),
    [
      "/pattern/pattern",
      "/patternProperties/(a|a)*$",
      `/patternProperties/${long.slice(0, 60)}`,
      "/default/pattern",
      "/anyOf/2/a~1b/pattern",
    ],
  );
  assert.match(faults[0]?.detail ?? "", /^\(a\|a\)\*\$ can match/);
  assert.ok(faults[4]?.detail.startsWith(`${long.slice(0, 60)}… can match`));
  assert.deepEqual(patternFaults({ pattern: "^a$" }), []);
});

const count = fc.constantFrom("*", "+", "?", "*?", "{2}", "{0,3}", "{1,}");
const { node: anyPattern } = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("a", "b", "c", ".", "\\w", "[ab]", "[^a]", "\\d", "^", "$", "\\b", "\\s", "-"),
    fc.tuple(tie("node"), tie("node")).map((parts) => parts.join("")),
    fc.tuple(tie("node"), tie("node")).map((parts) => `(?:${parts.join("|")})`),
    fc.tuple(tie("node"), count).map(([part, times]) => `(?:${part})${times}`),
    tie("node").map((part) => `(?=${part})`),
  ),
}));

test("an accepted pattern is fast for every text", async (t) => {
  let fit = 0;
  const text = fc.tuple(
    fc.stringMatching(/^[abc1 -]{0,3}$/),
    fc.stringMatching(/^[abc1 -]{1,3}$/),
    fc.constantFrom("", "!", "a", " ", "\n"),
  );
  await checkProperty(
    t,
    fc.property(
      fc.tuple(fc.constantFrom("^", ""), anyPattern, fc.constantFrom("$", "", "!$")),
      text,
      (parts, [head, again, tail]) => {
        const pattern = parts.join("");
        if (faultOf(pattern) !== undefined) return;
        fit++;
        const matcher = new RegExp(pattern, "u");
        const before = process.cpuUsage();
        matcher.test(head + again.repeat(10_000) + tail);
        const { user } = process.cpuUsage(before);
        assert.ok(user < 500_000, `${pattern} takes ${user / 1_000} ms for ${again}`);
      },
    ),
    5_000,
  );
  t.diagnostic(`${fit} of them are fit`);
});
