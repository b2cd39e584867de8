import assert from "node:assert/strict";
import { test } from "node:test";
import { Template } from "../../../../plugins/ha-discovery/template/template.ts";
import { TemplateError, type Value } from "../../../../plugins/ha-discovery/template/values.ts";

const render = (source: string, value: Value = "") =>
  new Template(source).render(new Map([["value", value]]), { now: () => 1e9, zone: "UTC" });

/** The result of Python 3.11 for `re.sub(pattern, replacement, text)`. */
for (const [pattern, replacement, text, result] of [
  ["[^0-9.]", "", "21.5 °C", "21.5"],
  ["^zone_(\\d+)$", "Zone \\1", "zone_12", "Zone 12"],
  ["(?P<first>a|ab)(c|bcd)", "\\2-\\g<1>", "abcd", "bcd-a"],
  ["x*", "-", "abxd", "-a-b--d-"],
  ["a{2,3}?", "#", "aaaaa", "##a"],
  ["\\bon\\b|off$", "X", "on only off", "X only X"],
  ["(?i)kitchen", "hall", "KITCHEN Kitchen", "hall hall"],
  ["[]a-]", "", "x]a-y", "xy"],
  ["(a)|b", "<\\1>", "ab", "<a><>"],
  [".", "\\\\", "a\nb", "\\\n\\"],
  ["(?s)b.\\Z", "", "ab\n", "a"],
] as const) {
  test(`regex_replace of ${pattern} is as in Python`, () => {
    const quoted = [pattern, replacement].map((each) => JSON.stringify(each));

    assert.equal(render(`{{ value | regex_replace(${quoted.join(", ")}) }}`, text), result);
  });
}

test("expressions may ignore case, match only the start, or give what they find", () => {
  assert.equal(render("{{ value | regex_replace('[a-c]', '', true) }}", "ABxc"), "x");
  assert.equal(
    render("{{ value | regex_replace(find='b', replace='c', ignorecase=True) }}", "aB"),
    "ac",
  );
  assert.equal(
    render("{{ value | regex_match('b') }} {{ value | regex_search('b') }}", "ab"),
    "False True",
  );
  assert.equal(
    render("{{ value is match('A', True) }} {{ value is search('c') }}", "ab"),
    "True False",
  );
  assert.equal(
    render("{{ value | regex_findall('([a-z])(\\d)') }}", "a1 b2"),
    "[['a', '1'], ['b', '2']]",
  );
  assert.equal(render("{{ value | regex_findall_index('\\d+', 1) }}", "a1 b22"), "22");
});

for (const pattern of [
  ...["(", ")", "[a", "*a", "a**", "a{3,1}", "[b-a]", "\\", "(?=a)", "(?<!a)b", "(a)\\1", "\\q"],
  ...["a{9999}", "(".repeat(2_000) + ")".repeat(2_000), "((a{99}){99}){99}"],
]) {
  test(`the expression ${pattern.slice(0, 20)} is refused in words`, () => {
    const source = `{{ value | regex_replace(${JSON.stringify(pattern)}, '') }}`;

    assert.throws(() => render(source, "aaaa"), {
      name: "TemplateError",
      message: /^a regular expression /,
    });
  });
}

for (const pattern of [
  "(a*)*b",
  "(a+)+b",
  "(a|aa)+$",
  "(a|a)*b",
  "((a*)*)*b",
  "(.*)(.*)(.*)(.*)(.*)x",
]) {
  test(`the expression ${pattern} ends within the steps of a template`, () => {
    const long = "a".repeat(60_000);

    assert.throws(
      () => render(`{{ value | regex_replace('${pattern}', '') }}`, long),
      TemplateError,
    );
  });
}

test("multiply and add give floats, also of whole numbers", () => {
  assert.equal(render("{{ 2 | multiply(3) }} {{ '2' | add(3) }}"), "6.0 5.0");
  assert.equal(render("{{ 2 | multiply(0.25) }} {{ (2 | multiply(3)) | int }}"), "0.5 6");
  assert.equal(render("{{ 6 | bitwise_and(3) }}"), "2");
});

for (const call of ["states('sensor.x')", "state_attr('a.b', 'c')", "is_state('a.b', 'on')"]) {
  test(`${call} is refused in words`, () => {
    const name = call.replace(/\(.*/, "");

    assert.throws(() => render(`{{ ${call} }}`), {
      message: `${name}() is not supported: a template sees only its own message`,
    });
  });
}

test("states.sensor.x is refused in words", () => {
  assert.throws(() => render("{{ states.sensor.x.state }}"), /states is not supported/);
});
