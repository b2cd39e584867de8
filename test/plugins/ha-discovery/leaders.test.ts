import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceUpdate } from "@mantel/plugin-sdk";
import type { MqttClient } from "@mantel/plugin-sdk/mqtt";
import { Commands } from "../../../plugins/ha-discovery/commands.ts";
import { DeviceStore } from "../../../plugins/ha-discovery/device-store.ts";
import { Payload } from "../../../plugins/ha-discovery/payload.ts";
import { component } from "./component.ts";

const STRIP = { ids: ["strip"], name: "Strip" };

/** Relays of one device that report in one message, and a lamp and a reading of it. */
function startStrip() {
  const relay = (number: number) =>
    component("switch", {
      stat_t: "strip",
      cmd_t: `strip/${number}/set`,
      uniq_id: `relay-${number}`,
      val_tpl: `{{ value_json.POWER${number} }}`,
      name: `Relay ${number}`,
      dev: STRIP,
    }).known;
  const lamp = component("light", {
    cmd_t: "lamp/set",
    stat_t: "lamp",
    uniq_id: "lamp",
    dev: STRIP,
  });
  const power = { stat_t: "power", dev_cla: "power", unit_of_meas: "W", uniq_id: "p", dev: STRIP };
  const home = new DeviceStore();
  home.regroup([relay(1), relay(2), relay(3), lamp.known, component("sensor", power).known]);
  const sent: string[] = [];
  const updates: DeviceUpdate[] = [];
  const publish = async ({ topic, payload }: { topic: string; payload: string }) => {
    sent.push(`${topic} ${payload}`);
  };
  const commands = new Commands(home, { publish } as unknown as MqttClient, (update) => {
    updates.push(update);
  });
  return {
    commands,
    sent,
    updates,
    describe: () => home.describe(false),
    tell: (topic: string, payload: string) => {
      const { told, updates: changes } = home.receive(topic, new Payload(payload, false), 0);
      for (const { nativeId, state } of told) commands.told(nativeId, state);
      return changes.map(({ nativeId }) => nativeId);
    },
  };
}

test("relays and lamps of one device are devices of their own, by their own ids", () => {
  assert.deepEqual(
    startStrip()
      .describe()
      .map(({ nativeId, kind, name }) => `${nativeId} ${kind} ${name}`),
    [
      "light:lamp light Strip",
      "switch:relay-1 switch Strip Relay 1",
      "switch:relay-2 switch Strip Relay 2",
      "switch:relay-3 switch Strip Relay 3",
    ],
  );
});

test("a command of one relay is sent to it alone, and another's report does not confirm it", async () => {
  const { commands, sent, tell, describe, updates } = startStrip();
  tell("strip", '{"POWER1": "OFF", "POWER2": "OFF", "POWER3": "OFF"}');
  let isDone = false;

  const answer = commands.carryOut("switch:relay-2", { on: true }).then(() => (isDone = true));
  assert.deepEqual(tell("strip", '{"POWER1": "ON", "POWER2": "OFF", "POWER3": "ON"}'), [
    "switch:relay-1",
    "switch:relay-2",
    "switch:relay-3",
  ]);
  await new Promise(setImmediate);
  assert.equal(isDone, false);
  tell("strip", '{"POWER2": "ON"}');
  await answer;

  assert.deepEqual(sent, ["strip/2/set ON"]);
  assert.deepEqual(updates, []);
  const states = describe().flatMap(({ state }) => [state["on"]]);
  assert.deepEqual(states, [null, true, true, true]);
});

test("a relay does not take commands of another one's fields", async () => {
  const { commands, sent } = startStrip();

  await assert.rejects(commands.carryOut("switch:relay-2", { power: 5 }), { code: "invalid" });
  await assert.rejects(commands.carryOut("switch:relay-9", { on: true }), {
    code: "device_unknown",
  });

  assert.deepEqual(sent, []);
});
