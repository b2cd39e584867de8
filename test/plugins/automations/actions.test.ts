import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action, Condition, Trigger } from "../../../plugins/automations/engine/document.ts";
import { parseDocument } from "../../../plugins/automations/parse-document.ts";
import { StagedEngine, type StagedOptions } from "./staged-engine.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const LAMP = { id: "test:light:1", name: "Bed lamp", state: { on: false, brightness: 80 } };
const ANNA = { id: "test:tracker:1", name: "Anna", state: { home: true } };
const BEN = { id: "test:tracker:2", name: "Ben", state: { home: true } };
const CALLED: Trigger = { type: "webhook", name: "go" };
const say = (message: string): Action => ({ type: "notify", message });

const staged = (more: StagedOptions = {}) =>
  new StagedEngine({ devices: [LAMP, ANNA, BEN], ...more });

const WAKE: Action = {
  type: "ramp",
  device: LAMP.id,
  field: "brightness",
  to: 40,
  ms: 20 * MINUTE,
};

/** The brightness that was commanded, with the seconds since the first command. */
function levelsOf(home: StagedEngine): [number, unknown][] {
  const first = Date.parse(home.commands[0]?.at ?? "");
  return home.commands.map(({ at, command }) => [
    (Date.parse(at) - first) / SECOND,
    command["brightness"],
  ]);
}

/** A lamp that is on while it has a brightness. */
function switchedByLevel(home: StagedEngine): void {
  if (home.commands.length > 0) home.change(LAMP.id, { on: true });
}

test("a ramp raises the brightness of a lamp that is off evenly from 0", async () => {
  const home = staged();
  home.set("wake", { triggers: [CALLED], actions: [WAKE, say("awake")] });

  home.engine.webhook("go");
  await home.settled();
  switchedByLevel(home);
  await home.advance(20 * MINUTE);

  const levels = levelsOf(home);
  assert.equal(levels.length, 40);
  assert.deepEqual(levels.slice(0, 3), [
    [0, 1],
    [30, 2],
    [60, 3],
  ]);
  assert.deepEqual(levels.at(-1), [39 * 30, 40]);
  assert.deepEqual(home.messages, ["awake"]);
  assert.equal(home.last("wake")?.actions.length, 2);
});

test("a ramp takes at most one step a second, and ends at its value", async () => {
  const home = staged({ devices: [{ ...LAMP, state: { on: true, brightness: 100 } }] });
  home.set("dim", { triggers: [CALLED], actions: [{ ...WAKE, to: 0, ms: 10 * SECOND }] });

  home.engine.webhook("go");
  await home.advance(MINUTE);

  assert.deepEqual(
    levelsOf(home).map(([, level]) => level),
    [90, 80, 70, 60, 50, 40, 30, 20, 10, 0],
  );
});

test("a ramp ends when the lamp is switched off meanwhile", async () => {
  const home = staged();
  home.set("wake", { triggers: [CALLED], actions: [WAKE, say("next")] });
  home.engine.webhook("go");
  await home.settled();
  switchedByLevel(home);
  await home.advance(5 * MINUTE);
  const sent = home.commands.length;

  home.change(LAMP.id, { on: false });
  await home.advance(20 * MINUTE);

  assert.equal(home.commands.length, sent);
  assert.deepEqual(home.messages, ["next"]);
  assert.equal(home.last("wake")?.result, "completed");
});

test("a ramp continues after a crash where it was", async () => {
  let home = staged();
  home.set("wake", { triggers: [CALLED], actions: [WAKE] });
  home.engine.webhook("go");
  await home.settled();
  switchedByLevel(home);
  await home.advance(10 * MINUTE - SECOND);

  home = home.restarted({ devices: home.engine.devices() });
  home.set("wake", { triggers: [CALLED], actions: [WAKE] });
  await home.advance(20 * MINUTE);

  const levels = levelsOf(home).map(([, level]) => level);
  assert.deepEqual([levels[0], levels[1], levels.at(-1)], [20, 21, 40]);
});

test("a ramp of a lamp that does not answer fails, and others continue", async () => {
  const home = staged({ refuse: () => new Error("no answer") });
  home.set("wake", { triggers: [CALLED], actions: [{ ...WAKE, ms: 2 * SECOND }, say("next")] });

  home.engine.webhook("go");
  await home.advance(MINUTE);

  assert.deepEqual(home.messages, ["next"]);
  assert.equal(home.last("wake")?.actions[0]?.error, "no answer");
});

test("a random wait lasts between its two times, and its end is kept over a crash", async () => {
  let home = staged({ random: () => 0.25 });
  const actions: Action[] = [{ type: "wait", ms: 10 * MINUTE, maxMs: 30 * MINUTE }, say("done")];
  home.set("away", { triggers: [CALLED], actions });
  home.engine.webhook("go");
  await home.advance(5 * MINUTE);

  home = home.restarted({ devices: [], random: () => 0.99 });
  home.set("away", { triggers: [CALLED], actions });
  await home.advance(10 * MINUTE - 1);
  assert.deepEqual(home.messages, []);
  await home.advance(1);

  assert.deepEqual(home.messages, ["done"]);
});

test("the presence of one person starts and is checked apart from that of others", async () => {
  const home = staged();
  const person = ANNA.id;
  home.set("comes", {
    triggers: [{ type: "presence", anyone: true, person }],
    actions: [say("Anna comes")],
  });
  home.set("goes", {
    triggers: [{ type: "presence", anyone: false, person }],
    conditions: [{ type: "presence", anyone: true, person: BEN.id }],
    actions: [say("Anna leaves Ben")],
  });

  for (const [id, atHome] of [
    [ANNA.id, false],
    [BEN.id, false],
    [ANNA.id, true],
    [ANNA.id, false],
    [BEN.id, true],
  ] as const) {
    home.change(id, { home: atHome });
    await home.settled();
  }

  assert.deepEqual(home.messages, ["Anna leaves Ben", "Anna comes"]);
});

test("the body of a webhook is passed on to commands and messages", async () => {
  const home = staged();
  home.set("set", {
    triggers: [CALLED],
    actions: [
      {
        type: "command",
        device: LAMP.id,
        command: { on: true, brightness: "{trigger.body.level}" },
      },
      say("{trigger.body.who.name} sets {trigger.body.level} %{trigger.body.none} {other} {"),
    ],
  });

  home.engine.webhook("go", { level: 35, who: { name: "Ann" } });
  await home.settled();

  assert.deepEqual(home.commands[0]?.command, { on: true, brightness: 35 });
  assert.deepEqual(home.messages, ["Ann sets 35 % {other} {"]);
});

test("placeholders reach only own values of the trigger", async () => {
  const home = staged();
  const paths = [
    "body.constructor.name",
    "body.__proto__",
    "toString",
    "body.list.0",
    "body.list.length",
  ];
  home.set("set", {
    triggers: [CALLED],
    actions: [say(paths.map((path) => `{trigger.${path}}`).join("|"))],
  });

  home.engine.webhook("go", JSON.parse('{"list": ["first"]}'));
  await home.settled();

  assert.deepEqual(home.messages, ["|||first|1"]);
});

const BELOW: Condition = { type: "variable", name: "rings", below: 3 };

test("a variable of a document counts over runs, is checked, and is set again", async () => {
  let home = staged();
  const bell = {
    triggers: [CALLED],
    actions: [
      { type: "variable", name: "rings", add: 1 },
      {
        type: "if",
        conditions: [BELOW],
        // oxlint-disable-next-line unicorn/no-thenable -- the word of the document
        then: [say("ring {variable.rings}")],
        else: [say("too often"), { type: "variable", name: "rings", set: 0 }],
      },
    ],
  } satisfies { triggers: Trigger[]; actions: Action[] };
  home.set("bell", bell);
  home.set("other", { triggers: [CALLED], conditions: [BELOW], actions: [say("unknown")] });
  for (let times = 1; times <= 4; times++) {
    home.engine.webhook("go");
    await home.settled();
    if (times !== 2) continue;
    const { messages } = home;
    home = home.restarted({ devices: [] });
    home.messages.push(...messages);
    home.set("bell", bell);
  }

  assert.deepEqual(home.messages, ["ring 1", "ring 2", "too often", "ring 1"]);
});

test("adding to a text fails the action and leaves the variable", async () => {
  const home = staged();
  home.engine.variables.set("bell", "last", "Ann");
  home.set("bell", { triggers: [CALLED], actions: [{ type: "variable", name: "last", add: 1 }] });

  home.engine.webhook("go");
  await home.settled();

  assert.equal(
    home.last("bell")?.actions[0]?.error,
    'the variable last is "Ann", and not a number',
  );
  assert.equal(home.engine.variables.get("bell", "last"), "Ann");
});

test("variables have limits, which name the variable", () => {
  const { variables } = staged().engine;
  assert.throws(() => variables.set("a", "big", "x".repeat(10_001)), /the variable big has more/);
  for (let at = 0; at < 100; at++) variables.set("a", `v${at}`, at);
  assert.throws(() => variables.set("a", "one-more", 1), /100 variables/);
  variables.set("b", "one-more", 1);
});

test("a wrong ramp, variable, wait or person is refused at its place", () => {
  const wrong = {
    name: "Wrong",
    triggers: [{ type: "presence", anyone: true, person: "" }],
    conditions: [{ type: "variable", name: "9 lives" }],
    actions: [
      { type: "ramp", device: "a", field: "brightness", to: 10, ms: 10 },
      { type: "ramp", device: "a", field: "brightness", ms: 1_000 },
      { type: "variable", name: "" },
      { type: "wait", ms: 5_000, maxMs: 1_000 },
      { type: "variable", name: "both", set: 1, add: 1 },
      { type: "variable", name: "none" },
    ],
  };
  const pointers = ["/triggers/0/person", "/conditions/0/name"];
  const ofActions = ["0/ms", "1/to", "2/name", "3/maxMs", "4/add", "5/set"];
  assert.throws(
    () => parseDocument(wrong),
    (error: { extras: { errors: { pointer: string }[] } }) => {
      const found = error.extras.errors.map(({ pointer }) => pointer);
      assert.deepEqual(found, [...pointers, ...ofActions.map((place) => `/actions/${place}`)]);
      return true;
    },
  );
});
