import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { onTestEnd } from "../../helpers/on-test-end.ts";

/** A packet from a client. Fields are empty where its type has none. */
export interface Received {
  readonly type: string;
  readonly topic: string;
  readonly payload: string;
  readonly qos: number;
  readonly retain: boolean;
  readonly filters: readonly string[];
}

/** The broker's answers. A test may change them at any time. */
interface Script {
  /** The reason code of CONNACK; 0 accepts. */
  connack: number;
  /** MQTT 5, 3.2.2.3.3; 0 sends none. */
  receiveMaximum: number;
  /** The reason code for a published message of QoS 1; `undefined` gives no answer. */
  puback: (topic: string) => number | undefined;
  /** The reason code for a filter; `undefined` gives no answer. */
  suback: (filter: string) => number | undefined;
  answersPings: boolean;
}

const TYPES: Readonly<Record<number, string>> = {
  1: "connect",
  3: "publish",
  8: "subscribe",
  10: "unsubscribe",
  12: "ping",
  14: "disconnect",
};

/** A broker of MQTT 5 on loopback, which answers as its script says. All its packets are shorter than 128 bytes. */
export async function startScriptedBroker(t: TestContext) {
  const script: Script = {
    connack: 0,
    receiveMaximum: 0,
    puback: () => 0,
    suback: () => 0,
    answersPings: true,
  };
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    connections += 1;
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    socket.on("data", (bytes) => {
      for (const packet of packetsIn(bytes)) {
        const read = readPacket(packet);
        received.push(read);
        const answer = answerTo(read, packet, script);
        if (answer) socket.write(Buffer.from(answer));
        if (read.type === "disconnect") socket.end();
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const send = (bytes: Buffer): void => sockets.forEach((socket) => socket.write(bytes));
  const drop = (): void => sockets.forEach((socket) => socket.destroy());
  onTestEnd(t, async () => {
    drop();
    server.close();
    await once(server, "close");
  });
  return {
    script,
    received,
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    /** The packets of one type. */
    of: (type: string) => received.filter((each) => each.type === type),
    /** Closes all connections without a word. */
    drop,
    /** Ends all connections with a reason code (MQTT 5, 3.14). */
    disconnect: (reason: number) => send(Buffer.from([0xe0, 2, reason, 0])),
    send,
    /** Answers a ping that its script left without an answer. */
    pong: () => send(Buffer.from([0xd0, 0])),
    say: (topic: string, payload: string, retain = false) => send(publish(topic, payload, retain)),
  };
}

function answerTo(read: Received, packet: Buffer, script: Script): number[] | undefined {
  const id = idOf(read, packet);
  switch (read.type) {
    case "connect": {
      const { connack, receiveMaximum } = script;
      const properties = receiveMaximum > 0 ? [0x21, 0, receiveMaximum] : [];
      return [0x20, 3 + properties.length, 0, connack, properties.length, ...properties];
    }
    case "publish": {
      const code = read.qos === 0 ? undefined : script.puback(read.topic);
      return code === undefined ? undefined : [0x40, 4, ...id, code, 0];
    }
    case "subscribe": {
      const codes = read.filters.map((filter) => script.suback(filter));
      if (codes.includes(undefined)) return undefined;
      return [0x90, 3 + codes.length, ...id, 0, ...codes.map(Number)];
    }
    case "unsubscribe":
      return [0xb0, 3 + read.filters.length, ...id, 0, ...read.filters.map(() => 0)];
    case "ping":
      return script.answersPings ? [0xd0, 0] : undefined;
  }
  return undefined;
}

function packetsIn(bytes: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 2 + (bytes[at + 1] ?? 0)) {
    packets.push(bytes.subarray(at, at + 2 + (bytes[at + 1] ?? 0)));
  }
  return packets;
}

function readPacket(packet: Buffer): Received {
  const head = packet[0] ?? 0;
  const type = TYPES[head >> 4] ?? "other";
  const read = { type, topic: "", payload: "", qos: 0, retain: false, filters: [] as string[] };
  if (type === "publish") {
    const topic = textAt(packet, 2);
    const qos = (head >> 1) & 3;
    const start = 4 + Buffer.byteLength(topic) + (qos > 0 ? 2 : 0) + 1;
    const payload = packet.toString("utf8", start);
    return { ...read, topic, payload, qos, retain: (head & 1) === 1 };
  }
  if (type !== "subscribe" && type !== "unsubscribe") return read;
  const options = type === "subscribe" ? 1 : 0;
  for (let at = 5; at < packet.length;) {
    const filter = textAt(packet, at);
    read.filters.push(filter);
    at += 2 + Buffer.byteLength(filter) + options;
  }
  return read;
}

/** The packet identifier (MQTT 5, 2.2.1). */
function idOf({ type, topic }: Received, packet: Buffer): number[] {
  const at = type === "publish" ? 4 + Buffer.byteLength(topic) : 2;
  return [packet[at] ?? 0, packet[at + 1] ?? 0];
}

function textAt(packet: Buffer, at: number): string {
  if (at + 2 > packet.length) return "";
  return packet.toString("utf8", at + 2, at + 2 + packet.readUInt16BE(at));
}

function publish(topic: string, payload: string, retain: boolean): Buffer {
  const head = [retain ? 0x31 : 0x30, 3 + topic.length + payload.length, 0, topic.length];
  return Buffer.concat([Buffer.from(head), Buffer.from(`${topic}\0${payload}`)]);
}
