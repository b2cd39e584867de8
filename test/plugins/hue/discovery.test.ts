import assert from "node:assert/strict";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import packet from "dns-packet";
import { findBridges } from "../../../plugins/hue/discovery.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";

/** Something in the network that answers each query with these messages. */
async function startResponder(t: TestContext, answers: (query: Buffer) => readonly Buffer[]) {
  onTestEnd(t, watchResources());
  const socket: Socket = createSocket("udp4");
  socket.on("message", (query: Buffer, { port, address }: RemoteInfo) => {
    for (const answer of answers(query)) socket.send(answer, port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestEnd(t, async () => void socket.close());
  return { address: "127.0.0.1", port: socket.address().port };
}

/** As a bridge says it (seen with BSB002: PTR, with SRV, TXT and A beside it). */
function announcement(id: string, address: string): Buffer {
  const name = `Hue Bridge - ${id.slice(-6)}._hue._tcp.local`;
  return packet.encode({
    type: "response",
    answers: [{ type: "PTR", name: "_hue._tcp.local", data: name }],
    additionals: [
      { type: "SRV", name, data: { port: 443, target: `${id}.local` } },
      { type: "TXT", name, data: [`bridgeid=${id}`, "modelid=BSB002"] },
      { type: "A", name: `${id}.local`, data: address },
    ],
  });
}

test("bridges are discovered by their announcements, each once", async (t) => {
  const questions: unknown[] = [];
  const ask = await startResponder(t, (query) => {
    questions.push(...(packet.decode(query).questions ?? []));
    return [
      announcement("001788FFFE123456", "192.168.1.7"),
      announcement("001788FFFE123456", "192.168.1.7"),
      announcement("001788fffe654321", "192.168.1.8"),
    ];
  });

  const found = await findBridges(new AbortController().signal, { forMs: 200, ask });

  assert.deepEqual(questions, [{ name: "_hue._tcp.local", type: "PTR", class: "IN" }]);
  assert.deepEqual(found, [
    { id: "001788fffe123456", address: "192.168.1.7" },
    { id: "001788fffe654321", address: "192.168.1.8" },
  ]);
});

test("invalid answers of a bridge are ignored", async (t) => {
  const loop = Buffer.from("00008400000000010000000003616263c00c00010001", "hex");
  const ask = await startResponder(t, (query) => [
    query,
    Buffer.from("hello"),
    loop,
    Buffer.alloc(9_000, 0xc0),
    announcement("not-an-id", "192.168.1.7"),
    packet.encode({
      type: "response",
      answers: [{ type: "A", name: "x.local", data: "10.0.0.1" }],
    }),
    announcement("001788fffe123456", "192.168.1.7"),
  ]);

  const found = await findBridges(new AbortController().signal, { forMs: 200, ask });

  assert.deepEqual(found, [{ id: "001788fffe123456", address: "192.168.1.7" }]);
});

test("a search ends when it is aborted", async (t) => {
  const ask = await startResponder(t, () => []);
  const ended = new AbortController();
  const found = findBridges(ended.signal, { forMs: 60_000, ask });

  ended.abort();

  assert.deepEqual(await found.catch(() => []), []);
});
