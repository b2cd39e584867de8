import { createServer, type AddressInfo, type Socket } from "node:net";
import type { TestContext } from "node:test";

const TELLS_EVERY_MS = 50;

/**
 * A broker of MQTT 5 that refuses every filter with `refused` in it, says something on the topic `a` all the
 * time, and answers no ping: what a real one does that is busy, or whose ACL is narrow.
 */
export async function startOddBroker(t: TestContext): Promise<{ url: string; pings: number[] }> {
  const pings: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const telling = setInterval(() => socket.write(publish("a", "x")), TELLS_EVERY_MS);
    socket.on("close", () => clearInterval(telling)).on("error", () => undefined);
    socket.on("data", (bytes) => {
      for (const packet of packetsIn(bytes)) {
        const type = (packet[0] ?? 0) >> 4;
        if (type === CONNECT) socket.write(Buffer.from([0x20, 3, 0, 0, 0]));
        if (type === SUBSCRIBE) socket.write(suback(packet));
        if (type === PINGREQ) pings.push(Date.now());
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, pings };
}

const CONNECT = 1;
const SUBSCRIBE = 8;
const PINGREQ = 12;

/** The packets of a chunk; all are shorter than 128 bytes, so their length is one byte (MQTT 5, 1.5.5). */
function packetsIn(bytes: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    packets.push(bytes.subarray(at, at + 2 + (bytes[at + 1] ?? 0)));
  }
  return packets;
}

/** MQTT 5, 3.8 and 3.9: an identifier, no properties, then a filter and its options each. */
function suback(packet: Buffer): Buffer {
  const codes: number[] = [];
  for (let at = 5; at < packet.length;) {
    const end = at + 2 + packet.readUInt16BE(at);
    codes.push(packet.toString("utf8", at + 2, end).includes("refused") ? 0x87 : 0);
    at = end + 1;
  }
  return Buffer.from([0x90, 3 + codes.length, packet[2] ?? 0, packet[3] ?? 0, 0, ...codes]);
}

function publish(topic: string, payload: string): Buffer {
  const head = [0x30, 3 + topic.length + payload.length, 0, topic.length];
  return Buffer.concat([Buffer.from(head), Buffer.from(`${topic}\0${payload}`)]);
}
