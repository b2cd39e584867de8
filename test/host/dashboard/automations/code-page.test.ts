import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../../host/dashboard/api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";
import { FakeAutomations } from "./fake-host.ts";
import { DOOR, LAMP, openPage } from "./open-page.ts";

const ID = "welcome.ts";
const isOff = { type: "state", device: LAMP.id, field: "on", equals: false };

/** A host with an automation in code and one run of it. */
function hostWithCode(): FakeAutomations {
  const host = new FakeAutomations();
  host.code.add(ID);
  host.put(ID, {
    name: "Welcome",
    enabled: true,
    mode: "single",
    triggers: [{ type: "state", device: DOOR.id, field: "contact", to: false }],
    conditions: [isOff],
    actions: [],
  });
  const at = "2026-11-20T17:31:02Z";
  const step = (line: number, request: { readonly type: string }, more: object = {}) => ({
    ...{ index: line, at: `${ID}:${line}`, type: request.type, request, result: "ok" },
    ...{ startedAt: at, endedAt: at, ...more },
  });
  const { request: _, ...value } = step(8, { type: "value" }, { value: 7 });
  host.traces = [
    {
      id: "1",
      startedAt: at,
      endedAt: at,
      trigger: { index: 0 },
      conditions: [{ index: 0, result: true, value: false }],
      actions: [
        step(4, { type: "check", conditions: [isOff] } as never, {
          value: true,
          conditions: [{ index: 0, result: true, value: false }],
        }),
        step(5, { type: "command", device: LAMP.id, command: { on: true } } as never),
        step(6, { type: "read", device: DOOR.id, field: "contact" } as never, { value: true }),
        step(7, { type: "variable", name: "count" } as never, { value: { n: 2 } }),
        value,
      ],
      result: "failed",
      error: "lamp is not defined (welcome.ts:9)",
    },
  ];
  return host;
}

test("code has its triggers in words, and its runs with the steps and what they saw", async (t) => {
  const { text, all } = await openPage(t, hostWithCode(), ID);

  assert.deepEqual(text("h1"), ["Welcome"]);
  assert.deepEqual(text(".in-words p"), ["When Front door opens", "if Hall lamp is off"]);
  assert.deepEqual(text(".runs .fault"), ["lamp is not defined (welcome.ts:9)"]);
  assert.equal(all(".steps li").length, 8);
  assert.deepEqual(text(".steps li"), [
    "Front door opens 17:31",
    "Hall lamp is off metsaw off",
    "if Hall lamp is off 17:31took 0.00 swelcome.ts:4",
    "Hall lamp is off metsaw off",
    "turn on Hall lamp 17:31took 0.00 swelcome.ts:5",
    "Front door: Contact 17:31saw closedwelcome.ts:6",
    'count 17:31saw {"n":2}welcome.ts:7',
    "“value” 17:31saw 7welcome.ts:8",
  ]);
});

test("code is tried by hand, its new run is shown, and a refusal says why", async (t) => {
  const host = hostWithCode();
  const [first] = host.traces as readonly object[];
  const { text, click, all, session } = await openPage(t, host, ID);

  click(".verdict .pill");
  await until(() => text(".outcome [role=status] p").length === 1);
  assert.deepEqual(host.sent, [`POST /automations/${ID}/run`]);
  assert.deepEqual(text(".outcome [role=status] p"), ["Started"]);
  host.traces = [{ ...first, id: "2", startedAt: "2026-11-20T18:00:00Z" }, first];
  session.runs.value++;
  await until(() => all(".runs .list li").length === 2);
  assert.match(text(".runs .when b")[0] ?? "", /18:00$/);

  host.failure = new ApiError(409, { code: "conflict", detail: "it has too many runs at once" });
  click(".verdict .pill");
  await until(() => text(".outcome [role=alert] p").length === 1);
  assert.deepEqual(text(".outcome [role=alert] p"), ["Not started: it has too many runs at once"]);
});

test("a file that could not be loaded says why, and cannot be tried", async (t) => {
  const host = new FakeAutomations();
  host.code.add("broken.ts");
  const { text, all } = await openPage(t, host, "broken.ts");

  assert.deepEqual(text(".fault"), ["broken.ts: not loaded"]);
  assert.deepEqual([all(".verdict").length, all(".runs").length], [0, 0]);
});
