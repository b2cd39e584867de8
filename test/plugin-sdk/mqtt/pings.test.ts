import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test, type TestContext } from "node:test";
import type { MqttClient } from "mqtt";
import { Pings } from "../../../plugin-sdk/mqtt/pings.ts";

/** The pings of a connection, whose packets are played by hand. */
function open(t: TestContext) {
  let nowMs = 1_000;
  t.mock.method(performance, "now", () => nowMs);
  const calls: string[] = [];
  const client = Object.assign(new EventEmitter(), {
    keepalive: 10,
    sendPing: () => {
      calls.push("ping");
      client.emit("packetsend", { cmd: "pingreq" });
    },
    reschedulePing: (force: boolean) => calls.push(`reschedule ${force}`),
    onKeepaliveTimeout: () => void calls.push("give up"),
  });
  const pings = new Pings(client as unknown as MqttClient);
  return {
    client,
    pings,
    calls,
    receive: (cmd: string) => client.emit("packetreceive", { cmd }),
    wait: (ms: number) => void (nowMs += ms),
  };
}

test("a ping is answered by its own answer, in order", (t) => {
  const { pings, receive } = open(t);
  const answered: string[] = [];
  pings.send(() => answered.push("first"));
  pings.send(() => answered.push("second"));

  receive("pingresp");
  assert.deepEqual(answered, ["first"]);
  receive("pingresp");
  assert.deepEqual(answered, ["first", "second"]);
  receive("pingresp");
  assert.deepEqual(answered, ["first", "second"]);
});

test("the answer to a keep-alive ping is not that to a later ping, nor is another packet", (t) => {
  const { client, pings, receive } = open(t);
  const answered: string[] = [];
  client.emit("packetsend", { cmd: "pingreq" });
  client.emit("packetsend", { cmd: "publish" });
  pings.send(() => answered.push("ours"));

  receive("publish");
  receive("pingresp");
  assert.deepEqual(answered, []);
  receive("pingresp");
  assert.deepEqual(answered, ["ours"]);
});

test("any packet is a sign of life", (t) => {
  const { pings, receive, wait } = open(t);
  assert.equal(pings.heardAt, 1_000);
  wait(500);

  receive("publish");

  assert.equal(pings.heardAt, 1_500);
});

test("a broker that sent something within the keep-alive time is asked again, not given up", (t) => {
  const { client, calls, receive, wait } = open(t);
  receive("publish");
  wait(10_000);

  client.onKeepaliveTimeout();

  assert.deepEqual(calls, ["ping", "reschedule true"]);
});

test("a broker that sent nothing for longer is given up", (t) => {
  const { client, calls, wait } = open(t);
  wait(10_001);

  client.onKeepaliveTimeout();

  assert.deepEqual(calls, ["give up"]);
});
