import assert from "node:assert/strict";
import { test } from "node:test";
import { eventIn } from "../../../plugins/zigbee2mqtt/events.ts";

for (const payload of [{}, { action: "" }, { action: null }, { action: 3 }, { battery: 80 }]) {
  test(`${JSON.stringify(payload)} is not an event`, () => {
    assert.equal(eventIn(payload), undefined);
  });
}

test("a press is an event without data", () => {
  assert.deepEqual(eventIn({ action: "single", battery: 80, x_action_rate: 3 }), {
    event: "single",
  });
});

test("the fields of an action are the data of its event, in camelCase", () => {
  const payload = {
    action: "brightness_step_up",
    action_step_size: 43,
    action_transition_time: 0.4,
    action_rate_2: "fast",
    action_is__long_: false,
  };

  assert.deepEqual(eventIn(payload), {
    event: "brightness_step_up",
    data: { stepSize: 43, transitionTime: 0.4, rate2: "fast", isLong: false },
  });
});

test("data that is not plain, too long or oddly named is left out", () => {
  const payload = {
    action: "turn",
    action_angle: 15,
    action_list: [1],
    action_nothing: null,
    action_infinite: Infinity,
    action_text: "t".repeat(201),
    action_Upper: 1,
    "action_with space": 1,
    [`action_${"n".repeat(52)}`]: 1,
    my_action_x: 1,
  };

  assert.deepEqual(eventIn(payload), { event: "turn", data: { angle: 15 } });
});

test("a text of 200 characters and a name of 51 are data", () => {
  const [name, text] = ["n".repeat(51), "t".repeat(200)];

  assert.deepEqual(eventIn({ action: "turn", [`action_${name}`]: text })?.data, { [name]: text });
});

test("an event has at most 100 characters, and 20 fields of data", () => {
  const fields = Array.from({ length: 25 }, (_, at) => [`action_f${at}`, at]);

  const event = eventIn({ action: "e".repeat(150), ...Object.fromEntries(fields) });

  assert.equal(event?.event, "e".repeat(100));
  assert.equal(Object.keys(event.data ?? {}).length, 20);
});
