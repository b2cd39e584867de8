import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Template } from "../../../../plugins/ha-discovery/template/template.ts";
import {
  fromJson,
  TemplateError,
  type Value,
} from "../../../../plugins/ha-discovery/template/values.ts";
import { anyCharacter } from "../../../../scripts/fuzz/values.ts";
import { checkProperty } from "../../../fuzz/settings.ts";

const CLOCK = { now: () => 1e9, zone: "Europe/Berlin" };
const LONG = "a".repeat(65_000);

const variables = new Map<string, Value>([
  ["value", LONG],
  ["value_json", fromJson({ on: true, list: [1, 2, "x"], text: "abc", nested: { a: [{}] } })],
]);

/** The output of a template, or `undefined` if it is refused. Any other error fails the test. */
function outcome(source: string): string | undefined {
  try {
    return new Template(source).render(variables, CLOCK);
  } catch (error) {
    assert.ok(error instanceof TemplateError, `${String(error)} from ${source}`);
    return undefined;
  }
}

const DOUBLING = "{% set n = namespace(l=[1], s='ab') %}{% for i in range(60) %}";
const BOMBS = [
  "{% for a in range(1000) %}{% for b in range(1000) %}x{% endfor %}{% endfor %}",
  "{{ 'x' * 100000000 }}",
  "{{ range(100000000) }}",
  `${DOUBLING}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}`,
  `${DOUBLING}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l }}`,
  `${DOUBLING}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l == [n.l] }}{{ n.l | unique }}`,
  `${DOUBLING}{% set n.l = n.l + n.l %}{% endfor %}{{ n.l | length }}`,
  "{% set n = namespace() %}{% set n.a = n %}{{ n }}",
  "{% set a = namespace() %}{% set a.b = a %}{% set c = namespace() %}{% set c.b = c %}{{ a == c }}",
  "{% for i in range(1000) %}{{ 'x' * 60000 }}{% endfor %}",
  "{% for i in range(1000) %}{{ value | replace('a', 'b') | upper | trim }}{% endfor %}",
  "{% for i in range(1000) %}{{ value.split('a') }}{% endfor %}",
  `{{ ${"(".repeat(3_000)}1${")".repeat(3_000)} }}`,
  `{{ ${"not ".repeat(1_900)}1 }}`,
  `{{ ${"[".repeat(3_000)}${"]".repeat(3_000)} }}`,
  "{% if 1 %}".repeat(300) + "{% endif %}".repeat(300),
  "{{ value_json",
  `{{ ${"1 + ".repeat(3_000)}1 }}`,
];

for (const bomb of BOMBS) {
  test(`${bomb.slice(0, 70)} is refused early and cheaply`, () => {
    assert.equal(outcome(bomb), undefined);
  });
}

/** Names that lead from a JavaScript value to its class, and from there to everything. */
const WAYS_OUT = [
  ...["constructor", "__proto__", "prototype", "toString", "valueOf", "hasOwnProperty"],
  ...["__class__", "__mro__", "__subclasses__", "__globals__", "__init__", "__builtins__"],
  ...["__defineGetter__", "__lookupGetter__", "call", "apply", "bind", "then", "size", "has"],
];

const THINGS = ["value_json", "value", "value_json.list", "1", "1.5", "true", "none", "[]", "{}"];

for (const name of WAYS_OUT) {
  test(`${name} of any value gives nothing or is refused`, () => {
    for (const thing of [...THINGS, "now()", "namespace()", "dict()", "range(3)", "loop"]) {
      const ways = [`${thing}.${name}`, `${thing}["${name}"]`, `(${thing} | first).${name}`];
      for (const way of ways) assert.ok(["", undefined].includes(outcome(`{{ ${way} }}`)), way);
      assert.equal(outcome(`{{ ${thing}.${name}('return process')() }}`), undefined);
    }
    assert.equal(outcome(`{{ ${name}('return process') }}`), undefined);
    assert.equal(outcome(`{{ 1 | ${name} }}`), undefined);
    assert.equal(outcome(`{{ 1 is ${name} }}`), undefined);
    assert.equal(outcome(`{{ ${name} }}`) ?? "", "");
  });
}

const word = fc.constantFrom(
  ..."{{ }} {% %} {# #} ( ) [ ] { } . , : | ~ + - * / // % ** == != < > <= >= = in is not and or if else".split(
    " ",
  ),
  ..."elif endif for endfor set endset range namespace now value value_json loop x 0 1 7 1.5 -1".split(
    " ",
  ),
  ..."'a' '' '%s %d' \"b\" true none upper replace default int float round map select join sort".split(
    " ",
  ),
  ..."split get items strftime format truncate defined number tojson from_json constructor".split(
    " ",
  ),
  ...[" ", "\n", "{{- ", " -%}", "{{ value_json.list | ", "{% for x in value_json.list %}"],
);
const nearTemplate = fc.array(word, { maxLength: 60 }).map((words) => words.join(" "));
const tag = fc.array(word, { maxLength: 20 }).map((words) => `{{ ${words.join(" ")} }}`);

test("text similar to a template is only printed or refused", async (t) => {
  const text = fc.oneof(nearTemplate, tag, fc.string(), fc.string({ unit: anyCharacter }));

  await checkProperty(
    t,
    fc.property(text, (source) => {
      assert.ok((outcome(source)?.length ?? 0) <= 65_536);
    }),
    20_000,
  );
});

test("JSON in a payload can only be printed or refused by a template", async (t) => {
  const template = new Template(
    "{{ value_json.a.b }}{{ value_json | tojson }}{% for x in value_json %}{{ x }}{% endfor %}",
  );

  await checkProperty(
    t,
    fc.property(fc.jsonValue({ maxDepth: 50 }), (json) => {
      try {
        template.render(new Map([["value_json", fromJson(json)]]), CLOCK);
      } catch (error) {
        assert.ok(error instanceof TemplateError, String(error));
      }
    }),
    2_000,
  );
});

test("a payload with __proto__ in it changes no prototype and is read like any other", () => {
  const json = fromJson(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 5}'));
  const text = new Template(
    "{{ v['__proto__'].polluted }}{{ v.constructor }}{{ v.polluted }}",
  ).render(new Map([["v", json]]), CLOCK);

  assert.equal(text, "15");
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});
