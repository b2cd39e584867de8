import assert from "node:assert/strict";
import { test } from "node:test";
import { historyReadings, historyLogbook, provide } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { toAutomation } from "../../../plugins/automations/engine/perform-actions.ts";
import { simulate } from "../../../plugins/automations/engine/simulate.ts";
import plugin from "../../../plugins/automations/index.ts";
import * as routes from "../../../plugins/automations/routes.ts";

const DOOR = { id: "demo:binary-sensor:1", name: "Front door", state: { contact: true } };
const LAMP = { id: "demo:light:1", name: "Hall lamp", state: { on: false } };
const DOCUMENT = {
  name: "Welcome light",
  triggers: [{ type: "state", device: DOOR.id, field: "contact", to: false }],
  actions: [{ type: "command", device: LAMP.id, command: { on: true }, forMs: 300_000 }],
};
const FROM = "2026-06-10T00:00:00.000Z";
const TO = "2026-06-11T00:00:00.000Z";

test("a simulation of the past shows runs at the recorded changes, beside what really happened", async (t) => {
  const points = {
    contact: [
      { at: FROM, value: 1 },
      { at: "2026-06-10T08:00:00.000Z", value: 0 },
      { at: "2026-06-10T08:01:00.000Z", value: 1 },
    ],
    on: [{ at: "2026-06-10T09:00:00.000Z", value: 1 }],
  };
  const running = await startPlugin(plugin, {
    home: { devices: [DOOR, LAMP] },
    services: [
      provide(historyReadings, async ({ device, field }) => ({
        device,
        field,
        unit: null,
        points: points[field as keyof typeof points],
        resolution: "raw" as const,
      })),
      provide(historyLogbook, async () => ({ entries: [], next: null })),
    ],
  });
  t.after(() => running.stop());

  const { json } = await running.request(routes.simulated, {
    body: { document: DOCUMENT, from: FROM, to: TO },
  });

  const { runs, timeline, recorded, source } = json as {
    runs: { startedAt: string }[];
    timeline: { at: string; kind: string; value?: unknown; field?: string }[];
    recorded: unknown[];
    source: string;
  };
  assert.equal(source, "recorded");
  assert.deepEqual(
    runs.map(({ startedAt }) => startedAt),
    ["2026-06-10T08:00:00.000Z"],
  );
  assert.deepEqual(
    timeline
      .filter(({ kind, field }) => kind === "state" && field === "on")
      .map(({ at, value }) => [at.slice(11, 19), value]),
    [
      ["08:00:00", true],
      ["08:05:00", false],
    ],
  );
  assert.deepEqual(recorded, [
    { at: "2026-06-10T09:00:00.000Z", device: LAMP.id, field: "on", value: true },
  ]);
});

test("a simulation needs an automation or a document, and a span of at most 31 days", async (t) => {
  const running = await startPlugin(plugin, { home: { devices: [DOOR, LAMP] } });
  t.after(() => running.stop());
  const simulated = (body: object) => running.request(routes.simulated, { body });

  await assert.rejects(simulated({}), { code: "invalid" });
  await assert.rejects(simulated({ id: "none" }), { code: "not_found" });
  await assert.rejects(simulated({ document: DOCUMENT, from: TO, to: FROM }), { code: "invalid" });
  await assert.rejects(simulated({ document: DOCUMENT, from: "2026-01-01T00:00:00Z", to: TO }), {
    code: "invalid",
  });
});

test("automations that start each other do not keep a simulation busy", async () => {
  const lamp = { ...LAMP, kind: "light", available: true };
  const flip = (id: string, to: boolean) =>
    toAutomation(id, {
      name: id,
      enabled: true,
      mode: "queued",
      triggers: [{ type: "state", device: LAMP.id, field: "on", to }],
      conditions: [],
      actions: [{ type: "command", device: LAMP.id, command: { on: !to } }],
    });
  const from = Date.parse(FROM);

  const { timeline } = await simulate({
    automations: [flip("a", true), flip("b", false)],
    devices: [lamp],
    happenings: [{ at: from + 1_000, device: LAMP.id, field: "on", value: true }],
    timeZone: "Europe/Berlin",
    from,
    to: Date.parse(TO),
  });

  assert.ok(timeline.length < 100);
});

test("an automation that starts itself all day has a short chain of causes", async () => {
  const document = {
    ...DOCUMENT,
    triggers: [{ type: "state", device: LAMP.id, field: "on", to: false }],
  };
  const running = await startPlugin(plugin, { home: { devices: [DOOR, LAMP] } });

  const { json } = await running.request(routes.simulated, {
    body: { document, from: FROM, to: TO, source: "demo" },
  });
  await running.stop();

  const { runs } = json as { runs: { trigger: { event: { cause?: { parent?: object } } } }[] };
  const lengths = runs.map(({ trigger }) => {
    let length = 0;
    for (let each: { parent?: object } | undefined = trigger.event.cause; each; each = each.parent)
      length++;
    return length;
  });
  assert.ok(runs.length > 50);
  assert.equal(Math.max(...lengths), 8);
});
