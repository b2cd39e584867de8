import assert from "node:assert/strict";
import { test } from "node:test";
import { component } from "./component.ts";

const TOPICS = { state_topic: "s", command_topic: "set" };
const unreportedOf = ({ known }: ReturnType<typeof component>) => [
  ...(known.handler.unreported ?? []),
];

test("a switch is a switch with the payloads ON and OFF unless it says otherwise", () => {
  const relay = component("switch", TOPICS);
  const own = component("switch", { ...TOPICS, payload_on: "1", payload_off: "0" });

  assert.equal(relay.known.handler.leads, "switch");
  assert.deepEqual(relay.capabilities, { on: { type: "boolean" } });
  assert.deepEqual([relay.ask({ on: true }), relay.ask({ on: false })], [["set ON"], ["set OFF"]]);
  assert.deepEqual([relay.tell("s", "ON"), relay.tell("s", "OFF")], [{ on: true }, { on: false }]);
  assert.deepEqual([own.ask({ on: true }), own.ask({ on: false })], [["set 1"], ["set 0"]]);
  assert.deepEqual([own.tell("s", "1"), own.tell("s", "0")], [{ on: true }, { on: false }]);
});

for (const [config, leads] of [
  [{ device_class: "outlet" }, "plug"],
  [{ device_class: "switch" }, "switch"],
  [{ entity_category: "config" }, undefined],
  [{ entity_category: "diagnostic" }, undefined],
] as const) {
  test(`a switch with ${JSON.stringify(config)} is ${leads ?? "no device of its own"}`, () => {
    assert.equal(component("switch", { ...TOPICS, ...config }).known.handler.leads, leads);
  });
}

test("a lock is locked and unlocked by its own payloads, or by those of Home Assistant", () => {
  const lock = component("lock", TOPICS);
  const own = component("lock", {
    ...TOPICS,
    payload_lock: "1",
    payload_unlock: "0",
    state_locked: "shut",
    state_unlocked: "open",
  });

  assert.equal(lock.known.handler.leads, "lock");
  assert.deepEqual(lock.tell("s", "LOCKED"), { locked: true, jammed: false });
  assert.deepEqual(lock.tell("s", "UNLOCKED"), { locked: false, jammed: false });
  assert.deepEqual(lock.ask({ locked: true }), ["set LOCK"]);
  assert.deepEqual(lock.ask({ locked: false }), ["set UNLOCK"]);
  assert.equal(own.tell("s", "shut")["locked"], true);
  assert.equal(own.tell("s", "open")["locked"], false);
  assert.deepEqual(own.ask({ locked: true }), ["set 1"]);
  assert.deepEqual(own.ask({ locked: false }), ["set 0"]);
});

test("a lock that is jammed is neither locked nor unlocked", () => {
  const lock = component("lock", { ...TOPICS, state_jammed: "STUCK" });

  lock.tell("s", "LOCKED");
  assert.deepEqual(lock.tell("s", "STUCK"), { locked: null, jammed: true });
  assert.deepEqual(lock.tell("s", "LOCKING"), { locked: null, jammed: true });
  assert.deepEqual(lock.tell("s", "None"), { locked: null, jammed: true });
  assert.deepEqual(lock.tell("s", "LOCKED"), { locked: true, jammed: false });
});

test("a lock pulls its latch, and passes on a code that is never a state", () => {
  const lock = component("lock", {
    ...TOPICS,
    payload_open: "OPEN",
    code_format: "^\\d{4}$",
    command_template: '{"do": "{{ value }}", "code": "{{ code }}"}',
  });

  assert.deepEqual(lock.names, ["locked", "jammed", "unlatch", "code"]);
  assert.deepEqual(lock.ask({ unlatch: true, code: "1234" }), [
    'set {"do": "OPEN", "code": "1234"}',
  ]);
  assert.deepEqual(lock.ask({ locked: false }), ['set {"do": "UNLOCK", "code": ""}']);
  assert.deepEqual(lock.known.state, { locked: null, jammed: null });
  assert.deepEqual(component("lock", TOPICS).names, ["locked", "jammed"]);
});

test("a number is reset to unknown by None, or by its own payload", () => {
  const number = component("number", TOPICS);
  const own = component("number", { ...TOPICS, payload_reset: "-" });

  assert.deepEqual(
    [number.tell("s", "5"), number.tell("s", "None")],
    [{ value: 5 }, { value: null }],
  );
  assert.deepEqual([own.tell("s", "5"), own.tell("s", "-")], [{ value: 5 }, { value: null }]);
});

test("the payload that resets a number is not garbage", () => {
  const number = component("number", { ...TOPICS, payload_reset: "-" });
  number.tell("s", "-");

  assert.deepEqual(number.garbage, []);
});

test("a button is one command without a state", () => {
  const button = component("button", { command_topic: "set" });

  assert.deepEqual(button.capabilities, { value: { type: "command" } });
  assert.deepEqual(button.ask({ value: true }), ["set PRESS"]);
  assert.deepEqual(button.known.state, {});
  assert.deepEqual(button.known.topics, []);
});

test("a scene sends its payload, through its template", () => {
  const scene = (config: object) => component("scene", config).known.handler.scene?.().payload;

  assert.equal(scene({ command_topic: "set" }), "ON");
  assert.equal(scene({ command_topic: "set", payload_on: "evening" }), "evening");
  assert.equal(scene({ command_topic: "set", command_template: "<{{ value }}>" }), "<ON>");
});

test("texts and choices are reported, and cut at 1000 characters", () => {
  const text = component("text", TOPICS);
  const select = component("select", { ...TOPICS, options: ["a", "b"] });

  assert.deepEqual(text.capabilities, { value: { type: "text" } });
  assert.deepEqual(text.tell("s", "x".repeat(1_001)), { value: "x".repeat(1_000) });
  assert.deepEqual(text.tell("s", ""), { value: "" });
  assert.deepEqual(select.capabilities, { value: { type: "choice", values: ["a", "b"] } });
  assert.deepEqual([select.tell("s", "b"), select.tell("s", "")], [{ value: "b" }, { value: "b" }]);
  assert.deepEqual(select.tell("s", "None"), { value: null });
});

for (const [platform, field, value, payload, config] of [
  ["switch", "on", true, "ON", {}],
  ["button", "value", "press", "PRESS", {}],
  ["number", "value", 7, "7", {}],
  ["select", "value", "a", "a", { options: ["a"] }],
  ["text", "value", "hi", "hi", {}],
  ["lock", "locked", true, "LOCK", {}],
] as const) {
  test(`commands to a ${platform} pass through its template`, () => {
    const more = { ...config, ...TOPICS, command_template: "<{{ value }}>" };
    assert.deepEqual(component(platform, more).ask({ [field]: value }), [`set <${payload}>`]);
  });

  if (platform === "button") continue;

  test(`a ${platform} without a command topic is shown, and takes no command`, () => {
    const shown = component(platform, { ...config, state_topic: "s" });

    assert.equal(shown.capabilities[field]?.readOnly, true);
    assert.deepEqual(shown.ask({ [field]: value }), []);
  });

  test(`a ${platform} is as requested if nothing reports it, or if it says so`, () => {
    const { command_topic } = TOPICS;
    assert.deepEqual(unreportedOf(component(platform, { ...config, command_topic })), [field]);
    assert.deepEqual(unreportedOf(component(platform, { ...config, ...TOPICS })), []);
    const optimistic = component(platform, { ...config, ...TOPICS, optimistic: true });
    assert.deepEqual(unreportedOf(optimistic), [field]);
  });
}

for (const platform of ["button", "scene"]) {
  test(`a ${platform} without a command topic is refused with the reason`, () => {
    const message = "command_topic is missing, or refused by refusedTopics";
    assert.throws(() => component(platform, {}), { message });
    assert.throws(() => component(platform, { command_topic: "refused/x" }), { message });
  });
}

test("a select without options is refused with the reason", () => {
  for (const options of [undefined, []]) {
    assert.throws(() => component("select", { ...TOPICS, options }), {
      message: "options must be a list with an entry",
    });
  }
});

test("a component of an unknown kind is refused by its name, cut at 40 characters", () => {
  assert.throws(() => component("x".repeat(50), {}), {
    message: `components of the kind ${"x".repeat(40)} are not known`,
  });
});

test("an empty number or text changes nothing", () => {
  const number = component("number", TOPICS);
  number.tell("s", " 7 ");

  assert.deepEqual(number.tell("s", " "), { value: 7 });
});
