import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** The answers of one search that are read; a hostile device may send any number. */
const MOST_ANSWERS = 500;
/** The largest answer, in bytes: that of multicast DNS (RFC 6762, 17). */
const LARGEST_ANSWER = 9_000;
/** The network interfaces on which a search is sent, for each target. */
const MOST_INTERFACES = 8;
/** The times at which questions are sent, in ms after the beginning: datagrams get lost. */
const ASKED_AT_MS = [0, 250, 750, 2_000, 5_000];

/** The address and port that a question is sent to. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

export interface Search {
  /** For example one by IPv4 and one by IPv6. */
  readonly targets: readonly Target[];
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** The questions to send to a target now. */
  readonly questions: (target: Target) => readonly Buffer[];
  readonly onAnswer: (message: Buffer, from: string) => void;
}

/** Sends questions by multicast on every network of this machine, and passes the answers on until the time is over. */
export async function search({
  targets,
  forMs,
  signal,
  questions,
  onAnswer,
}: Search): Promise<void> {
  const opened = await openSockets(targets);
  let left = MOST_ANSWERS;
  for (const { socket } of opened) {
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
      for (const { socket, target } of opened) {
        for (const question of questions(target)) {
          socket.send(question, target.port, target.address, ignore);
        }
      }
    }
    await waitUntil(forMs);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const { socket } of opened) socket.close();
  }
}

/** A network may be down, or have no multicast: nothing is found there. */
const ignore = (): void => undefined;

interface OpenSocket {
  readonly socket: Socket;
  readonly target: Target;
}

/** A socket for each target and network; one for a target on this machine. */
async function openSockets(targets: readonly Target[]): Promise<OpenSocket[]> {
  const opened = targets.flatMap((target) =>
    ownAddresses(target)
      .slice(0, MOST_INTERFACES)
      .map(async (own) => ({ target, socket: await openSocket(own) })),
  );
  return (await Promise.all(opened)).flatMap(({ target, socket }) =>
    socket ? [{ target, socket }] : [],
  );
}

/** The addresses from which a target is asked: of IPv6 the link-local ones, with the name of their network. */
function ownAddresses({ address: target }: Target): string[] {
  if (isLoopback(target)) return [target];
  const family = isIPv6(target) ? "IPv6" : "IPv4";
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) => {
    const own = addresses.filter((each) => each.family === family && !each.internal);
    if (family === "IPv4") return own.map(({ address }) => address);
    const local = own.find(({ address }) => address.startsWith("fe80:"));
    return local ? [`${local.address}%${name}`] : [];
  });
}

function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

async function openSocket(address: string): Promise<Socket | undefined> {
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  try {
    socket.bind(0, address);
    await once(socket, "listening");
    socket.on("error", ignore);
    const [, network] = address.split("%");
    if (!isLoopback(address)) socket.setMulticastInterface(network ? `::%${network}` : address);
    return socket;
  } catch {
    socket.close();
    return undefined; // the network has just gone
  }
}
