import assert from "node:assert/strict";
import { test } from "node:test";
import type { MqttClient, OnMessage } from "@mantel/plugin-sdk/mqtt";
import { Client, type Listener } from "../../../plugins/zigbee2mqtt/client.ts";
import type { BridgeHealth } from "../../../plugins/zigbee2mqtt/health.ts";
import { until } from "../../helpers/until.ts";

const DEVICES = 400;
const names = Array.from({ length: DEVICES }, (_, at) => `lamp ${at}`);
const last = names.at(-1) ?? "";

/** A client that has early states of many devices, whose listener takes its time with each. */
function openClient({ onFirst }: { onFirst: (tell: (name: string, n: number) => void) => void }) {
  let receive: OnMessage = () => undefined;
  const mqtt = {
    subscribe: (_filter: string, onMessage: OnMessage) => {
      receive = onMessage;
      return () => undefined;
    },
  } as unknown as MqttClient;
  const health = { set: () => undefined, count: () => undefined } as unknown as BridgeHealth;
  const client = new Client("z", health);
  client.follow(mqtt);
  const told: [name: string, n: unknown][] = [];
  const say = (topic: string, payload: unknown) =>
    receive(`z/${topic}`, Buffer.from(JSON.stringify(payload)), false);
  const tell = (name: string, n: number) => say(name, { n });
  let isListed = false;
  const listener = {
    listed: () => (isListed = true),
    refreshed: () => undefined,
    knows: () => isListed,
    state(name: string, { n }: { readonly n?: unknown }) {
      const endsAt = performance.now() + 0.05;
      while (performance.now() < endsAt);
      if (told.push([name, n]) === 1) onFirst(tell);
    },
  } as unknown as Listener;
  client.hear(listener, []);
  for (const name of names) tell(name, 1);
  say("bridge/devices", []);
  return { client, told };
}

test("early states are taken in slices, and a later one of the same device follows them", async () => {
  let atOnce = 0;
  const { told } = openClient({
    onFirst: (tell) =>
      void setImmediate(() => {
        atOnce = told.length;
        tell(last, 2);
      }),
  });

  await until(() => told.length === DEVICES + 1);

  assert.ok(atOnce > 0 && atOnce < DEVICES, `${atOnce}`);
  assert.deepEqual(
    told.filter(([name]) => name === last),
    [
      [last, 1],
      [last, 2],
    ],
  );
});

test("early states that are not taken yet are taken before the next generation continues", async () => {
  const marks: number[] = [];
  const { client, told } = openClient({
    onFirst: () =>
      void setImmediate(() => {
        marks.push(told.length);
        client.leave();
        marks.push(told.length);
      }),
  });

  await until(() => marks.length === 2);

  assert.ok((marks[0] ?? DEVICES) < DEVICES);
  assert.equal(marks[1], DEVICES);
});
