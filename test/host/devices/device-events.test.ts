import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { ApiEvent } from "../../../host/api/events.ts";
import { DeviceEvents } from "../../../host/devices/events.ts";
import { Bus } from "../../../host/events/bus.ts";

/** Events of two bridges with one device each, and a monotonic clock that the test moves. */
function openEvents(t: TestContext) {
  let now = 5_000;
  t.mock.method(performance, "now", () => now);
  const bus = new Bus();
  const heard: ApiEvent[] = [];
  bus.on((event) => void heard.push(event));
  const events = new DeviceEvents(bus, (bridge, nativeId) =>
    nativeId === "a" ? `${bridge}:light:1` : undefined,
  );
  const press = (bridge = "hue") => events.take(bridge, { nativeId: "a", event: "press" });
  return { events, heard, press, pass: (ms: number) => (now += ms) };
}

test("a bridge may announce fifty events in each second, without affecting others", (t) => {
  const { heard, press, pass } = openEvents(t);
  for (let at = 0; at < 50; at++) press();

  assert.throws(() => press(), {
    code: "bridge_rate_limited",
    message: "an event of hue exceeds the limit of 50 events per second",
  });
  press("zigbee");
  pass(999);
  assert.throws(() => press(), { code: "bridge_rate_limited" });
  pass(1);
  press();

  assert.equal(heard.length, 52);
});

test("an event of a device that was not published is refused and does not count", (t) => {
  const { events, heard, press } = openEvents(t);

  for (let at = 0; at < 60; at++) {
    assert.throws(() => events.take("hue", { nativeId: "b", event: "press" }), {
      code: "invalid",
      message: "an event of hue is invalid: /nativeId is b, which was not published",
    });
  }
  press();

  assert.equal(heard.length, 1);
});

test("an event is announced with its data only if it has some", (t) => {
  const { events, heard, press } = openEvents(t);

  press();
  events.take("hue", { nativeId: "a", event: "turn", data: { steps: 3 } });

  assert.deepEqual(
    heard.map(({ topic, data }) => [topic, { ...data, at: "now" }]),
    [
      ["device.event", { deviceId: "hue:light:1", event: "press", at: "now" }],
      ["device.event", { deviceId: "hue:light:1", event: "turn", at: "now", data: { steps: 3 } }],
    ],
  );
});
