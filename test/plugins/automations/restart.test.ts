import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineCalendarEvent } from "../../../plugins/automations/engine/automation.ts";
import type { Action, Trigger } from "../../../plugins/automations/engine/document.ts";
import { stageCode } from "./staged-code.ts";
import { StagedEngine, type StagedOptions } from "./staged-engine.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DOOR = { id: "test:binary-sensor:1", name: "Front door", state: { contact: true } };
const LAMP = { id: "test:light:1", name: "Hall lamp", state: { on: false } };
const OPENS: Trigger = { type: "state", device: DOOR.id, field: "contact", to: false };
const on: Action = { type: "command", device: LAMP.id, command: { on: true } };
const wait = (ms: number): Action => ({ type: "wait", ms });
const say = (message: string): Action => ({ type: "notify", message });

const staged = (more: StagedOptions = {}) => new StagedEngine({ devices: [DOOR, LAMP], ...more });
const open = (home: StagedEngine) => home.change(DOOR.id, { contact: false });
const close = (home: StagedEngine) => home.change(DOOR.id, { contact: true });
const crashed = (home: StagedEngine, more: StagedOptions = {}) =>
  home.restarted({ devices: home.engine.devices(), ...more });

test("a run that has not waited continues after a crash", async () => {
  let home = staged();
  const welcome = { triggers: [OPENS], actions: [on, say("welcome")] };
  home.set("welcome", welcome);
  home.answerAfter(new Promise(() => undefined));
  open(home);
  await Promise.resolve();
  assert.deepEqual([home.commands.length, home.messages], [1, []]);

  home = crashed(home);
  home.set("welcome", welcome);
  await home.settled();

  assert.deepEqual([home.commands.length, home.messages], [0, ["welcome"]]);
});

test("a run that has ended leaves nothing in the store but the states of triggers", async () => {
  const home = staged();
  home.set("welcome", { triggers: [OPENS], actions: [on, wait(MINUTE), { ...on, forMs: MINUTE }] });
  const before = [...home.store.keys()];

  for (let times = 0; times < 3; times++) {
    open(home);
    close(home);
    await home.advance(10 * MINUTE);
  }

  assert.deepEqual([...home.store.keys()], before);
});

test("triggers that wait for their turn are still there after a crash", async () => {
  let home = staged();
  const steps = {
    mode: "queued",
    triggers: [OPENS],
    actions: [wait(MINUTE), say("done")],
  } as const;
  home.set("steps", steps);
  for (let times = 0; times < 3; times++) {
    open(home);
    close(home);
  }
  await home.advance(30 * SECOND);

  home = crashed(home);
  home.set("steps", steps);
  await home.advance(10 * MINUTE);

  assert.deepEqual(home.messages, ["done", "done", "done"]);
  assert.deepEqual(home.results, ["completed", "completed", "completed"]);
});

test("a trigger that waited starts after a crash that came between the end of a run and the next one", async () => {
  const first = staged();
  const steps = { mode: "queued", triggers: [OPENS], actions: [say("done")] } as const;
  first.set("steps", steps);
  const event = { index: 0, type: "state", at: first.clock.now() } as const;
  first.store.set("queue steps", [{ event, traced: [] }]);

  const home = crashed(first);
  home.set("steps", steps);
  await home.settled();

  assert.deepEqual(home.messages, ["done"]);
});

test("the end of a timed command that a crash interrupted is repeated", async () => {
  let home = staged();
  home.set("welcome", { triggers: [OPENS], actions: [{ ...on, forMs: MINUTE }] });
  open(home);
  await home.settled();
  home.answerAfter(new Promise(() => undefined));
  void home.advance(MINUTE);
  await new Promise(setImmediate);
  assert.equal(home.commands.length, 2);

  home = crashed(home);
  await home.advance(0);

  assert.deepEqual(
    home.commands.map(({ command }) => command),
    [{ on: false }],
  );
});

test("a value that has to stay continues to be watched after a crash, also by a run that waits for it", async () => {
  let home = staged();
  const staying: Trigger = { ...OPENS, forMs: 5 * MINUTE };
  const left = { triggers: [staying], actions: [say("left open")] };
  const waits: Action = { type: "waitFor", trigger: staying, timeoutMs: HOUR };
  const waiting = { triggers: [{ type: "start" } as const], actions: [waits, say("waited")] };
  home.set("left", left);
  home.set("waiting", waiting);
  home.engine.started();
  await home.settled();
  open(home);
  await home.advance(4 * MINUTE);

  home = crashed(home);
  home.set("left", left);
  home.set("waiting", waiting);
  await home.advance(59 * SECOND);
  assert.deepEqual(home.messages, []);
  await home.advance(SECOND);

  assert.deepEqual(new Set(home.messages), new Set(["left open", "waited"]));
});

test("a value stays within its hysteresis over a crash", async () => {
  const sensor = { id: "test:sensor:1", state: { temperature: 20 } };
  const hot = {
    triggers: [
      { type: "state", device: sensor.id, field: "temperature", above: 25, hysteresis: 2 } as const,
    ],
    actions: [say("hot")],
  };
  let home = staged({ devices: [sensor] });
  home.set("hot", hot);
  home.change(sensor.id, { temperature: 26 });
  home.change(sensor.id, { temperature: 24 });
  await home.settled();

  home = crashed(home);
  home.set("hot", hot);
  home.change(sensor.id, { temperature: 26 });
  await home.settled();

  assert.deepEqual(home.messages, []);
});

test("a date that is set moves no end of a wait, also over a restart that follows", async () => {
  let home = staged();
  const steps = { triggers: [OPENS], actions: [wait(10 * MINUTE), say("done")] };
  home.set("steps", steps);
  open(home);
  await home.settled();

  home.clock.set(home.clock.now() + 24 * HOUR);
  home.engine.storeTimes();
  home = crashed(home);
  home.set("steps", steps);
  await home.advance(9 * MINUTE);
  assert.deepEqual(home.messages, []);
  await home.advance(MINUTE);

  assert.deepEqual(home.messages, ["done"]);
});

test("stored state of automations that no longer exist is forgotten, and that of others is kept", async () => {
  const first = staged();
  const steps = {
    mode: "queued",
    triggers: [OPENS],
    actions: [wait(HOUR)],
  } as const;
  for (const id of ["gone", "here"]) {
    first.set(id, steps);
    first.engine.variables.set(id, "count", 1);
    first.engine.switchOff("nothing");
  }
  open(first);
  close(first);
  open(first);
  first.engine.switchOff("gone", first.clock.now() + HOUR);
  await first.settled();

  const home = crashed(first);
  home.engine.forgetOthers((id) => id === "here");

  assert.ok([...home.store.keys()].every((key) => !key.includes("gone")));
  assert.ok([...home.store.keys()].some((key) => key.startsWith("run ")));
  assert.equal(home.engine.variables.get("here", "count"), 1);
});

test("entries of the store that cannot be read are left out", async () => {
  const store = new Map<string, unknown>([
    ["run x", "text"],
    ["step y 0", null],
    ["queue steps", 5],
    ["undo a\nb", 7],
    ["off steps", "never"],
    ["paused", "yes"],
    ["later kind", {}],
    ["", 1],
  ]);
  const home = staged({ store });
  home.set("steps", { triggers: [OPENS], actions: [say("done")] });
  open(home);
  await home.settled();

  assert.deepEqual(home.messages, ["done"]);
});

const PARTY = {
  type: "calendar",
  calendar: "*",
} as const;
const at = (time: string) => Date.parse(`2026-06-10T${time}:00Z`);
const event = (id: string, time: string): EngineCalendarEvent => ({
  id,
  calendar: "home",
  title: id,
  start: at(time),
  end: at(time) + HOUR,
});
const called = { triggers: [PARTY], actions: [say("{trigger.title}")] };

test("an event that has fired does not fire again after a crash, and one that comes late still does", async () => {
  const events = [event("party", "10:01")];
  let home = staged();
  home.set("called", called);
  home.engine.setCalendarEvents(events);
  await home.advance(5 * MINUTE);
  assert.deepEqual(home.messages, ["party"]);

  home = crashed(home);
  home.set("called", called);
  home.engine.setCalendarEvents([...events, event("late", "10:02")]);
  await home.advance(20 * MINUTE);

  assert.deepEqual(home.messages, ["late"]);
});

for (const [missed, expected] of [
  ["skip", []],
  ["once", ["second"]],
] as const) {
  test(`of events that were missed for hours, missed: "${missed}" starts ${expected.length}`, async () => {
    const whole = { ...called, triggers: [{ ...PARTY, missed }] };
    const first = staged();
    first.set("called", whole);
    first.engine.setCalendarEvents([event("first", "12:00"), event("second", "13:00")]);
    await first.advance(MINUTE);
    first.engine.stop();

    let home = staged({ store: first.store, now: "2026-06-10T18:00Z" });
    home.set("called", whole);
    home.engine.setCalendarEvents([]); // the calendars are not read yet
    home = crashed(home);
    home.set("called", whole);
    home.engine.setCalendarEvents([event("first", "12:00"), event("second", "13:00")]);
    await home.advance(MINUTE);
    home.engine.setCalendarEvents([event("first", "12:00"), event("second", "13:00")]);
    await home.settled();

    assert.deepEqual(home.messages, expected);
  });
}

test("a missed event does not start beside one that is due now", async () => {
  const whole = { ...called, triggers: [{ ...PARTY, missed: "once" as const }] };
  const first = staged();
  first.set("called", whole);
  first.engine.stop();

  const home = staged({ store: first.store, now: "2026-06-10T18:00Z" });
  home.set("called", whole);
  home.engine.setCalendarEvents([event("missed", "12:00"), event("due", "17:58")]);
  await home.advance(MINUTE);

  assert.deepEqual(home.messages, ["due"]);
});

test("a time of the last week that was missed is made up for, however long ago the state was stored", async () => {
  const weekly: Trigger = { type: "time", at: "12:00", days: ["mon"], missed: "once" };
  const bins = { triggers: [weekly], actions: [say("bins")] };
  const first = staged({ now: "2026-06-01T20:00Z" });
  first.set("bins", bins);
  first.engine.stop();

  const home = staged({ store: first.store, now: "2026-06-17T10:00Z" });
  home.set("bins", bins);
  await home.advance(MINUTE);

  assert.deepEqual(home.messages, ["bins"]);
});

const COUNTING = `
const { variable, when, start, home, minutes } = require("mantel");
const count = variable("count", 10);
when(home.binarySensor("Front door").opens()).mode("parallel").then(async (run) => {
  const next = await count.update((value) => value + 1);
  await run.wait(minutes(1));
  await run.notify("now " + next + " of " + (await count.get()));
});
`;

test("a variable of code keeps its value from run to run, through a save and a crash", async () => {
  let counting = await stageCode({ "count.ts": COUNTING });
  for (let times = 0; times < 3; times++) {
    await counting.open();
    await counting.close();
  }
  await counting.save("count.ts", `${COUNTING}\n// saved`);
  await counting.open();
  counting = await counting.restart();
  assert.equal(counting.engine.variables.get("count.ts", "count"), 14);
  await counting.staged.advance(2 * MINUTE);
  await counting.turn();

  assert.deepEqual(
    new Set(counting.staged.messages),
    new Set(["now 11 of 14", "now 12 of 14", "now 13 of 14", "now 14 of 14"]),
  );
});
