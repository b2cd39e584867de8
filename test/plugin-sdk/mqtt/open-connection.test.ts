import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import type { MqttClient } from "mqtt";
import {
  connectionError,
  isOlderMqtt,
  limitPackets,
  pauseBetweenMessages,
  requestError,
} from "../../../plugin-sdk/mqtt/open-connection.ts";

const withCode = (code: string | number, message = "it failed") =>
  Object.assign(new Error(message), { code });
const URL_WITH_SECRET = "mqtt://mantel:canary@nas.local:1883";

for (const [error, reason] of [
  [withCode("ECONNREFUSED"), "nothing listens at nas.local:1883"],
  [withCode("ENOTFOUND"), "the name nas.local cannot be resolved"],
  [withCode("EAI_AGAIN"), "the name nas.local cannot be resolved"],
  [withCode(135), "nas.local:1883 refuses the user name or the password"],
  [withCode(5), "nas.local:1883 refuses the user name or the password"],
  [
    withCode("ERR_TLS_CERT_ALTNAME_INVALID"),
    'the certificate of nas.local:1883 is not trusted (ERR_TLS_CERT_ALTNAME_INVALID); set the option "ca" to the certificate to trust',
  ],
  [withCode("EPIPE", "write EPIPE"), "nas.local:1883 cannot be reached: write EPIPE"],
  [new MantelError("service_unavailable", "nothing provides it"), "nothing provides it"],
] as const) {
  test(`the user-facing reason is "${reason}"`, () => {
    assert.equal(connectionError(error, URL_WITH_SECRET), reason);
  });
}

test("a broker that refuses the version or closes the connection may support only an older MQTT", () => {
  assert.ok(isOlderMqtt(withCode(1)));
  assert.ok(isOlderMqtt(withCode(132)));
  assert.ok(isOlderMqtt(new Error("the broker closed the connection without an answer")));
});

test("a refused password does not suggest an older MQTT", () => {
  assert.ok(!isOlderMqtt(withCode(135)));
  assert.ok(!isOlderMqtt(withCode("ECONNREFUSED")));
});

test("an error with a reason code is a refusal, any other error a broken connection", () => {
  assert.equal(requestError(withCode(151), "home/desk").code, "broker_refused");
  assert.equal(requestError(new Error("client disconnecting"), "home/desk").code, "broker_down");
});

test("without an address the reason is the error's own", () => {
  assert.equal(connectionError(withCode("ECONNREFUSED", "no broker"), undefined), "no broker");
});

for (const [error, code, message] of [
  [withCode(151), "broker_refused", "the broker refused home/desk: quota exceeded (151)"],
  [withCode(128), "broker_refused", "the broker refused home/desk: unspecified error (128)"],
  [withCode(250), "broker_refused", "the broker refused home/desk: no reason given (250)"],
  [withCode(127, "odd"), "broker_down", "the broker did not accept home/desk: odd"],
  [withCode("EPIPE", "gone"), "broker_down", "the broker did not accept home/desk: gone"],
] as const) {
  test(`a request that fails with ${error.code} says "${message}"`, () => {
    const answer = requestError(error, "home/desk");
    assert.deepEqual([answer.code, answer.message], [code, message]);
  });
}

test("a packet of more than 32 MiB is reported before it is complete", () => {
  const client = Object.assign(new EventEmitter(), { stream: new EventEmitter() });
  const reported: string[] = [];
  limitPackets(client as unknown as MqttClient, (reason) => reported.push(reason));
  const receive = (length: number) => client.stream.emit("data", { length });

  receive(32 * 2 ** 20);
  client.emit("packetreceive");
  receive(32 * 2 ** 20);
  assert.deepEqual(reported, []);
  receive(1);

  assert.deepEqual(reported, ["the broker sent a message larger than 32 MiB"]);
});

/** A client of the library, as far as its stream and its messages go. */
function unconnectedClient() {
  const stream = new Duplex({ read: () => undefined });
  return { stream, handleMessage: () => assert.fail() } as Pick<
    MqttClient,
    "handleMessage" | "stream"
  >;
}

test("messages that take long let other work run between them, in their order", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const client = unconnectedClient();
  pauseBetweenMessages(client);
  const events: string[] = [];
  const rest = ["1", "2", "3", "4"];
  const ended = new Promise<void>((resolve) => {
    const takeNext = () => {
      const next = rest.shift();
      if (next === undefined) return resolve();
      events.push(next);
      now += 6;
      client.handleMessage({ cmd: "publish" } as never, takeNext);
    };
    setImmediate(() => events.push("other"));
    takeNext();
  });

  await ended;

  assert.deepEqual(events.slice(0, 4), ["1", "2", "other", "3"]);
});

test("data that arrives at once is parsed in pieces of 8 KiB", async () => {
  const client = unconnectedClient();
  pauseBetweenMessages(client);
  const pieces: Buffer[] = [];
  client.stream.on("data", (piece: Buffer) => pieces.push(piece));
  const chunk = Buffer.from(Array.from({ length: 20_000 }, (_, at) => at % 251));

  client.stream.push(chunk);
  client.stream.push(null);
  await once(client.stream, "end");

  assert.deepEqual(
    pieces.map(({ length }) => length),
    [8_192, 8_192, 3_616],
  );
  assert.deepEqual(Buffer.concat(pieces), chunk);
});
