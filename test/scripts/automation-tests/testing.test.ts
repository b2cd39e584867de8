import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { stop } from "esbuild";
import { simulate } from "../../../scripts/automation-tests/testing.ts";
import { emptyFolder } from "../../helpers/folder.ts";

after(() => stop());

const LAMP = { id: "demo:light:1", kind: "light", name: "Hall lamp", state: { on: false } };

async function fileOf(t: TestContext, text: string): Promise<URL> {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "hall.ts"), text);
  return pathToFileURL(join(folder, "hall.ts"));
}

test("a document and a file run in one simulated home, and commands have clock times of its zone", async (t) => {
  const document = {
    name: "Evening",
    triggers: [{ type: "time", at: "22:00" }],
    actions: [{ type: "command", device: LAMP.id, command: { on: true } }],
  };
  const file = await fileOf(
    t,
    `import { home, minutes, when } from "mantel";
const lamp = home.light("Hall lamp");
when(lamp.turnsOn()).then(async (run) => {
  await run.wait(minutes(15));
  await lamp.off();
  await run.notify("Good night");
});`,
  );
  const { commands, messages, runs, timeline } = await simulate({
    automations: [document, file],
    at: "2026-06-21T21:40",
    timeZone: "Europe/Berlin",
    devices: [LAMP],
  });
  assert.deepEqual(commands, [
    {
      at: "2026-06-21T22:00:00",
      device: "Hall lamp",
      command: { on: true },
      automation: "document-1",
    },
    {
      at: "2026-06-21T22:15:00",
      device: "Hall lamp",
      command: { on: false },
      automation: "hall.ts",
    },
  ]);
  assert.deepEqual(messages, ["Good night"]);
  assert.deepEqual(
    runs.map(({ result }) => result),
    ["completed", "completed"],
  );
  assert.deepEqual(
    timeline.map(({ kind }) => kind),
    ["run", "command", "state", "run", "command", "state", "notify"],
  );
});

test("changes, events, webhooks, messages, the start and calendar events start automations", async () => {
  const { runs } = await simulate({
    automations: [
      {
        name: "All",
        mode: "parallel",
        triggers: [
          { type: "start" },
          { type: "webhook", name: "bell" },
          { type: "mqtt", topic: "door/+", payload: "open" },
          { type: "event", device: LAMP.id, event: "single" },
          { type: "state", device: LAMP.id, field: "on", to: true },
          { type: "calendar", calendar: "*", match: "bin", edge: "start" },
          { type: "calendar", calendar: "club", edge: "reminder" },
        ],
        actions: [{ type: "notify", message: "It happened" }],
      },
    ],
    at: "2026-06-21T21:40",
    forMs: 60_000 * 60,
    devices: [LAMP],
    happens: [
      { after: 1_000, start: true },
      { after: 2_000, webhook: "bell" },
      { after: 3_000, topic: "door/1", payload: "open" },
      { after: 4_000, device: "Hall lamp", event: "single" },
      { after: 5_000, device: LAMP.id, state: { on: true } },
    ],
    calendarEvents: [
      { calendar: "town", title: "bin", start: "2026-06-21T22:00", end: "2026-06-21T22:30" },
      {
        ...{ calendar: "club", title: "choir", start: "2026-06-22T18:00", end: "2026-06-22T20:00" },
        reminders: ["2026-06-21T22:10"],
      },
    ],
  });
  assert.deepEqual(
    runs.map(({ trigger }) => trigger.event.type),
    ["start", "webhook", "mqtt", "event", "state", "calendar", "calendar"],
  );
});

test("a file that does not load, an unknown device, a wrong document and a wrong time are errors", async (t) => {
  const home = { at: "2026-06-21T21:40", devices: [LAMP] };
  const broken = await fileOf(t, "when(;");
  await assert.rejects(simulate({ ...home, automations: [broken] }), /hall\.ts:1: syntax error/);
  const unknown = await fileOf(
    t,
    'import { home, when } from "mantel";\nwhen(home.light("Lamp").turnsOn()).then(() => 1);',
  );
  await assert.rejects(
    simulate({ ...home, automations: [unknown] }),
    /hall\.ts:2: no light is called "Lamp"/,
  );
  await assert.rejects(
    simulate({ ...home, automations: [{}] }),
    /the automation is invalid: \/name/,
  );
  await assert.rejects(
    simulate({ ...home, automations: [], at: "evening" }),
    /"evening" is not a clock time/,
  );
  const happens = [{ after: 0, device: "Door", event: "single" }];
  await assert.rejects(simulate({ ...home, automations: [], happens }), /no device "Door"/);
});
