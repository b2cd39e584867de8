import assert from "node:assert/strict";
import { test } from "node:test";
import { toCode } from "../../../plugins/automations/code/to-code.ts";
import type { AutomationDocument } from "../../../plugins/automations/engine/document.ts";
import { DOOR, LAMP, stageCode } from "./staged-code.ts";

const THINGS = [
  { id: LAMP.id, kind: "light", name: LAMP.name },
  { id: DOOR.id, kind: "binary-sensor", name: DOOR.name },
];
const find = (id: string) => THINGS.find((each) => each.id === id);

const EVENING: AutomationDocument = {
  name: "Evening",
  description: "Somebody comes home.",
  enabled: true,
  mode: "restart",
  triggers: [
    { type: "state", device: DOOR.id, field: "contact", to: false, forMs: 5_000 },
    { type: "state", device: LAMP.id, field: "brightness", above: 10, below: 90, hysteresis: 2 },
    { type: "state", device: "gone:sensor:7", field: "motion", from: false },
    { type: "event", device: DOOR.id, event: "single" },
    { type: "time", at: "07:30", days: ["mon"], missed: "once" },
    { type: "cron", expression: "0 7 * * *" },
    { type: "sun", event: "sunset", offsetMs: -1_800_000 },
    { type: "calendar", calendar: "*", match: "bin", edge: "end", offsetMs: 90_000 },
    { type: "calendar", calendar: "*", edge: "reminder" },
    { type: "mqtt", topic: "a/+", payload: "on" },
    { type: "presence", anyone: true },
    { type: "webhook", name: "bell" },
    { type: "start" },
  ],
  conditions: [
    { type: "sun", is: "down" },
    {
      type: "any",
      of: [
        { type: "presence", anyone: false },
        { type: "calendar", calendar: "work" },
      ],
    },
    { type: "time", after: "22:00", before: "06:00", days: ["sat", "sun"] },
    { type: "state", device: LAMP.id, field: "on", equals: false },
  ],
  actions: [
    { type: "command", device: LAMP.id, command: { on: true, brightness: 40 }, forMs: 300_000 },
    { type: "wait", ms: 60_000 },
    {
      type: "if",
      conditions: [{ type: "state", device: DOOR.id, field: "contact", equals: true }],
      // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
      then: [{ type: "notify", message: 'It is "closed"', to: "ann" }],
      else: [{ type: "command", device: LAMP.id, command: { on: false } }],
    },
    { type: "waitFor", trigger: { type: "webhook", name: "done" }, timeoutMs: 1_500 },
    { type: "scene", scene: "host:scene:night" },
  ],
};

test("a document as code reads like one written by hand", () => {
  const code = toCode(
    {
      ...EVENING,
      triggers: EVENING.triggers.slice(0, 1),
      conditions: EVENING.conditions.slice(0, 1),
      actions: EVENING.actions.slice(0, 3),
    },
    find,
  );
  assert.equal(
    code,
    `import { home, minutes, seconds, sun, when } from "mantel";

const frontDoor = home.binarySensor("Front door");
const hallLamp = home.light("Hall lamp");

// Somebody comes home.
when(frontDoor.opens({ for: seconds(5) }))
  .if(sun.isDown)
  .named("Evening")
  .mode("restart")
  .then(async (run) => {
    await hallLamp.on({ brightness: 40, for: minutes(5) });
    await run.wait(minutes(1));
    if (await run.check(frontDoor.is("contact", true))) {
      await run.notify("It is \\"closed\\"", { to: "ann" });
    } else {
      await hallLamp.off();
    }
  });
`,
  );
});

test("a document as code has the same triggers and conditions, and does the same", async (t) => {
  const code = toCode(EVENING, find).replace(
    /^import (.*) from "mantel";/,
    'const $1 = require("mantel");',
  );
  const { engine, staged, code: loaded, turn } = await stageCode({ "evening.ts": code });
  t.after(() => loaded.stop());
  const automation = engine.automation("evening.ts");
  assert.deepEqual(automation?.triggers, EVENING.triggers);
  assert.deepEqual(automation?.conditions, EVENING.conditions);
  assert.deepEqual([automation?.name, automation?.mode], ["Evening", "restart"]);
  engine.run("evening.ts");
  await turn();
  await staged.advance(60_000);
  await staged.advance(10_000);
  assert.deepEqual(
    staged.commands.map(({ device, command }) => [device, command]),
    [
      [LAMP.id, { on: true, brightness: 40 }],
      ["host:scene:night", {}],
    ],
  );
  assert.deepEqual(staged.messages, ['It is "closed"']);
  assert.equal(engine.tracesOf("evening.ts")[0]?.result, "completed");
});

const ANNA = "demo:tracker:1";
const COUNTS: AutomationDocument = {
  name: "Counts",
  enabled: true,
  mode: "single",
  triggers: [
    { type: "presence", anyone: false, person: ANNA },
    { type: "calendar", calendar: "work", edge: "start", missed: "once" },
    { type: "webhook", name: "go" },
  ],
  conditions: [
    { type: "presence", anyone: true, person: ANNA },
    { type: "variable", name: "rings", below: 3 },
    { type: "variable", name: "last-name", equals: "Ann" },
  ],
  actions: [
    { type: "variable", name: "rings", add: 2 },
    { type: "variable", name: "last-name", set: "{trigger.body.who.name}" },
    { type: "wait", ms: 60_000, maxMs: 120_000 },
    { type: "ramp", device: LAMP.id, field: "brightness", to: 3, ms: 3_000 },
    {
      type: "command",
      device: LAMP.id,
      command: { on: true, brightness: "{trigger.body.level}" },
    },
    {
      type: "notify",
      message: "`\\${variable.last-name}` {variable.rings} {trigger.body.none}.",
    },
  ],
};

test("variables, values of the trigger, ramps, random waits and persons as code do the same", async (t) => {
  const things = [...THINGS, { id: ANNA, kind: "tracker", name: "Anna" }];
  const written = toCode(COUNTS, (id) => things.find((each) => each.id === id));
  assert.match(written, /^const rings = variable\("rings", 0\);$/m);
  assert.match(written, /^const lastName = variable<unknown>\("last-name", null\);$/m);
  const code = written
    .replace(/^import (.*) from "mantel";/, 'const $1 = require("mantel");')
    .replace("<unknown>", "");
  const { engine, staged, code: loaded, turn } = await stageCode({ "counts.ts": code }, { things });
  t.after(() => loaded.stop());
  const automation = engine.automation("counts.ts");
  const person = { type: "state", device: ANNA, field: "home" };
  assert.deepEqual(automation?.triggers, [{ ...person, to: false }, ...COUNTS.triggers.slice(1)]);
  assert.deepEqual(automation?.conditions, [
    { ...person, equals: true },
    ...COUNTS.conditions.slice(1),
  ]);
  staged.change(ANNA, { home: true });
  engine.variables.set("counts.ts", "last-name", "Ann");

  engine.webhook("go", { level: 35, who: { name: "Ben" } });
  await turn();
  await staged.advance(90_000);
  await turn();
  for (let second = 0; second < 4; second++) {
    staged.change(LAMP.id, { on: true });
    await staged.advance(1_000);
    await turn();
  }

  assert.equal(engine.tracesOf("counts.ts")[0]?.result, "completed");
  assert.deepEqual(staged.messages, ["`\\$Ben` 2 ."]);
  assert.deepEqual(
    staged.commands.map(({ command }) => command),
    [{ brightness: 1 }, { brightness: 2 }, { brightness: 3 }, { on: true, brightness: 35 }],
  );
});
