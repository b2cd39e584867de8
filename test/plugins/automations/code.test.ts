import assert from "node:assert/strict";
import { test } from "node:test";
import { Automations } from "../../../plugins/automations/automations.ts";
import { until } from "../../helpers/until.ts";
import { DOOR, LAMP, stageCode, stagedThread } from "./staged-code.ts";

const WELCOME = `
const { when, home, sun, minutes } = require("mantel");
const door = home.binarySensor("Front door");
const lamp = home.light("Hall lamp");
when(door.opens()).then(async (run) => {
  await lamp.on({ for: minutes(5) });
  await run.notify("Welcome");
});`;

test("a file starts an automation of its triggers, and its function acts for it", async () => {
  const { staged, engine, open } = await stageCode({ "hall-light.ts": WELCOME });
  await open();
  assert.deepEqual(
    staged.commands.map(({ device, command, by }) => [device, command, by.automation]),
    [[LAMP.id, { on: true }, { id: "hall-light.ts", name: "Hall light" }]],
  );
  assert.deepEqual(staged.messages, ["Welcome"]);
  const trace = engine.tracesOf("hall-light.ts")[0];
  assert.equal(trace?.result, "completed");
  assert.deepEqual(
    trace?.actions.map(({ type, at, result }) => [type, at, result]),
    [
      ["command", "hall-light.ts:6", "ok"],
      ["notify", "hall-light.ts:7", "ok"],
    ],
  );
  await staged.advance(5 * 60_000);
  assert.deepEqual(staged.commands.at(-1)?.command, { on: false });
});

test("triggers and conditions of code are the data of the engine", async () => {
  const { engine } = await stageCode({
    "all.ts": `
const m = require("mantel");
const { home, minutes } = m;
const door = home.binarySensor("Front door");
const lamp = home.light("Hall lamp");
m.when(
  door.opens({ for: minutes(1) }), lamp.risesAbove("brightness", 50, { hysteresis: 5 }),
  door.emits("single"), m.at("07:30", { days: ["mon"], missed: "once" }), m.cron("0 7 * * *"),
  m.sun.sets({ offset: -minutes(30) }), m.calendar("*").starts({ match: "bin", offset: -minutes(10) }),
  m.calendar("work").reminds(),
  m.presence.leaves(), m.mqtt("a/+", "on"), m.webhook("bell"), m.start(),
).if(m.sun.isDown, m.any(m.nobodyHome, lamp.isOff), m.between("22:00", "06:00"), m.calendar("work").isBusy())
 .named("All of it").mode("queued").then(() => undefined);`,
  });
  const automation = engine.automation("all.ts");
  assert.deepEqual(
    [automation?.name, automation?.mode, automation?.kind],
    ["All of it", "queued", "code"],
  );
  assert.deepEqual(automation?.triggers, [
    { type: "state", device: DOOR.id, field: "contact", to: false, forMs: 60_000 },
    { type: "state", device: LAMP.id, field: "brightness", above: 50, hysteresis: 5 },
    { type: "event", device: DOOR.id, event: "single" },
    { type: "time", at: "07:30", days: ["mon"], missed: "once" },
    { type: "cron", expression: "0 7 * * *" },
    { type: "sun", event: "sunset", offsetMs: -1_800_000 },
    { type: "calendar", calendar: "*", match: "bin", edge: "start", offsetMs: -600_000 },
    { type: "calendar", calendar: "work", edge: "reminder" },
    { type: "presence", anyone: false },
    { type: "mqtt", topic: "a/+", payload: "on" },
    { type: "webhook", name: "bell" },
    { type: "start" },
  ]);
  assert.deepEqual(automation?.conditions, [
    { type: "sun", is: "down" },
    {
      type: "any",
      of: [
        { type: "presence", anyone: false },
        { type: "state", device: LAMP.id, field: "on", equals: false },
      ],
    },
    { type: "time", after: "22:00", before: "06:00" },
    { type: "calendar", calendar: "work" },
  ]);
});

const WAITING = `
const { when, home, minutes } = require("mantel");
const door = home.binarySensor("Front door");
const lamp = home.light("Hall lamp");
when(door.opens()).then(async (run) => {
  const number = await run.value(() => Math.random());
  await lamp.on();
  await run.wait(minutes(10));
  await run.notify("off " + number);
  await lamp.off();
});`;

test("a run that waits continues after a restart with its recorded values, and repeats no command", async () => {
  const before = await stageCode({ "wait.ts": WAITING });
  await before.open();
  await before.staged.advance(4 * 60_000);
  const value = before.engine.tracesOf("wait.ts")[0]?.actions[0]?.value;
  const { staged } = await before.restart();
  await staged.advance(5 * 60_000);
  assert.deepEqual([staged.commands, staged.messages], [[], []]);
  await staged.advance(2 * 60_000);
  assert.deepEqual(
    staged.commands.map(({ command }) => command),
    [{ on: false }],
  );
  assert.deepEqual(staged.messages, [`off ${String(value)}`]);
});

test("a run ends with the code with which it began, also if the file changes or breaks meanwhile", async () => {
  const before = await stageCode({ "wait.ts": WAITING });
  await before.open();
  await before.save("wait.ts", WAITING.replace("await lamp.off()", 'await run.notify("new")'));
  const { staged, code, engine } = await before.restart({ "wait.ts": "throw new Error('broken')" });
  assert.match(code.broken()[0]?.error ?? "", /^wait\.ts: line 1: broken$/);
  await staged.advance(10 * 60_000);
  assert.equal(engine.automation("wait.ts"), undefined);
  assert.deepEqual(staged.commands, []);
});

test("saving a file leaves the waits of its earlier code and of other files as they are", async () => {
  const { staged, open, save } = await stageCode({ "wait.ts": WAITING, "other.ts": WAITING });
  await open();
  await save("wait.ts", WAITING.replace("await lamp.off()", 'await run.notify("new")'));
  await staged.advance(10 * 60_000);
  assert.equal(staged.messages.filter((each) => each.startsWith("off")).length, 2);
  assert.equal(staged.commands.filter(({ command }) => command["on"] === false).length, 2);
});

test("a file that does not load keeps its last good code, also after a restart; its error has the line", async () => {
  const before = await stageCode({ "hall.ts": WELCOME });
  await before.save("hall.ts", "const a = 1;\nthrow new Error('no');");
  assert.equal(before.code.problemOf("hall.ts"), "hall.ts: line 2: no");
  assert.ok(
    before.log.records.some(({ sentence }) => sentence.includes("its last good code continues")),
  );
  await before.open();
  assert.equal(before.staged.commands.length, 1);
  await before.close();
  const after = await before.restart({});
  const fault = { message: "syntax error: unexpected ;", file: "hall.ts", line: 3 };
  await after.change({ name: "hall.ts", kind: "faulty", fault });
  assert.equal(after.code.problemOf("hall.ts"), "hall.ts:3: syntax error: unexpected ;");
  await after.open();
  assert.equal(after.staged.commands.length, 1);
});

test("a deleted file ends its automations", async () => {
  const { engine, change, open, staged } = await stageCode({ "hall.ts": WELCOME });
  await change({ name: "hall.ts", kind: "deleted" });
  await open();
  assert.equal(engine.automation("hall.ts"), undefined);
  assert.deepEqual(staged.commands, []);
});

test("a device is found by its name, after a rename by its id, and an unknown name is a warning", async () => {
  const before = await stageCode({ "hall.ts": WELCOME });
  const renamed = before.things.map((each) =>
    each.id === LAMP.id ? { ...each, name: "Corridor lamp" } : each,
  );
  before.code.setThings(renamed);
  await before.turn();
  assert.equal(
    before.code.problemOf("hall.ts"),
    'hall.ts:4: "Hall lamp" is now called "Corridor lamp"; it is still found',
  );
  await before.open();
  assert.equal(before.staged.commands[0]?.device, LAMP.id);

  const unknown = await stageCode({ "no.ts": WELCOME.replace("Hall lamp", "Hal lamp") });
  assert.equal(unknown.code.problemOf("no.ts"), 'no.ts:4: no light is called "Hal lamp"');
  unknown.code.setThings([
    ...unknown.things,
    { id: "demo:light:2", kind: "light", name: "Hal lamp" },
  ]);
  await unknown.turn();
  assert.equal(unknown.code.problemOf("no.ts"), undefined);
});

test("an error in a function fails its run with the line, and the automation continues", async () => {
  const { engine, open, close } = await stageCode({
    "bad.ts": `const { when, home } = require("mantel");
when(home.binarySensor("Front door").opens()).then(async (run) => {
  await run.value(() => 1);
  undefined.on();
});`,
  });
  await open();
  await close();
  await open();
  const traces = engine.tracesOf("bad.ts");
  assert.equal(traces.length, 2);
  assert.equal(traces[0]?.result, "failed");
  assert.match(traces[0]?.error ?? "", /^line 4: Cannot read properties of undefined/);
});

test("a thread that ends is started again: the automation that ran is set aside, the waits of others continue", async () => {
  const { engine, staged, code, threads, open, turn, save } = await stageCode({
    "one.ts": WELCOME,
    "two.ts": WAITING,
  });
  await open();
  threads[0]?.end(1);
  await turn();
  assert.equal(threads.length, 2);
  assert.equal(engine.stateOf("one.ts"), "failed");
  assert.equal(
    engine.problemOf("one.ts"),
    "one.ts is set aside until it is saved again: its code failed: it was ended",
  );
  const sent = staged.commands.length;
  await staged.advance(10 * 60_000);
  assert.match(staged.messages.at(-1) ?? "", /^off /);
  assert.equal(engine.stateOf("two.ts"), "idle");
  const later = staged.commands.slice(sent).map(({ command }) => command);
  assert.deepEqual(later, [{ on: false }]);
  await save("one.ts", WELCOME);
  assert.equal(engine.stateOf("one.ts"), "idle");
  assert.deepEqual(code.broken(), []);
});

test("a function that waits for something that never ends is named and set aside", async () => {
  const { engine, open, turn } = await stageCode(
    {
      "hung.ts": `const { when, home } = require("mantel");
when(home.binarySensor("Front door").opens()).then(async (run) => {
  await run.notify("here");
  await new Promise(() => undefined);
});`,
    },
    { hungMs: 5 },
  );
  await open();
  await until(() => engine.stateOf("hung.ts") === "failed");
  await turn();
  assert.equal(engine.stateOf("hung.ts"), "failed");
  const [trace] = engine.tracesOf("hung.ts");
  assert.equal(trace?.result, "failed");
  assert.match(trace?.error ?? "", /never ends: no step in 0 s, after hung\.ts:3$/);
});

test("wrong triggers and steps are sentences", async () => {
  const { code, engine, open } = await stageCode({
    "wrong.ts": 'const { when, at } = require("mantel"); when(at("25:00")).then(() => 0);',
    "late.ts": `const { when, home, at } = require("mantel");
when(home.binarySensor("Front door").opens()).then((run) => run.waitFor(at("noon"), 5));`,
  });
  assert.match(
    code.broken()[0]?.error ?? "",
    /^wrong\.ts: the automation is invalid: \/triggers\/0\/at/,
  );
  await open();
  assert.match(engine.tracesOf("late.ts")[0]?.error ?? "", /\/triggers\/0\/at/);
});

test("only the version in force of a file that is saved often is stored", async () => {
  const { save, code, values, open, staged } = await stageCode({ "hall.ts": WELCOME });
  for (let at = 0; at < 50; at++) await save("hall.ts", `${WELCOME}\n// ${at}\nvoid ${at};`);
  await code.hold();
  assert.deepEqual([...values.keys()].filter((key) => key !== "code-index").length, 1);
  await open();
  assert.equal(staged.commands.length, 1);
});

test("a file that is loaded late keeps no start waiting, and is in force afterwards", async (t) => {
  const { start } = stagedThread();
  let deliver: (() => void) | undefined;
  const { engine, code, turn } = await stageCode(
    { "hall.ts": WELCOME },
    {
      loadingMs: 1,
      startThread: (running, events) =>
        start(running, {
          ...events,
          message: (message) => {
            if (message.kind === "loaded") deliver = () => events.message(message);
            else events.message(message);
          },
        }),
    },
  );
  t.after(() => code.stop());
  assert.equal(engine.automation("hall.ts"), undefined);
  await until(() => deliver !== undefined);
  deliver?.();
  await turn();
  assert.equal(engine.stateOf("hall.ts"), "idle");
});

const NO_STORAGE = {
  get: () => Promise.resolve(undefined),
  set: () => Promise.resolve(),
  delete: () => Promise.resolve(),
};

async function automationsOf({ engine, log, code }: Awaited<ReturnType<typeof stageCode>>) {
  const changed = () => undefined;
  return Automations.open(engine, { storage: NO_STORAGE, log, changed, code: () => code });
}

test("code is switched off and on without its file, also over a save and a restart; its runs end", async () => {
  const staged = await stageCode({ "wait.ts": WAITING });
  await staged.open();
  const automations = await automationsOf(staged);
  const view = await automations.setEnabled("wait.ts", false);
  await staged.turn();
  assert.equal(view.enabled, false);
  assert.equal(staged.engine.tracesOf("wait.ts")[0]?.result, "cancelled");
  await staged.save("wait.ts", `${WAITING}\n`);
  const again = await staged.restart();
  const after = await automationsOf(again);
  assert.deepEqual(
    after.list().map(({ enabled, state, offUntil }) => [enabled, state, offUntil]),
    [[false, "disabled", undefined]],
  );
  await again.close();
  await again.open();
  assert.equal(again.staged.commands.length, 0);
  assert.equal((await after.setEnabled("wait.ts", true)).enabled, true);
  await again.close();
  await again.open();
  assert.equal(again.staged.commands.length, 1);
  await assert.rejects(after.replace("wait.ts", {}), { code: "conflict" });
  await assert.rejects(after.remove("wait.ts"), { code: "conflict" });
});

test("code that is snoozed starts again when the time has passed", async () => {
  const staged = await stageCode({ "hall.ts": WELCOME });
  const automations = await automationsOf(staged);
  const endsAt = staged.staged.clock.now() + 7_200_000;
  assert.equal(automations.snooze("hall.ts", endsAt).enabled, false);
  assert.equal(automations.list()[0]?.offUntil, new Date(endsAt).toISOString());
  await staged.open();
  await staged.close();
  await staged.staged.advance(7_200_000);
  assert.deepEqual(staged.staged.commands, []);
  assert.equal(automations.list()[0]?.offUntil, undefined);
  await staged.open();
  assert.equal(staged.staged.commands.length, 1);
});

test("code that its file switches off cannot be switched on elsewhere", async () => {
  const staged = await stageCode({ "hall.ts": WELCOME.replace(".then(", ".disabled().then(") });
  const automations = await automationsOf(staged);
  await assert.rejects(automations.setEnabled("hall.ts", true), {
    code: "conflict",
    message: "hall.ts is switched off in its file; remove .disabled() there",
  });
});

test("the trace of code has the values that its checks saw, and what it asked for", async () => {
  const { engine, open } = await stageCode({
    "check.ts": `
const { when, home, sun } = require("mantel");
const lamp = home.light("Hall lamp");
when(home.binarySensor("Front door").opens()).then(async (run) => {
  if (await run.check(lamp.isOff)) await run.notify("dark");
});`,
  });
  await open();

  const [check, message] = engine.tracesOf("check.ts")[0]?.actions ?? [];
  const isOff = { type: "state", device: LAMP.id, field: "on", equals: false };
  assert.deepEqual(check?.request, { type: "check", conditions: [isOff] });
  assert.deepEqual(check?.conditions, [{ index: 0, result: true, value: false }]);
  assert.deepEqual(message?.request, { type: "notify", message: "dark" });
});
