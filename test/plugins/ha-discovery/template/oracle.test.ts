import assert from "node:assert/strict";
import { test } from "node:test";
import { Template } from "../../../../plugins/ha-discovery/template/template.ts";
import { fromJson, type Value } from "../../../../plugins/ha-discovery/template/values.ts";
import jinja from "../../../fixtures/home-assistant/jinja-cases.json" with { type: "json" };
import oracle from "../../../fixtures/home-assistant/template-oracle.json" with { type: "json" };

interface Recording {
  readonly variables: object;
  readonly cases: readonly { template: string; status: number; result: string }[];
}

/** The time and zone in which the recording of Home Assistant was made. */
const CLOCK = { now: () => 1795202319.3995, zone: "Europe/Berlin" };

function replay({ variables, cases }: Recording, whose: string): void {
  const values = new Map<string, Value>(
    Object.entries(variables).map(([name, value]) => [name, fromJson(value)]),
  );
  for (const { template, status, result } of cases) {
    test(`${template} gives the same result as ${whose}`, () => {
      const render = () => new Template(template).render(values, CLOCK);

      if (status === 200) assert.equal(render(), result);
      else assert.throws(render, { name: "TemplateError" });
    });
  }
}

replay(oracle, "Home Assistant");
replay(jinja, "Jinja");

test("noon and midnight are twelve on a clock of twelve hours", () => {
  const write = (time: string) =>
    new Template(`{{ as_datetime("2026-11-20T${time}+01:00").strftime("%I:%M %p, %-I") }}`).render(
      new Map(),
      CLOCK,
    );

  assert.equal(write("12:05:00"), "12:05 PM, 12");
  assert.equal(write("00:05:00"), "12:05 AM, 12");
  assert.equal(write("13:05:00"), "01:05 PM, 1");
});
