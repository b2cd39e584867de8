import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const COMMAND = { type: "command" } as const;
const TOPICS = { state_topic: "s", command_topic: "set" };

for (const [payload, state] of [
  ["open", { position: 100, action: "stopped" }],
  ["closed", { position: 0, action: "stopped" }],
  ["stopped", { position: null, action: "stopped" }],
  ["opening", { position: null, action: "opening" }],
  ["closing", { position: null, action: "closing" }],
] as const) {
  test(`a cover that reports ${payload} is ${JSON.stringify(state)}`, () => {
    const own = component("cover", {
      ...TOPICS,
      [`state_${payload}`]: "so",
      value_template: "{{ value_json.now }}",
    });

    assert.deepEqual(component("cover", TOPICS).tell("s", payload), state);
    assert.deepEqual(own.tell("s", { now: "so" }), state);
  });
}

test("a cover that reports None moves in an unknown way, and another text changes nothing", () => {
  const cover = component("cover", TOPICS);

  cover.tell("s", "opening");
  assert.equal(cover.tell("s", "jammed")["action"], "opening");
  assert.equal(cover.tell("s", "None")["action"], null);
});

test("a cover has what its topics allow", () => {
  const { capabilities, known } = component("cover", TOPICS);

  assert.equal(known.handler.leads, "cover");
  assert.deepEqual(capabilities, {
    position: { ...PERCENT, readOnly: true },
    action: { type: "choice", values: ["opening", "closing", "stopped"], readOnly: true },
    open: COMMAND,
    close: COMMAND,
    stop: COMMAND,
  });
  assert.deepEqual(component("cover", { position_topic: "p" }).capabilities, {
    position: { ...PERCENT, readOnly: true },
  });
  assert.deepEqual(component("cover", { set_position_topic: "p" }).capabilities, {
    position: PERCENT,
    open: COMMAND,
    close: COMMAND,
  });
  assert.deepEqual(component("cover", {}).capabilities, {
    position: { ...PERCENT, readOnly: true },
  });
});

test("a cover opens, closes and stops by its command topic", () => {
  const cover = component("cover", TOPICS);

  assert.deepEqual(
    [{ open: true }, { close: true }, { stop: true }].map((command) => cover.ask(command)),
    [["set OPEN"], ["set CLOSE"], ["set STOP"]],
  );
  assert.deepEqual(cover.ask({ position: 40 }), []);
});

test("a cover that only takes positions opens and closes by them", () => {
  const cover = component("cover", {
    set_position_topic: "p",
    position_open: 0,
    position_closed: 255,
  });

  assert.deepEqual([cover.ask({ open: true }), cover.ask({ close: true })], [["p 0"], ["p 255"]]);
});

test("a cover without the payload of a command does not have it", () => {
  const config = { ...TOPICS, payload_open: null, payload_stop: null };

  assert.deepEqual(component("cover", config).names, ["position", "action", "close"]);
});

test("a cover uses its own payloads and command template", () => {
  const cover = component("cover", {
    ...TOPICS,
    payload_open: "up",
    payload_close: "down",
    payload_stop: "halt",
    command_template: "<{{ value }}>",
  });

  assert.deepEqual(
    [cover.ask({ open: true }), cover.ask({ close: true }), cover.ask({ stop: true })],
    [["set <up>"], ["set <down>"], ["set <halt>"]],
  );
});

test("a position that is reported apart is the position, whatever the state is called", () => {
  const cover = component("cover", { ...TOPICS, position_topic: "p" });

  cover.tell("p", "30");
  assert.deepEqual(cover.tell("s", "open"), { position: 30, action: "stopped" });
});

for (const template of ["position_template", "value_template"]) {
  test(`a position is read through its ${template}`, () => {
    const cover = component("cover", { position_topic: "p", [template]: "{{ value_json.p }}" });

    assert.equal(cover.tell("p", { p: 30 })["position"], 30);
  });
}

test("a position beyond its scale is the end of it", () => {
  const cover = component("cover", {
    position_topic: "p",
    position_open: 200,
    position_closed: 100,
  });

  assert.deepEqual(
    ["250", "200", "150", "100", "50"].map((raw) => cover.tell("p", raw)["position"]),
    [100, 100, 50, 0, 0],
  );
});

for (const [config, unreported] of [
  [{ command_topic: "set" }, ["position", "tilt"]],
  [{ command_topic: "set", state_topic: "s" }, ["tilt"]],
  [{ command_topic: "set", position_topic: "p" }, ["tilt"]],
  [{ command_topic: "set", state_topic: "s", optimistic: true }, ["position", "tilt"]],
  [{ state_topic: "s", tilt_status_topic: "t" }, []],
] as const) {
  test(`of a cover with ${JSON.stringify(config)} nothing reports [${unreported.join(", ")}]`, () => {
    const { known } = component("cover", config);

    assert.deepEqual([...(known.handler.unreported ?? [])], unreported);
  });
}

for (const names of [
  ["tilt_min", "tilt_max"],
  ["tilt_closed_value", "tilt_opened_value"],
] as const) {
  test(`slats move on the scale of ${names.join(" and ")}`, () => {
    const cover = component("cover", {
      tilt_command_topic: "t/set",
      tilt_status_topic: "t",
      [names[0]]: 10,
      [names[1]]: 210,
      tilt_status_template: "{{ value_json.t }}",
      tilt_command_template: "{{ value }} {{ tilt_position }}",
    });

    assert.deepEqual(cover.capabilities["tilt"], PERCENT);
    assert.equal(cover.tell("t", { t: 60 })["tilt"], 25);
    assert.deepEqual(cover.ask({ tilt: 25 }), ["t/set 60 60"]);
  });
}

test("slats that cannot be moved are shown, and a cover without slats has none", () => {
  const shown = component("cover", { tilt_status_topic: "t" });

  assert.deepEqual(shown.capabilities["tilt"], { ...PERCENT, readOnly: true });
  assert.equal(component("cover", TOPICS).capabilities["tilt"], undefined);
});
