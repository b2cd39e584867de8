import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** The answers of one search that are read; a hostile device may send any number. */
const MOST_ANSWERS = 500;
/** The largest answer, in bytes: that of multicast DNS (RFC 6762, 17). */
const LARGEST_ANSWER = 9_000;
/** The network interfaces on which a search is sent. */
const MOST_INTERFACES = 8;
/** The times at which questions are sent, in ms after the beginning: datagrams get lost. */
const ASKED_AT_MS = [0, 250, 750, 2_000, 5_000];

/** The address and port that a question is sent to. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

export interface Search {
  readonly target: Target;
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** The questions to send now. */
  readonly questions: () => readonly Buffer[];
  readonly onAnswer: (message: Buffer, from: string) => void;
}

/** Sends questions by multicast on every network of this machine, and passes the answers on until the time is over. */
export async function search({
  target,
  forMs,
  signal,
  questions,
  onAnswer,
}: Search): Promise<void> {
  const sockets = await openSockets(target);
  let left = MOST_ANSWERS;
  for (const socket of sockets) {
    socket.on("message", (message, { address }) => {
      if (left-- > 0 && message.length <= LARGEST_ANSWER) onAnswer(message, address);
    });
  }
  try {
    const startedAt = performance.now();
    const waitUntil = (ms: number) =>
      delay(Math.max(0, startedAt + ms - performance.now()), undefined, { signal });
    for (const askedAtMs of ASKED_AT_MS.filter((ms) => ms < forMs)) {
      await waitUntil(askedAtMs);
      for (const question of questions()) {
        for (const socket of sockets) socket.send(question, target.port, target.address, ignore);
      }
    }
    await waitUntil(forMs);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const socket of sockets) socket.close();
  }
}

/** A network may be down, or have no multicast: nothing is found there. */
const ignore = (): void => undefined;

/** A socket for each network; one for a target on this machine. */
async function openSockets({ address }: Target): Promise<Socket[]> {
  const own = address.startsWith("127.") ? ["127.0.0.1"] : ownAddresses();
  const opened = await Promise.all(own.slice(0, MOST_INTERFACES).map(openSocket));
  return opened.filter((socket) => socket !== undefined);
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.flatMap(({ family, internal, address }) =>
    family === "IPv4" && !internal ? [address] : [],
  );
}

async function openSocket(address: string): Promise<Socket | undefined> {
  const socket = createSocket("udp4");
  try {
    socket.bind(0, address);
    await once(socket, "listening");
    socket.on("error", ignore);
    if (address !== "127.0.0.1") socket.setMulticastInterface(address);
    return socket;
  } catch {
    socket.close();
    return undefined; // the network has just gone
  }
}
