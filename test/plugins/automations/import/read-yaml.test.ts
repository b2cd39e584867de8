import assert from "node:assert/strict";
import { test } from "node:test";
import { readYaml, Tagged } from "../../../../plugins/automations/import/read-yaml.ts";
import { converted } from "./home.ts";

const refused = (yaml: string) =>
  readYaml(yaml).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );

test("tags of Home Assistant stay apart from texts, and merged keys are merged", async () => {
  const value = await readYaml(
    "a: &base {x: 1, y: !secret door}\nb: {<<: *base, x: 2}\nc: !include [d]\nx: 1\nx: 3\n",
  );

  const { a, b, c, x } = value as {
    a: { y: Tagged };
    b: { x: number; y: Tagged };
    c: Tagged;
    x: number;
  };
  assert.ok(a.y instanceof Tagged && b.y instanceof Tagged && c instanceof Tagged);
  assert.deepEqual([a.y.tag, c.tag, b.x, x], ["!secret", "!include", 2, 3]);
});

test("a bomb of aliases, too many levels and too many bytes are refused", async () => {
  const levels = Array.from(
    { length: 12 },
    (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`,
  );
  const bomb = `a0: &a0 [x]\n${levels.join("\n")}\n`;

  assert.match(await refused(bomb), /Excessive alias count/);
  for (const deep of [
    "[".repeat(50_000),
    "- ".repeat(50_000),
    "{a: ".repeat(50_000),
    "? ".repeat(50_000),
  ]) {
    assert.match(await refused(deep), /more than 100 levels/);
  }
  assert.match(await refused(`a: ${"x".repeat(1_048_576)}`), /more than 1048576 bytes/);
  assert.match(await refused("a: *a0"), /a0/);
  assert.match(await refused("a: &a [*a]"), /more than 100 levels/);
});

test("a text that is not YAML is refused with line and column", async () => {
  assert.match(await refused("- alias: A\n  trigger: [\n"), /is not YAML: line 3, column 1/);
});

test("files without automations are refused, and so are too many of them", async () => {
  for (const yaml of ["", "~", "just a text", "- 1\n- true\n- x", "a: 1\nb: [2]"]) {
    const all = await converted(yaml).catch((error: unknown) => error as Error);
    if (all instanceof Error) assert.match(all.message, /has no automations/);
    else assert.ok(all.every(({ result, reasons }) => result === "none" && reasons.length === 1));
  }
  await assert.rejects(
    converted("- {alias: a, trigger: [], action: []}\n".repeat(10_000)),
    /has 10000 automations; at most 1000/,
  );
});

test("two automations with one name are both converted", async () => {
  const one =
    "- alias: A\n  trigger: {platform: homeassistant, event: start}\n  action: [{delay: 1}]\n";

  assert.deepEqual(
    (await converted(one + one)).map(({ result }) => result),
    ["whole", "whole"],
  );
});

test("scripts that call each other and aliases that repeat an action are bounded", async () => {
  const calls = Array.from(
    { length: 30 },
    (_, at) =>
      `s${at}: {sequence: [{service: script.s${at + 1}}, {service: script.s${at + 1}}, {service: script.s${at}}]}`,
  );
  const [first] = await converted(calls.join("\n"));

  assert.equal(first?.result, "none");
  assert.equal(first?.reasons.length, 20);
});
