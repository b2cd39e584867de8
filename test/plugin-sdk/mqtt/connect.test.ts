import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { openConnection } from "../../../plugin-sdk/mqtt/open-connection.ts";

/** The fields of a client's CONNECT packet (MQTT 5, 3.1.2). */
interface Connect {
  readonly level: number;
  readonly keepaliveSeconds: number;
  readonly packet: Buffer;
}

/** A broker that answers each CONNECT packet with bytes, or hangs up if it has none. */
async function startBroker(t: TestContext, answer: (connect: Connect) => number[] | undefined) {
  const connects: Connect[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (packet: Buffer) => {
      const connect = { level: packet[8] ?? 0, keepaliveSeconds: packet.readUInt16BE(10), packet };
      connects.push(connect);
      const bytes = answer(connect);
      if (bytes) socket.write(Buffer.from(bytes));
      else socket.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { connects, url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const connack5 = (reason: number) => [0x20, 3, 0, reason, 0];
const ACCEPTED_4 = [0x20, 2, 0, 0];
const never = new AbortController().signal;

test("a broker is asked for MQTT 5, packets of at most 32 MiB and a ping every 10 s", async (t) => {
  const { connects, url } = await startBroker(t, () => connack5(0));

  const { client, accepted } = await openConnection({ url }, never);
  client.end(true);

  assert.equal(accepted.reasonCode, 0);
  assert.deepEqual(
    connects.map(({ level, keepaliveSeconds }) => [level, keepaliveSeconds]),
    [[5, 10]],
  );
  // Maximum Packet Size (MQTT 5, 3.1.2.11.4).
  assert.ok(connects[0]?.packet.includes(Buffer.from([0x27, 2, 0, 0, 0])));
  assert.match(connects[0]?.packet.toString("latin1") ?? "", /mantel-[0-9a-f]{8}$/);
});

for (const [what, refusal] of [
  ["refuses MQTT 5", connack5(132)],
  ["hangs up", undefined],
] as const) {
  test(`a broker that ${what} is asked for MQTT 3.1.1`, async (t) => {
    const { connects, url } = await startBroker(t, ({ level }) =>
      level === 5 ? refusal : ACCEPTED_4,
    );

    const { client } = await openConnection({ url }, never);
    client.end(true);

    assert.deepEqual(
      connects.map(({ level }) => level),
      [5, 4],
    );
  });
}

test("a broker that hangs up on both is reported so", async (t) => {
  const { connects, url } = await startBroker(t, () => undefined);

  await assert.rejects(openConnection({ url }, never), {
    message: "the broker closed the connection without an answer",
  });
  assert.equal(connects.length, 2);
});

test("a broker that refuses the password is not asked again", async (t) => {
  const { connects, url } = await startBroker(t, () => connack5(134));

  await assert.rejects(openConnection({ url, username: "u", password: "p" }, never), { code: 134 });
  assert.equal(connects.length, 1);
});

test("an attempt ends when it is aborted, and one that was aborted before does not begin", async (t) => {
  const attempt = new AbortController();
  const { connects, url } = await startBroker(t, () => {
    attempt.abort();
    return [];
  });

  await assert.rejects(openConnection({ url }, attempt.signal), {
    message: "the connection attempt was aborted",
  });
  await assert.rejects(openConnection({ url }, attempt.signal), { name: "AbortError" });
  assert.equal(connects.length, 1);
});
