import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import packet from "dns-packet";
import { BRIDGE_ID } from "./options.ts";

const SERVICE = "_hue._tcp.local";
/** Multicast address and port of mDNS (RFC 6762, 3). */
const EVERYBODY = { address: "224.0.0.251", port: 5353 };
const ASK_AGAIN_MS = 700;
const MOST = 50;

export interface FoundBridge {
  /** In the form of `BRIDGE_ID`. */
  readonly id: string;
  readonly address: string;
}

/**
 * Finds bridges by multicast DNS within the time (RFC 6762, 5.1; from an ephemeral port, so that
 * they answer only to it). Any device may answer: the certificate is checked later.
 */
export async function findBridges(
  signal: AbortSignal,
  { forMs, ask = EVERYBODY }: { forMs: number; ask?: typeof EVERYBODY },
): Promise<FoundBridge[]> {
  const socket = createSocket("udp4");
  const found = new Map<string, FoundBridge>();
  socket.on("error", () => undefined); // a network without multicast has no bridges to find
  socket.on("message", (message) => {
    const bridge = bridgeIn(message);
    if (bridge && found.size < MOST) found.set(bridge.id, bridge);
  });
  try {
    socket.bind(0);
    await once(socket, "listening", { signal });
    const endsAt = performance.now() + forMs;
    for (let leftMs = forMs; leftMs > 0 && !signal.aborted; leftMs = endsAt - performance.now()) {
      query(socket, ask);
      const waitMs = Math.min(ASK_AGAIN_MS, leftMs);
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    socket.close();
  }
  return [...found.values()];
}

function query(socket: Socket, { address, port }: typeof EVERYBODY): void {
  const message = packet.encode({
    type: "query",
    questions: [{ type: "PTR", name: SERVICE, class: "IN" }],
  });
  socket.send(message, port, address, () => undefined);
}

/** The bridge in an answer: its id is in a TXT record, its address in an A record. */
function bridgeIn(message: Buffer): FoundBridge | undefined {
  const records = recordsIn(message);
  if (!records.some(({ name }) => name.toLowerCase().endsWith(SERVICE))) return undefined;
  const texts = records.flatMap((each) => (each.type === "TXT" ? [each.data].flat() : []));
  const said = texts.map((text) => /^bridgeid=(.*)$/i.exec(String(text))?.[1]).find(Boolean);
  const id = said?.toLowerCase() ?? "";
  const address = records.flatMap((each) => (each.type === "A" ? [each.data] : []))[0] ?? "";
  return new RegExp(BRIDGE_ID).test(id) && isIPv4(address) ? { id, address } : undefined;
}

function recordsIn(message: Buffer): packet.Answer[] {
  try {
    const { type, answers = [], additionals = [] } = packet.decode(message);
    return type === "response" ? [...answers, ...additionals] : [];
  } catch {
    return []; // any device can send invalid data
  }
}
