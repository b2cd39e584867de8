import assert from "node:assert/strict";
import { test } from "node:test";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";
import { component } from "./component.ts";

const TRIGGER = { automation_type: "trigger", topic: "t", type: "action", subtype: "single" };

function read({ known }: ReturnType<typeof component>, payload: string, retained = false) {
  return known.handler.events?.[0]?.read(new Payload(payload, retained));
}

for (const [type, subtype, name] of [
  ["action", "single", "single"],
  ["button_short_press", "button_1", "button_1 button_short_press"],
  ["action", "x".repeat(101), "x".repeat(100)],
] as const) {
  test(`a trigger of the type ${type} and subtype ${subtype.slice(0, 10)} is the event ${name.slice(0, 30)}`, () => {
    const trigger = component("device_automation", { ...TRIGGER, type, subtype });

    assert.equal(read(trigger, "anything"), name);
    assert.equal(read(trigger, "anything", true), undefined);
    assert.deepEqual(trigger.capabilities, { lastAction: { type: "text", readOnly: true } });
    assert.deepEqual(trigger.known.topics, ["t"]);
  });
}

test("a trigger with a payload happens at that payload only, as its template reads it", () => {
  const config = { ...TRIGGER, payload: "on", value_template: "{{ value_json.a }}" };
  const trigger = component("device_automation", config);

  assert.equal(read(trigger, '{"a": "on"}'), "single");
  assert.equal(read(trigger, '{"a": "off"}'), undefined);
  assert.equal(read(trigger, "on"), undefined);
});

test("a payload that the template of a trigger cannot read is not an event", () => {
  const trigger = component("device_automation", {
    ...TRIGGER,
    value_template: "{{ 1 / value | int }}",
  });

  assert.equal(read(trigger, "0"), undefined);
});

for (const missing of ["topic", "type", "subtype"]) {
  test(`a trigger without ${missing} is refused with the reason`, () => {
    assert.throws(() => component("device_automation", { ...TRIGGER, [missing]: undefined }), {
      message: "a trigger needs topic, type and subtype",
    });
  });
}

for (const automation_type of [undefined, "action"]) {
  test(`a device automation of the type ${automation_type} is refused with the reason`, () => {
    const message = "automation_type must be trigger";
    assert.throws(() => component("device_automation", { ...TRIGGER, automation_type }), {
      message,
    });
  });
}

test("an event entity tells the event type of its JSON, through its template", () => {
  const config = { state_topic: "e", event_types: ["press", "x".repeat(101), "7"] };
  const bell = component("event", config);
  const own = component("event", { ...config, value_template: "{{ value_json.inner | tojson }}" });

  assert.deepEqual(bell.capabilities, { lastAction: { type: "text", readOnly: true } });
  assert.deepEqual(bell.known.topics, ["e"]);
  assert.equal(read(bell, '{"event_type": "press"}'), "press");
  assert.equal(read(bell, '{"event_type": "press"}', true), undefined);
  assert.equal(read(bell, '{"event_type": "hold"}'), undefined);
  assert.equal(read(bell, '{"event_type": 7}'), undefined);
  assert.equal(read(bell, '"press"'), undefined);
  assert.equal(read(bell, `{"event_type": "${"x".repeat(101)}"}`), "x".repeat(100));
  assert.equal(read(own, '{"inner": {"event_type": "press"}}'), "press");
});

test("an event entity without a state topic is refused with the reason", () => {
  assert.throws(() => component("event", { event_types: ["press"] }), {
    message: "an event needs state_topic",
  });
});
