import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PatternChecker } from "../../../host/config/pattern.ts";
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
