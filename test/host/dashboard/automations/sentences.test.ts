import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import { createFormats } from "@mantel/plugin-sdk/format";
import {
  entriesIn,
  type Part,
  partsIn,
  tracesIn,
} from "../../../../host/dashboard/automations/document.ts";
import type { HomeView } from "../../../../host/dashboard/automations/home.ts";
import { kindsOf, newPart } from "../../../../host/dashboard/automations/kinds.ts";
import { isKnown } from "../../../../host/dashboard/automations/known.ts";
import {
  pointerOf,
  valueAt,
  withItem,
  withMoved,
  withoutItem,
  withValue,
} from "../../../../host/dashboard/automations/operations.ts";
import {
  commandFrom,
  flatCommand,
  phraseOf,
} from "../../../../host/dashboard/automations/phrases.ts";
import { draftOf, templates } from "../../../../host/dashboard/automations/templates.ts";
import { conditionHolds, liveOf, verdictOf } from "../../../../host/dashboard/automations/truth.ts";
import { setLocale } from "../../../../host/dashboard/i18n/language.ts";
import { deviceOf } from "../../../helpers/device.ts";

const LAMP = deviceOf({
  id: "demo:light:1",
  name: "Hall lamp",
  room: "Hall",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
  },
  state: { on: false, brightness: 40 },
});
const DOOR = deviceOf({
  id: "demo:binary-sensor:1",
  kind: "binary-sensor",
  name: "Front door",
  room: "Hall",
  capabilities: { contact: { type: "boolean", readOnly: true } },
  state: { contact: true },
});
const CLIMATE = deviceOf({
  id: "demo:sensor:1",
  kind: "sensor",
  name: "Bath climate",
  capabilities: {
    temperature: { type: "number", unit: "°C", readOnly: true },
    humidity: { type: "number", unit: "%", readOnly: true },
  },
  state: { temperature: 21.5, humidity: 60 },
});
const MOTION = deviceOf({
  id: "demo:binary-sensor:2",
  kind: "binary-sensor",
  name: "Hall motion",
  room: "Hall",
  capabilities: { occupancy: { type: "boolean", readOnly: true } },
  state: { occupancy: false },
});
const tracker = (name: string, home: boolean): Device =>
  deviceOf({
    id: `demo:tracker:${name}`,
    kind: "tracker",
    name,
    capabilities: { home: { type: "boolean", readOnly: true } },
    state: { home },
  });

function homeOf({
  devices = [LAMP, DOOR, CLIMATE, MOTION],
  time = "12:00",
  day = "mon",
  isUp,
}: {
  readonly devices?: readonly Device[];
  readonly time?: string;
  readonly day?: ReturnType<HomeView["clock"]>["day"];
  readonly isUp?: boolean;
} = {}): HomeView {
  return {
    device: (id) => devices.find((each) => each.id === id),
    devices: () => devices,
    scenes: () => new Map([["host:scene:movie", "Movie"]]),
    calendars: () => new Map([["family", "Family"]]),
    sun: () => (isUp === undefined ? undefined : { isUp }),
    clock: () => ({ time, day }),
    fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
  };
}

const HOME = homeOf();
const say = (section: "triggers" | "conditions" | "actions", part: Part): string =>
  phraseOf(section, part, HOME).text;

test("triggers are sentences about the devices of the home", () => {
  const state = (fields: object): string =>
    say("triggers", { type: "state", device: DOOR.id, field: "contact", ...fields });

  assert.equal(state({ to: false }), "Front door opens");
  assert.equal(state({ to: false, forMs: 600_000 }), "Front door opens for 10 min");
  assert.equal(state({ from: false }), "Front door closes");
  assert.equal(
    state({ device: CLIMATE.id, field: "temperature", above: 25 }),
    "Bath climate rises above 25.0°",
  );
  assert.equal(
    state({ device: CLIMATE.id, field: "humidity", below: 40 }),
    "Bath climate: Humidity falls below 40%",
  );
  assert.equal(
    say("triggers", { type: "time", at: "06:30", days: ["mon", "tue", "wed", "thu", "fri"] }),
    "it is 06:30 on workdays",
  );
  assert.equal(
    say("triggers", { type: "time", at: "06:30", days: ["mon", "sat"] }),
    "it is 06:30 on Mon and Sat",
  );
  assert.equal(
    say("triggers", { type: "sun", event: "sunset", offsetMs: -1_800_000 }),
    "30 min before sunset",
  );
  assert.equal(
    say("triggers", { type: "calendar", calendar: "family", match: "Bin" }),
    "“Bin” in Family begins",
  );
});

test("actions say what a device will do", () => {
  const command = (fields: object): string =>
    say("actions", { type: "command", device: LAMP.id, command: fields });

  assert.equal(command({ on: true }), "turn on Hall lamp");
  assert.equal(command({ on: true, brightness: 80 }), "turn on Hall lamp, 80%");
  assert.equal(command({ on: false }), "turn off Hall lamp");
  assert.equal(command({ brightness: 10 }), "set Hall lamp to 10%");
  assert.equal(command({}), "Hall lamp: choose what it does");
  assert.equal(say("actions", { type: "scene", scene: "host:scene:movie" }), "start Movie");
  assert.equal(
    say("actions", { type: "notify", message: "Hi", to: ["Mara", "Noah"] }),
    "notify Mara and Noah",
  );
});

test("every other trigger has a sentence too", () => {
  const trigger = (part: Part): string => say("triggers", part);

  assert.equal(
    trigger({ type: "event", device: MOTION.id, event: "pressed" }),
    "Hall motion: “pressed”",
  );
  assert.equal(trigger({ type: "cron", expression: "0 7 * * 1" }), "the schedule 0 7 * * 1 is due");
  assert.equal(
    trigger({ type: "sun", event: "sunrise", offsetMs: 600_000 }),
    "10 min after sunrise",
  );
  assert.equal(trigger({ type: "sun", event: "sunrise" }), "sunrise");
  assert.equal(
    trigger({ type: "calendar", calendar: "*", edge: "end" }),
    "an event in any calendar ends",
  );
  assert.equal(
    trigger({ type: "calendar", calendar: "*", edge: "reminder", offsetMs: 600_000 }),
    "10 min after an event in any calendar has a reminder",
  );
  assert.equal(trigger({ type: "mqtt", topic: "door/bell" }), "door/bell has a message");
  assert.equal(
    trigger({ type: "mqtt", topic: "door/bell", payload: "ring" }),
    "door/bell says “ring”",
  );
  assert.equal(trigger({ type: "presence", anyone: true }), "the first person comes home");
  assert.equal(trigger({ type: "presence", anyone: false }), "the last person leaves");
  assert.equal(trigger({ type: "start" }), "Mantel starts");
  assert.equal(
    trigger({ type: "time", at: "09:00", days: ["sat", "sun"] }),
    "it is 09:00 at the weekend",
  );
  assert.equal(
    trigger({ type: "state", device: CLIMATE.id, field: "temperature", above: 20, below: 25 }),
    "Bath climate is between 20.0° and 25.0°",
  );
  assert.equal(
    trigger({ type: "state", device: CLIMATE.id, field: "humidity" }),
    "Bath climate: Humidity changes",
  );
  assert.equal(
    trigger({ type: "state", device: LAMP.id, field: "brightness", to: 40 }),
    "Hall lamp: Brightness becomes 40%",
  );
  assert.equal(trigger({ type: "state", device: "", field: "on" }), "choose a device");
});

test("conditions are sentences about now", () => {
  const condition = (part: Part): string => say("conditions", part);
  const dark: Part = { type: "sun", is: "down" };

  assert.equal(condition(dark), "it is dark");
  assert.equal(condition({ type: "sun", is: "up" }), "it is light");
  assert.equal(
    condition({ type: "time", after: "22:00", before: "06:00" }),
    "it is between 22:00 and 06:00",
  );
  assert.equal(condition({ type: "time", after: "22:00" }), "it is after 22:00");
  assert.equal(condition({ type: "time", before: "06:00" }), "it is before 06:00");
  assert.equal(condition({ type: "time", days: ["sat", "sun"] }), "at any time at the weekend");
  assert.equal(condition({ type: "presence", anyone: true }), "somebody is home");
  assert.equal(condition({ type: "presence", anyone: false }), "nobody is home");
  assert.equal(condition({ type: "calendar", calendar: "family" }), "during an event in Family");
  assert.equal(
    condition({ type: "all", of: [dark, { type: "presence", anyone: true }] }),
    "it is dark and somebody is home",
  );
  assert.equal(condition({ type: "none", of: [dark] }), "none of: it is dark");
  assert.equal(condition({ type: "any", of: [] }), "…");
  assert.equal(
    condition({ type: "state", device: CLIMATE.id, field: "humidity", above: 60 }),
    "Bath climate: Humidity is above 60%",
  );
});

test("every other action has a sentence too", () => {
  const action = (part: Part): string => say("actions", part);

  assert.equal(action({ type: "scene", scene: "" }), "choose a scene");
  assert.equal(action({ type: "wait", ms: 300_000 }), "wait 5 min");
  assert.equal(
    action({
      type: "waitFor",
      trigger: { type: "state", device: DOOR.id, field: "contact", to: true },
      timeoutMs: 60_000,
    }),
    "wait until Front door closes, at most 1 min",
  );
  assert.equal(action({ type: "notify", message: "Hi" }), "notify everyone");
  assert.equal(action({ type: "notify", message: "Hi", to: "Mara" }), "notify Mara");
  const inTheDark = JSON.parse(
    `{"type":"if","conditions":[{"type":"sun","is":"down"}],"then":[]}`,
  ) as Part;
  assert.equal(action(inTheDark), "if it is dark");
  const lock = (command: object): string => action({ type: "command", device: LAMP.id, command });
  assert.equal(lock({ locked: true }), "lock Hall lamp");
  assert.equal(lock({ locked: false }), "unlock Hall lamp");
  assert.equal(lock({ stop: true }), "stop Hall lamp");
  assert.equal(lock({ parts: { light: { on: true } } }), "set Hall lamp to parts/light/on yes");
});

test("sentences are in the language of the page", (t: TestContext) => {
  setLocale("de-DE");
  t.after(() => setLocale("en"));

  assert.equal(
    say("triggers", { type: "state", device: DOOR.id, field: "contact", to: false }),
    "Front door geöffnet wird",
  );
  assert.equal(
    say("actions", { type: "command", device: LAMP.id, command: { on: true } }),
    "Hall lamp einschalten",
  );
});

test("a part of an unknown type or shape is shown as not editable", () => {
  for (const part of [
    { type: "blink", times: 3 },
    { type: "command", device: 7, command: {} },
    { type: "constructor" },
  ]) {
    assert.equal(isKnown("actions", part), false, part.type);
    assert.equal(phraseOf("actions", part, HOME).isUnknown, true);
    assert.equal(
      liveOf("actions", part, HOME)?.text,
      "cannot be edited here, and is kept as it is",
    );
  }
});

test("live values say what is true now", () => {
  const trigger: Part = { type: "state", device: DOOR.id, field: "contact", to: false };

  assert.equal(liveOf("triggers", trigger, HOME)?.text, "closed now");
  assert.equal(
    liveOf("triggers", { ...trigger, device: "gone" }, HOME)?.text,
    "this device is gone",
  );
  const away = homeOf({ devices: [{ ...DOOR, available: false }] });
  assert.equal(liveOf("triggers", trigger, away)?.text, "no answer");
  assert.deepEqual(liveOf("conditions", { type: "sun", is: "down" }, homeOf({ isUp: true })), {
    text: "light now",
    holds: false,
  });
});

test("a condition about time holds also across midnight, and on the day on which its span begins", () => {
  const night: Part = { type: "time", after: "22:00", before: "06:00", days: ["mon"] };
  const holds = (time: string, day: "sun" | "mon" | "tue"): boolean | undefined =>
    conditionHolds(night, homeOf({ time, day }));

  assert.equal(holds("23:00", "mon"), true);
  assert.equal(holds("05:59", "tue"), true);
  assert.equal(holds("05:59", "mon"), false);
  assert.equal(holds("06:00", "tue"), false);
});

test("groups of conditions hold as far as the page knows", () => {
  const on: Part = { type: "state", device: LAMP.id, field: "on", equals: true };
  const closed: Part = { type: "state", device: DOOR.id, field: "contact", equals: true };
  const unknown: Part = { type: "sun", is: "down" };
  const group = (type: string, ...of: Part[]): boolean | undefined =>
    conditionHolds({ type, of }, HOME);

  assert.equal(group("any", on, closed), true);
  assert.equal(group("any", on, unknown), undefined);
  assert.equal(group("any", closed, unknown), true);
  assert.equal(group("all", on, unknown), false);
  assert.equal(group("none", on), true);
  assert.equal(group("none", closed, unknown), false);
});

test("one sentence says what would happen now, and why not", () => {
  const people = homeOf({ devices: [tracker("Mara", true), tracker("Noah", true)] });

  assert.equal(
    verdictOf([{ type: "presence", anyone: false }], people),
    "If it were triggered now, nothing would happen: Mara and Noah are home.",
  );
  assert.equal(verdictOf([], HOME), "If it were triggered now, it would run.");
  assert.match(verdictOf([{ type: "sun", is: "up" }], HOME), /Mantel would check/);
});

test("edits leave the rest of a document as it is", () => {
  const document = {
    name: "A",
    actions: [{ type: "if", else: [{ type: "wait", ms: 1 }] }],
    extra: 1,
  };
  const path = ["actions", 0, "else"] as const;

  assert.deepEqual(valueAt(withValue(document, [...path, 0, "ms"], 5), [...path, 0]), {
    type: "wait",
    ms: 5,
  });
  assert.deepEqual(valueAt(withItem(document, [...path], { type: "x" }), [...path, 1]), {
    type: "x",
  });
  assert.deepEqual(valueAt(withoutItem(document, [...path, 0]), [...path]), []);
  assert.deepEqual(withValue(document, ["extra"], undefined), {
    name: "A",
    actions: document.actions,
  });
  assert.deepEqual(withMoved({ list: [1, 2, 3] }, ["list", 0], 1), { list: [2, 1, 3] });
  assert.deepEqual(withMoved({ list: [1, 2] }, ["list", 0], -1), { list: [1, 2] });
  assert.deepEqual(valueAt(withItem({ if: {} }, ["if", "else"], 1), ["if", "else"]), [1]);
  assert.equal(pointerOf([...path, 0]), "/actions/0/else/0");
});

test("a command is the same after it was shown field by field", () => {
  const command = {
    on: true,
    parts: { light: { on: false, brightness: 3 } },
    extra: { childLock: true },
  };

  const flat = flatCommand(command);

  assert.deepEqual(
    flat.map(([key]) => key),
    ["on", "parts/light/on", "parts/light/brightness", "extra/childLock"],
  );
  assert.deepEqual(commandFrom(flat), command);
});

test("templates use the devices of the home that fit", () => {
  assert.equal(templates().length, 7);
  const motion = draftOf("motionLight", [LAMP, MOTION]);
  assert.deepEqual(
    [motion.triggers[0], motion.actions[0]],
    [
      { type: "state", device: MOTION.id, field: "occupancy", to: true },
      { type: "command", device: LAMP.id, command: { on: true }, forMs: 300_000 },
    ],
  );
  for (const { id } of templates()) {
    const { triggers, conditions, actions } = draftOf(id, []);
    for (const part of triggers) assert.ok(isKnown("triggers", part), id);
    for (const part of conditions) assert.ok(isKnown("conditions", part), id);
    for (const part of actions) assert.ok(isKnown("actions", part), id);
  }
  assert.deepEqual(draftOf("constructor", []).triggers, []);
});

test("a template sends the title of each event at its reminders", () => {
  const { mode, triggers, actions } = draftOf("calendarReminder", []);

  assert.equal(mode, "queued", "two reminders may be due at the same time");
  assert.deepEqual(triggers, [{ type: "calendar", calendar: "*", edge: "reminder" }]);
  assert.deepEqual(actions, [{ type: "notify", message: "{trigger.title}" }]);
});

test("answers of the host are read as far as they are valid", () => {
  const entries = entriesIn({
    automations: [
      {
        id: "a",
        name: "A",
        kind: "code",
        enabled: true,
        lastRun: null,
        error: { message: "no", file: "a.ts", line: 3 },
      },
      { id: "b", kind: "document", enabled: false, lastRun: { startedAt: "2026-01-01T00:00:00Z" } },
      { name: "no id" },
      7,
    ],
  });
  const [trace, ...others] = tracesIn({
    traces: [
      {
        id: "2",
        startedAt: "2026-01-02T00:00:00Z",
        trigger: { index: 0 },
        actions: [{ index: 1, at: "1/then/0", result: "ok" }],
        result: "completed",
        endedAt: null,
      },
      "x",
    ],
  });

  assert.deepEqual(
    entries.map(({ id, name, error, lastRunAt }) => [id, name, error, lastRunAt]),
    [
      ["a", "A", "no (a.ts:3)", undefined],
      ["b", "b", undefined, "2026-01-01T00:00:00Z"],
    ],
  );
  assert.deepEqual(
    [trace?.trigger, trace?.endedAt, trace?.actions[0]?.at, others],
    [0, undefined, "1/then/0", []],
  );
  assert.deepEqual([entriesIn(undefined), tracesIn(7)], [[], []]);
});

test("people, webhooks, random waits and even changes are sentences with live values", () => {
  const mara = tracker("Mara", false);
  const home = homeOf({ devices: [LAMP, mara] });
  const spoken = (section: "triggers" | "conditions" | "actions", part: Part) =>
    phraseOf(section, part, home).text;
  const away: Part = { type: "presence", anyone: false, person: mara.id };

  assert.equal(spoken("triggers", { ...away, anyone: true }), "Mara comes home");
  assert.equal(spoken("triggers", away), "Mara leaves");
  assert.equal(spoken("conditions", away), "Mara is away");
  assert.equal(conditionHolds(away, home), true);
  assert.equal(conditionHolds({ ...away, anyone: true }, home), false);
  assert.equal(conditionHolds({ ...away, person: "gone" }, home), undefined);
  assert.equal(spoken("triggers", { type: "webhook", name: "bell" }), "the webhook bell is called");
  assert.equal(
    spoken("actions", { type: "wait", ms: 60_000, maxMs: 120_000 }),
    "wait 1 min to 2 min",
  );
  assert.equal(spoken("actions", { type: "wait", ms: 60_000, maxMs: 60_000 }), "wait 1 min");
  const ramp = { type: "ramp", device: LAMP.id, field: "brightness", to: 80, ms: 60_000 };
  assert.match(spoken("actions", ramp), /^bring .* to 80 ?% within 1 min$/);
  for (const type of ["webhook", "ramp"]) {
    const section = type === "ramp" ? "actions" : "triggers";
    assert.ok(kindsOf(section).some((kind) => kind.type === type));
    assert.ok(isKnown(section, newPart(section, type, home)));
  }
});

test("the template for an empty home switches one lamp of each room at random while nobody is home", () => {
  const lamp = (id: string, room: string) => deviceOf({ id, name: id, room });
  const { conditions, actions } = draftOf("away", [
    lamp("demo:light:1", "A"),
    lamp("demo:light:2", "A"),
    lamp("demo:light:3", "B"),
  ]);

  assert.deepEqual(conditions, [{ type: "presence", anyone: false }]);
  assert.deepEqual(
    actions.map(({ type }) => type),
    ["wait", "if", "wait", "if", "wait", "if", "wait", "if"],
  );
  for (const { type, ms, maxMs } of actions)
    if (type === "wait") assert.ok(Number(maxMs) > Number(ms));
  const commanded = actions.flatMap((part) => partsIn(part["then"]));
  assert.deepEqual(
    commanded.map((part) => [part["device"], part["command"]]),
    [
      ["demo:light:1", { on: true }],
      ["demo:light:1", { on: false }],
      ["demo:light:3", { on: true }],
      ["demo:light:3", { on: false }],
    ],
  );
});
