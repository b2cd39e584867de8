import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import type { Action, Trigger } from "../../../plugins/automations/engine/document.ts";
import { StagedEngine } from "./staged-engine.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DOOR = { id: "test:binary-sensor:1", name: "Front door", state: { contact: true } };
const LAMP = { id: "test:light:1", name: "Hall lamp", state: { on: false, brightness: 30 } };
const OPENS: Trigger = { type: "state", device: DOOR.id, field: "contact", to: false };
const on = (more: object = {}): Action => ({
  type: "command",
  device: LAMP.id,
  command: { on: true },
  ...more,
});
const wait = (ms: number): Action => ({ type: "wait", ms });

const staged = (more = {}) => new StagedEngine({ devices: [DOOR, LAMP], ...more });
const open = (home: StagedEngine) => home.change(DOOR.id, { contact: false });
const close = (home: StagedEngine) => home.change(DOOR.id, { contact: true });

test("an automation commands a device when its trigger is met, and names who caused it", async () => {
  const home = staged();
  home.set("welcome", { name: "Welcome", triggers: [OPENS], actions: [on()] });

  open(home);
  await home.settled();

  assert.deepEqual(home.commands, [
    {
      at: "2026-06-10T10:00:00.000Z",
      device: LAMP.id,
      command: { on: true },
      by: {
        automation: { id: "welcome", name: "Welcome" },
        parent: { kind: "device", id: DOOR.id, name: DOOR.name },
      },
    },
  ]);
});

test("a trace has the trigger, the values that conditions saw, and each action with its result", async () => {
  const home = staged({ refuse: (id: string) => (id === LAMP.id ? undefined : new Error("gone")) });
  home.set("welcome", {
    triggers: [OPENS],
    conditions: [
      { type: "state", device: LAMP.id, field: "on", equals: false },
      { type: "any", of: [{ type: "state", device: LAMP.id, field: "brightness", above: 20 }] },
    ],
    actions: [on(), { type: "command", device: DOOR.id, command: { on: true } }],
  });

  open(home);
  await home.settled();

  const { trigger, conditions, actions, result, endedAt } = home.last("welcome") ?? {};
  assert.equal(trigger?.index, 0);
  assert.equal(trigger?.event.to, false);
  assert.deepEqual(conditions, [
    { index: 0, result: true, value: false },
    { index: 1, result: true, value: [{ index: 0, result: true, value: 30 }] },
  ]);
  assert.deepEqual(
    actions?.map(({ index, result: each, error }) => [index, each, error]),
    [
      [0, "ok", undefined],
      [1, "failed", "gone"],
    ],
  );
  assert.equal(result, "failed");
  assert.equal(endedAt, home.at);
});

test("an automation whose conditions are not met does nothing, and its trace shows why", async () => {
  const home = staged();
  home.set("welcome", {
    triggers: [OPENS],
    conditions: [{ type: "state", device: LAMP.id, field: "on", equals: true }],
    actions: [on()],
  });

  open(home);
  await home.settled();

  assert.equal(home.commands.length, 0);
  assert.equal(home.last("welcome")?.result, "stopped");
  assert.deepEqual(home.last("welcome")?.conditions, [{ index: 0, result: false, value: false }]);
});

test("a trigger that needs a value to stay for a time fires only if it stays", async () => {
  const home = staged();
  home.set("left-open", { triggers: [{ ...OPENS, forMs: 5 * MINUTE }], actions: [on()] });

  open(home);
  await home.advance(4 * MINUTE);
  close(home);
  await home.advance(10 * MINUTE);
  assert.equal(home.commands.length, 0);
  open(home);
  await home.advance(5 * MINUTE);
  assert.equal(home.commands.length, 1);
});

test("a value fires when it crosses a limit, and again only after it has left it by the hysteresis", async () => {
  const sensor = { id: "test:sensor:1", state: { temperature: 20 } };
  const home = new StagedEngine({ devices: [sensor, LAMP] });
  home.set("hot", {
    triggers: [
      { type: "state", device: sensor.id, field: "temperature", above: 25, hysteresis: 1 },
    ],
    actions: [on()],
  });
  const counts: number[] = [];

  for (const temperature of [25, 25.1, 30, 24.5, 25.5, 24, 25.5]) {
    home.change(sensor.id, { temperature });
    await home.settled();
    counts.push(home.commands.length);
  }

  assert.deepEqual(counts, [0, 1, 1, 1, 1, 1, 2]);
});

test("a value that is within the limits at first does not fire", async () => {
  const sensor = { id: "test:sensor:1", state: { temperature: 30 } };
  const home = new StagedEngine({ devices: [sensor, LAMP] });
  home.set("hot", {
    triggers: [{ type: "state", device: sensor.id, field: "temperature", above: 25 }],
    actions: [on()],
  });

  home.change(sensor.id, { temperature: 31 });
  await home.settled();

  assert.equal(home.commands.length, 0);
});

test("the fields of parts and extras trigger too", async () => {
  const fan = {
    id: "test:fan:1",
    parts: [{ id: "light", state: { on: false } }],
    extra: { state: { childLock: false } },
  };
  const home = new StagedEngine({ devices: [fan, LAMP] });
  home.set("parts", {
    mode: "parallel",
    triggers: [
      { type: "state", device: fan.id, field: "parts/light/on", to: true },
      { type: "state", device: fan.id, field: "extra/childLock", to: true },
      { type: "state", device: fan.id, field: "available", to: false },
    ],
    actions: [on()],
  });
  const before = home.engine.device(fan.id);
  assert.ok(before);

  const lit = { ...before, parts: [{ id: "light", state: { on: true } }] };
  home.engine.deviceChanged({ id: fan.id, device: lit, old: before });
  const locked = { ...lit, extra: { state: { childLock: true } } };
  home.engine.deviceChanged({ id: fan.id, device: locked, old: lit });
  home.engine.deviceChanged({ id: fan.id, device: { ...locked, available: false }, old: locked });
  await home.settled();

  assert.deepEqual(
    home.engine.tracesOf("parts").map(({ trigger }) => trigger.index),
    [2, 1, 0],
  );
});

test("events, messages, webhooks, presence and the start trigger", async () => {
  const anna = { id: "test:tracker:1", state: { home: true } };
  const ben = { id: "test:tracker:2", state: { home: false } };
  const home = new StagedEngine({ devices: [anna, ben, LAMP] });
  home.set("all", {
    mode: "parallel",
    triggers: [
      { type: "event", device: LAMP.id, event: "press" },
      { type: "mqtt", topic: "garden/+/rain", payload: "on" },
      { type: "webhook", name: "parcel" },
      { type: "presence", anyone: false },
      { type: "presence", anyone: true },
      { type: "start" },
    ],
    actions: [],
  });

  home.engine.started();
  home.engine.deviceEvent(LAMP.id, "press");
  home.engine.deviceEvent(LAMP.id, "hold");
  home.engine.message("garden/roof/rain", "off");
  home.engine.message("garden/roof/rain", "on");
  assert.equal(home.engine.webhook("parcel"), true);
  assert.equal(home.engine.webhook("other"), false);
  home.change(anna.id, { home: false });
  home.change(ben.id, { home: true });
  home.change(anna.id, { home: true });
  await home.settled();

  assert.deepEqual(
    home.engine.tracesOf("all").map(({ trigger }) => trigger.index),
    [4, 3, 2, 1, 0, 5],
  );
});

test("calendar events trigger before their start, and each of them once", async () => {
  const home = staged({ now: "2026-06-10T10:00Z" });
  home.set("meeting", {
    triggers: [{ type: "calendar", calendar: "work", match: "STAND", offsetMs: -10 * MINUTE }],
    actions: [on()],
  });
  const event = (id: string, title: string, start: string) => ({
    id,
    calendar: "work",
    title,
    start: Date.parse(start),
    end: Date.parse(start) + 30 * MINUTE,
  });
  const events = [
    event("a", "Stand-up", "2026-06-10T11:00Z"),
    event("b", "Lunch", "2026-06-10T10:30Z"),
  ];
  home.engine.setCalendarEvents(events);

  await home.advance(50 * MINUTE);
  home.engine.setCalendarEvents([...events]);
  await home.advance(60 * MINUTE);

  assert.deepEqual(
    home.commands.map(({ at }) => at),
    ["2026-06-10T10:50:00.000Z"],
  );
});

test("reminders of events start an automation once each, and other events do not", async () => {
  const home = staged();
  home.set("reminders", {
    triggers: [{ type: "calendar", calendar: "*", edge: "reminder", offsetMs: MINUTE }],
    mode: "queued",
    actions: [{ type: "notify", message: "{trigger.title}" }],
  });
  const start = Date.parse("2026-06-10T11:00Z");
  const event = (id: string, reminders?: number[]) => ({
    ...{ id, calendar: "work", title: id, start, end: start + MINUTE },
    ...(reminders && { reminders: reminders.map((minutes) => start - minutes * MINUTE) }),
  });
  const events = [event("Stand-up", [30, 5]), event("Lunch"), event("Dentist", [30])];
  home.engine.setCalendarEvents(events);

  await home.advance(31 * MINUTE);
  const early = [...home.messages];
  home.engine.setCalendarEvents([...events]);
  await home.advance(60 * MINUTE);

  assert.deepEqual(early, ["Stand-up", "Dentist"]);
  assert.deepEqual(home.messages, ["Stand-up", "Dentist", "Stand-up"]);
});

test("conditions of time span midnight, and their days are those on which the span begins", async () => {
  const results: (boolean | undefined)[] = [];
  // The 12th of June 2026 is a Friday.
  for (const now of ["12T21:59", "12T22:00", "13T05:59", "13T06:00", "13T22:30"]) {
    const home = staged({ now: `2026-06-${now}Z`, timeZone: "UTC" });
    home.set("night", {
      triggers: [OPENS],
      conditions: [{ type: "time", after: "22:00", before: "06:00", days: ["fri"] }],
    });
    open(home);
    await home.settled();
    results.push(home.last("night")?.conditions[0]?.result);
  }

  assert.deepEqual(results, [false, true, true, false, false]);
});

test("conditions see the sun, who is at home, and events of calendars", async () => {
  const berlin = { latitude: 52.52, longitude: 13.405 };
  const tracker = { id: "test:tracker:1", state: { home: false } };
  const home = new StagedEngine({ coordinates: berlin, devices: [DOOR, tracker] });
  home.engine.setCalendarEvents([
    {
      id: "a",
      calendar: "work",
      title: "Holiday",
      start: home.clock.now() - 1,
      end: home.clock.now() + 1,
    },
  ]);
  home.set("all", {
    triggers: [OPENS],
    conditions: [
      { type: "sun", is: "up" },
      { type: "presence", anyone: false },
      { type: "calendar", calendar: "*", match: "holi" },
      { type: "none", of: [{ type: "sun", is: "down" }] },
    ],
  });

  open(home);
  await home.settled();

  assert.deepEqual(
    home.last("all")?.conditions.map(({ result }) => result),
    [true, true, true, true],
  );
});

test("an action takes one of two ways by its conditions, and waits for triggers with a timeout", async () => {
  const home = staged();
  home.set("guard", {
    triggers: [OPENS],
    actions: [
      {
        type: "waitFor",
        trigger: { type: "state", device: DOOR.id, field: "contact", to: true },
        timeoutMs: MINUTE,
      },
      {
        type: "if",
        conditions: [{ type: "state", device: DOOR.id, field: "contact", equals: true }],
        // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
        then: [{ type: "notify", message: "closed" }],
        else: [{ type: "notify", message: "still open" }],
      },
    ],
  });

  open(home);
  await home.advance(30 * SECOND);
  close(home);
  await home.settled();
  open(home);
  await home.advance(2 * MINUTE);

  assert.deepEqual(home.messages, ["closed", "still open"]);
  assert.deepEqual(
    home.last("guard")?.actions.map(({ at, value }) => [at, value]),
    [
      ["0", false],
      ["1", false],
      ["1/else/0", undefined],
    ],
  );
  const [, check, message] = home.last("guard")?.actions ?? [];
  assert.deepEqual(check?.conditions, [{ index: 0, result: false, value: false }]);
  assert.deepEqual(message?.request, { type: "notify", message: "still open" });
});

test("a timed command restores the previous values when it ends, also after a restart", async () => {
  let home = staged();
  home.set("welcome", { triggers: [OPENS], actions: [on({ forMs: 5 * MINUTE })] });
  open(home);
  await home.advance(2 * MINUTE);

  home = home.restarted({
    devices: [DOOR, { ...LAMP, state: { on: true, brightness: 30 } }],
  });
  await home.advance(2 * MINUTE + 59 * SECOND);
  assert.equal(home.commands.length, 0);
  await home.advance(SECOND);

  assert.deepEqual(
    home.commands.map(({ command }) => command),
    [{ on: false }],
  );
});

test("the end of a run is reported once, also if a timed command ends later", async () => {
  const home = staged();
  home.set("motion", { triggers: [OPENS], actions: [on({ forMs: 5 * MINUTE })] });

  open(home);
  await home.advance(6 * MINUTE);

  assert.equal(home.last("motion")?.actions.length, 2);
  assert.deepEqual(home.results, ["completed"]);
});

test("a second timed command extends the first, and the lamp is off afterwards", async () => {
  const home = staged();
  home.set("motion", { triggers: [OPENS], actions: [on({ forMs: 5 * MINUTE })] });

  open(home);
  await home.advance(4 * MINUTE);
  close(home);
  open(home);
  await home.advance(4 * MINUTE);
  assert.equal(home.engine.device(LAMP.id)?.state["on"], true);
  await home.advance(MINUTE);

  assert.equal(home.engine.device(LAMP.id)?.state["on"], false);
});

test("timed commands of two automations overlap, and the end of the last one restores the first values", async () => {
  const home = staged();
  home.set("short", { triggers: [OPENS], actions: [on({ forMs: 5 * MINUTE })] });
  const longer: Action = {
    type: "command",
    device: LAMP.id,
    command: { on: true, brightness: 100 },
    forMs: 10 * MINUTE,
  };
  home.set("long", { triggers: [{ ...OPENS, to: true }], actions: [longer] });

  open(home);
  await home.advance(MINUTE);
  close(home);
  await home.advance(5 * MINUTE);
  assert.equal(home.engine.device(LAMP.id)?.state["on"], true);
  await home.advance(10 * MINUTE);

  assert.equal(home.engine.device(LAMP.id)?.state["on"], false);
});

test("a command without a time stays, also when an earlier timed command ends", async () => {
  const home = staged();
  home.set("short", { triggers: [OPENS], actions: [on({ forMs: 5 * MINUTE })] });
  home.set("evening", { triggers: [{ ...OPENS, to: true }], actions: [on()] });

  open(home);
  await home.advance(MINUTE);
  close(home);
  await home.advance(10 * MINUTE);

  assert.equal(home.engine.device(LAMP.id)?.state["on"], true);
});

for (const [mode, expected] of [
  ["single", ["+0", "+60"]],
  ["restart", ["+0", "+0", "+0", "+60"]],
  ["queued", ["+0", "+60", "+60", "+120", "+120", "+180"]],
  ["parallel", ["+0", "+0", "+0", "+60", "+60", "+60"]],
] as const) {
  test(`three triggers in a row run as the mode ${mode} says`, async () => {
    const home = staged();
    const start = home.clock.now();
    home.set("mode", { mode, triggers: [OPENS], actions: [on(), wait(MINUTE), on()] });

    for (let times = 0; times < 3; times++) {
      open(home);
      close(home);
    }
    await home.advance(10 * MINUTE);

    const seconds = home.commands.map(({ at }) => `+${(Date.parse(at) - start) / SECOND}`);
    assert.deepEqual(seconds, expected);
  });
}

test("at most ten runs of an automation are active, and ten wait", async () => {
  const home = staged();
  home.set("parallel", { mode: "parallel", triggers: [OPENS], actions: [wait(MINUTE), on()] });
  home.set("queued", { mode: "queued", triggers: [OPENS], actions: [wait(1), on()] });

  for (let times = 0; times < 30; times++) {
    open(home);
    close(home);
  }
  await home.advance(10 * MINUTE);

  assert.equal(home.commands.length, 10 + 11);
});

test("a wait continues after a restart, from where it was, and no action is repeated", async () => {
  let home = staged();
  home.set("steps", { triggers: [OPENS], actions: [on(), wait(10 * MINUTE), on()] });
  open(home);
  await home.advance(4 * MINUTE);
  assert.equal(home.commands.length, 1);

  home = home.restarted({ devices: [DOOR, LAMP] });
  home.set("steps", { triggers: [OPENS], actions: [on(), wait(10 * MINUTE), on()] });
  await home.advance(5 * MINUTE + 59 * SECOND);
  assert.equal(home.commands.length, 0);
  await home.advance(SECOND);

  assert.equal(home.commands.length, 1);
  assert.equal(home.last("steps")?.result, "completed");
});

test("a wait that ended while nothing ran continues at once", async () => {
  const first = staged();
  first.set("steps", { triggers: [OPENS], actions: [wait(10 * MINUTE), on()] });
  open(first);
  await first.settled();

  const { store } = first;
  const home = new StagedEngine({ devices: [DOOR, LAMP], store, now: "2026-06-10T18:00Z" });
  home.set("steps", { triggers: [OPENS], actions: [wait(10 * MINUTE), on()] });
  await home.advance(0);

  assert.equal(home.commands.length, 1);
});

test("a command that was under way at a restart is not sent again", async () => {
  let home = staged();
  const actions: Action[] = [on(), wait(MINUTE), on()];
  home.set("steps", { triggers: [OPENS], actions });
  home.answerAfter(new Promise(() => undefined));
  open(home);
  await Promise.resolve();
  assert.equal(home.commands.length, 1);

  home = home.restarted({ devices: [DOOR, LAMP] });
  home.set("steps", { triggers: [OPENS], actions });
  await home.advance(2 * MINUTE);

  assert.equal(home.commands.length, 1);
  assert.equal(home.last("steps")?.actions[0]?.error, "its outcome is not known");
});

test("a run keeps the actions with which it began, and the runs of others are untouched", async () => {
  const home = staged();
  home.set("a", { triggers: [OPENS], actions: [wait(MINUTE), on()] });
  home.set("b", { triggers: [OPENS], actions: [wait(MINUTE), on()] });
  open(home);
  await home.settled();

  home.set("a", { triggers: [OPENS], actions: [] });
  await home.advance(MINUTE);

  assert.deepEqual(
    home.commands.map(({ by }) => by.automation.id),
    ["a", "b"],
  );
});

test("a trigger that waits for a value to stay is not disturbed by a save", async () => {
  const home = staged();
  const triggers: Trigger[] = [{ ...OPENS, forMs: 5 * MINUTE }];
  home.set("left-open", { triggers, actions: [] });
  open(home);
  await home.advance(4 * MINUTE);

  home.set("left-open", { triggers, actions: [on()] });
  await home.advance(MINUTE);

  assert.equal(home.commands.length, 1);
});

test("switching an automation off, or all of them, ends runs and lets nothing start", async () => {
  const home = staged();
  const document = { triggers: [OPENS], actions: [wait(MINUTE), on()] };
  home.set("a", document);
  home.set("b", document);
  open(home);
  await home.settled();

  home.set("a", { ...document, enabled: false });
  home.engine.pause(home.clock.now() + 60 * MINUTE);
  await home.advance(10 * MINUTE);
  close(home);
  open(home);
  await home.advance(10 * MINUTE);
  assert.equal(home.commands.length, 0);
  assert.equal(home.last("b")?.result, "cancelled");
  await home.advance(40 * MINUTE);
  close(home);
  open(home);
  await home.advance(MINUTE);

  assert.deepEqual(
    home.commands.map(({ by }) => by.automation.id),
    ["b"],
  );
});

test("a run by hand skips the conditions", async () => {
  const home = staged();
  home.set("welcome", {
    triggers: [OPENS],
    conditions: [{ type: "state", device: LAMP.id, field: "on", equals: true }],
    actions: [on()],
  });
  const anna = { kind: "person", id: "t1", name: "Anna" } as const;

  assert.ok(home.engine.run("welcome", anna));
  await home.settled();

  assert.deepEqual(home.commands[0]?.by.parent, anna);
  assert.equal(home.last("welcome")?.trigger.index, -1);
});

test("a command that is refused because of a rate is sent again later", async () => {
  let refusals = 2;
  const refuse = () =>
    refusals-- > 0
      ? new MantelError("bridge_rate_limited", "too many", { retryAfterMs: 3_000 })
      : undefined;
  const home = staged({ refuse });
  home.set("welcome", { triggers: [OPENS], actions: [on()] });

  open(home);
  await home.advance(5_999);
  assert.equal(home.commands.length, 0);
  await home.advance(1);

  assert.equal(home.commands.length, 1);
});

test("two automations that start each other are named and paused for a minute", async () => {
  const home = staged();
  const toggled = (value: boolean): Trigger => ({
    type: "state",
    device: LAMP.id,
    field: "on",
    to: value,
  });
  home.set("a", {
    name: "Day",
    mode: "queued",
    triggers: [toggled(false)],
    actions: [on()],
  });
  const off: Action = { type: "command", device: LAMP.id, command: { on: false } };
  home.set("b", { name: "Night", mode: "queued", triggers: [toggled(true)], actions: [off] });

  home.change(LAMP.id, { on: true });
  await home.settled();

  assert.ok(home.commands.length < 40, `${home.commands.length} commands`);
  assert.match(
    home.warnings.join("\n"),
    /"(Day|Night)" and "(Day|Night)" start each other: 8 times in 10 s/,
  );
  const states = ["a", "b"].map((id) => home.engine.stateOf(id));
  assert.ok(states.includes("paused"));
  await home.advance(61 * SECOND);
  assert.deepEqual(
    ["a", "b"].map((id) => home.engine.stateOf(id)),
    ["idle", "idle"],
  );
});

test("two automations that set a device to different values in turns are named", async () => {
  const home = staged();
  const level = (brightness: number): Action => ({
    type: "command",
    device: LAMP.id,
    command: { brightness },
  });
  home.set("a", { name: "Bright", triggers: [OPENS], actions: [level(90)] });
  home.set("b", { name: "Dim", triggers: [{ ...OPENS, to: true }], actions: [level(10)] });

  for (let turns = 0; turns < 8; turns++) {
    open(home);
    await home.advance(SECOND);
    close(home);
    await home.advance(SECOND);
  }

  assert.match(
    home.engine.problemOf("a") ?? "",
    /"Bright" and "Dim" set brightness of Hall lamp to different values|"Dim" and "Bright"/,
  );
  assert.equal(home.engine.problemOf("b"), home.engine.problemOf("a"));
});

test("ten thousand triggers at once start an automation at most 300 times, and it is named", async () => {
  const home = staged();
  home.set("storm", {
    name: "Storm",
    mode: "parallel",
    triggers: [{ type: "event", device: DOOR.id, event: "press" }],
    actions: [on()],
  });

  for (let times = 0; times < 10_000; times++) {
    home.engine.deviceEvent(DOOR.id, "press");
    if (times % 5 === 0) await home.settled();
  }
  await home.settled();

  assert.ok(home.commands.length <= 300);
  assert.deepEqual(
    home.warnings.filter((each) => each.includes("Storm")),
    ['"Storm" starts too often: 300 times in 10 s; paused for 60 s'],
  );
});

test("a device that is gone fails its action, and works again under the same id", async () => {
  const home = staged();
  home.set("welcome", { triggers: [OPENS], actions: [on()] });
  const lamp = home.engine.device(LAMP.id);
  home.engine.deviceChanged({ id: LAMP.id, device: undefined, old: lamp });

  open(home);
  await home.settled();
  assert.match(home.last("welcome")?.actions[0]?.error ?? "", /test:light:1 does not exist/);
  home.change(LAMP.id, { on: false });
  close(home);
  open(home);
  await home.settled();

  assert.equal(home.last("welcome")?.result, "completed");
});
