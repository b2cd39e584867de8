import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { type DeviceCommand, type DeviceUpdate, MantelError } from "@mantel/plugin-sdk";
import type { MqttClient } from "@mantel/plugin-sdk/mqtt";
import { Commands } from "../../../plugins/ha-discovery/commands.ts";
import { DeviceStore } from "../../../plugins/ha-discovery/device-store.ts";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";
import { component } from "./component.ts";

/** One device of a component, without a broker. */
function deviceOf(platform: string, config: object) {
  const home = new DeviceStore();
  home.regroup([component(platform, { uniq_id: "u", name: "Thing", ...config }).known]);
  const [{ nativeId } = { nativeId: "" }] = home.describe(false);
  const updates: DeviceUpdate[] = [];
  const sent: string[] = [];
  let refusal: Error | undefined;
  const publish = async ({ topic, payload }: { topic: string; payload: string }) => {
    if (refusal) throw refusal;
    sent.push(`${topic} ${payload}`);
  };
  const commands = new Commands(home, { publish } as unknown as MqttClient, (update) => {
    updates.push(update);
  });
  return {
    commands,
    sent,
    updates,
    nativeId,
    send: (command: DeviceCommand) => commands.carryOut(nativeId, command),
    refuse: (error: Error) => void (refusal = error),
    tell(topic: string, payload: string) {
      const { told } = home.receive(topic, new Payload(payload, false), 0);
      for (const { state } of told) commands.told(nativeId, state);
    },
  };
}

/** True once the promise has settled, without waiting for it. */
function watch(promise: Promise<unknown>) {
  const seen = { isSettled: false };
  const settle = () => void (seen.isSettled = true);
  promise.then(settle, settle);
  return async () => {
    await new Promise(setImmediate);
    return seen.isSettled;
  };
}

const SWITCH = { stat_t: "s", cmd_t: "s/set" };
const BLIND = { cmd_t: "c", stat_t: "s", pos_t: "p", set_pos_t: "p/set" };

test("a command is done when the device reports the requested value", async () => {
  const relay = deviceOf("switch", SWITCH);
  const answer = relay.send({ on: true });
  const isDone = watch(answer);

  relay.tell("s", "OFF");
  assert.equal(await isDone(), false);
  relay.tell("s", "ON");

  await answer;
  assert.deepEqual(relay.sent, ["s/set ON"]);
  assert.deepEqual(relay.updates, []);
});

test("a command for the current state is sent and confirmed at once", async () => {
  const relay = deviceOf("switch", SWITCH);
  relay.tell("s", "ON");

  await relay.send({ on: true });

  assert.deepEqual(relay.sent, ["s/set ON"]);
});

test("opening and closing are confirmed by movement, and by the position that they lead to", async () => {
  const blind = deviceOf("cover", BLIND);
  const silent = deviceOf("cover", { cmd_t: "c" });

  for (const [command, topic, report] of [
    [{ open: true }, "s", "opening"],
    [{ close: true }, "p", "0"],
    [{ close: true }, "", ""],
    [{ stop: true }, "", ""],
  ] as const) {
    const answer = blind.send(command);
    const isDone = watch(answer);
    assert.equal(await isDone(), topic === "");
    blind.tell(topic, report);
    await answer;
  }
  await silent.send({ open: true });

  assert.deepEqual(blind.sent, ["c OPEN", "c CLOSE", "c CLOSE", "c STOP"]);
  assert.deepEqual(silent.updates, [{ nativeId: silent.nativeId, state: { position: 100 } }]);
});

test("the state from before a command does not confirm it, however close it is", async () => {
  const lamp = deviceOf("light", {
    schema: "json",
    stat_t: "s",
    cmd_t: "s/set",
    brightness: true,
    sup_clrm: ["hs"],
  });
  const states = [
    { hue: 120, saturation: 50 },
    { hue: 118, saturation: 50 },
  ] as const;
  const report = (at: 0 | 1) =>
    JSON.stringify({ state: "ON", color: { h: states[at].hue, s: states[at].saturation } });
  lamp.tell("s", report(0));

  const answer = lamp.send({ color: states[1] });
  const isDone = watch(answer);
  lamp.tell("s", report(0));
  assert.equal(await isDone(), false);
  lamp.tell("s", report(1));

  await answer;
});

test("a lamp of few levels confirms a brightness by the level that it took", async () => {
  const config = { stat_t: "s", cmd_t: "c", bri_stat_t: "b", bri_cmd_t: "b/set", bri_scl: 10 };
  const lamp = deviceOf("light", config);
  lamp.tell("b", "5");

  await lamp.send({ brightness: 52 });

  assert.deepEqual(lamp.sent, ["b/set 5"]);
});

test("a fan confirms a percentage between two of its speeds by the speed that it took", async () => {
  const config = { cmd_t: "f/set", stat_t: "f", pct_cmd_t: "p/set", spd_rng_max: 3 };
  const fan = deviceOf("fan", { ...config, pct_stat_t: "p" });
  const silent = deviceOf("fan", config);

  const answer = fan.send({ speed: 34 });
  const isDone = watch(answer);
  fan.tell("p", "1");
  assert.equal(await isDone(), false);
  fan.tell("p", "2");
  await answer;
  await silent.send({ speed: 34 });

  assert.deepEqual(fan.sent, ["p/set 2"]);
  assert.deepEqual(silent.updates, [
    { nativeId: silent.nativeId, state: { speed: 2 * (100 / 3) } },
  ]);
});

test("a value that nothing reports becomes the state when the broker has it", async () => {
  const relay = deviceOf("switch", { cmd_t: "s/set" });

  await relay.send({ on: true });

  assert.deepEqual(relay.updates, [{ nativeId: relay.nativeId, state: { on: true } }]);
  await relay.send({ on: true });
  assert.equal(relay.updates.length, 1);
});

test("a command waits for each value that is reported, and for no other", async () => {
  const lamp = deviceOf("light", {
    stat_t: "l",
    cmd_t: "l/set",
    bri_stat_t: "b",
    bri_cmd_t: "b/set",
    fx_cmd_t: "f/set",
    fx_list: ["candle"],
  });
  const answer = lamp.send({ on: true, brightness: 100, effect: "candle" });
  const isDone = watch(answer);

  lamp.tell("l", "ON");
  assert.equal(await isDone(), false);
  lamp.tell("b", "255");

  await answer;
  assert.deepEqual(lamp.updates, [{ nativeId: lamp.nativeId, state: { effect: "candle" } }]);
});

test("without a confirmation the error names the device and what is missing after 4.5 s", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lamp = deviceOf("light", {
    stat_t: "l",
    cmd_t: "l/set",
    bri_stat_t: "b",
    bri_cmd_t: "b/set",
  });
  const answer = lamp.send({ on: true, brightness: 100 });
  const isDone = watch(answer);

  t.mock.timers.tick(4_499);
  assert.equal(await isDone(), false);
  t.mock.timers.tick(1);

  await assert.rejects(answer, {
    code: "deadline_passed",
    message: "Thing has not confirmed on, brightness",
  });
});

test("a command to an unknown device, or without a message that carries it, is refused", async () => {
  const shown = deviceOf("lock", { stat_t: "s" });

  await assert.rejects(shown.send({ locked: true }), {
    code: "invalid",
    message: "Thing: locked cannot be set alone",
  });
  await assert.rejects(shown.commands.carryOut("gone", { on: true }), {
    code: "device_unknown",
    message: "no device has announced itself as gone",
  });
});

test("a value that is not sent is not waited for", async () => {
  const relay = deviceOf("switch", SWITCH);
  relay.tell("s", "ON");

  await relay.send({ on: true, level: 7 });

  assert.deepEqual(relay.sent, ["s/set ON"]);
});

test("without a broker the bridge is down, and says when to try again", async () => {
  const relay = deviceOf("switch", SWITCH);
  const cause = new MantelError("broker_down", "no broker at mqtt://x");
  relay.refuse(cause);

  await assert.rejects(relay.send({ on: true }), (error) => {
    assert.ok(error instanceof MantelError);
    assert.deepEqual([error.code, error.message], ["bridge_down", "no broker at mqtt://x"]);
    assert.equal(error.extras.retryAfterMs, 3_000);
    assert.equal(error.cause, cause);
    return true;
  });
});

for (const error of [new MantelError("broker_refused", "not allowed"), new Error("broken")]) {
  test(`the error "${error.message}" of the broker is the answer`, async () => {
    const relay = deviceOf("switch", { cmd_t: "s/set" });
    relay.refuse(error);

    await assert.rejects(relay.send({ on: true }), (answer) => answer === error);
    assert.deepEqual(relay.updates, []);
  });
}

/** Takes a cover from 50 towards 80, and tells if what it reports then is the answer. */
async function isCoverDone(t: TestContext, topic: string, payload: string): Promise<boolean> {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const blind = deviceOf("cover", { ...BLIND, tilt_cmd_t: "t/set", tilt_status_t: "t" });
  blind.tell("p", "50");
  blind.tell("t", "50");
  const isDone = watch(blind.send({ [topic === "t" ? "tilt" : "position"]: 80 }));
  blind.tell(topic, payload);
  const is = await isDone();
  t.mock.timers.tick(4_500);
  await isDone();
  return is;
}

for (const [topic, payload, is] of [
  ["p", "80", true],
  ["p", "55", true],
  ["p", "50", false],
  ["p", "45", false],
  ["t", "60", true],
  ["t", "40", false],
  ["s", "opening", true],
  ["s", "closing", true],
  ["s", "stopped", false],
] as const) {
  test(`a cover on its way from 50 to 80 ${is ? "has" : "has not"} obeyed when it reports ${topic}: ${payload}`, async (t) => {
    assert.equal(await isCoverDone(t, topic, payload), is);
  });
}

test("if a cover's position was unknown, only the requested position confirms the command", async () => {
  const blind = deviceOf("cover", BLIND);
  const answer = blind.send({ position: 80 });
  const isDone = watch(answer);

  blind.tell("p", "70");
  assert.equal(await isDone(), false);
  blind.tell("p", "80");

  await answer;
});

test("a brightness that only moves towards the requested value does not confirm the command", async () => {
  const lamp = deviceOf("light", {
    cmd_t: "l/set",
    bri_stat_t: "b",
    bri_cmd_t: "b/set",
    bri_scl: 100,
  });
  lamp.tell("b", "50");
  const answer = lamp.send({ brightness: 80 });
  const isDone = watch(answer);

  lamp.tell("b", "70");
  assert.equal(await isDone(), false);
  lamp.tell("b", "80");

  await answer;
});
