import type { Socket } from "node:net";
import { FairShare } from "@mantel/plugin-sdk";
import type { Account } from "./accounts.ts";
import { PacketMeter } from "./packet-meter.ts";
import type { RejectedRequestLog } from "./rejected-request-log.ts";

export const CONNECTION_LIMITS = {
  /** Maximum connections before authentication; beyond it the oldest is closed. */
  strangers: 64,
  /** Maximum connections of Mantel's plugins. */
  plugins: 128,
  /** Maximum connections of all other users, and of one of them. */
  others: 512,
  ofOneUser: 256,
  /** Maximum bytes of the first packet of a connection. */
  firstBytes: 64 * 2 ** 10,
  /** Maximum bytes of any other packet. */
  mostBytes: 2 ** 20,
  /** Maximum bytes of all incomplete packets together; beyond it the longest is refused. */
  unfinishedBytes: 16 * 2 ** 20,
  /** Maximum time from the first to the last byte of a packet. */
  packetMs: 30_000,
  /**
   * Maximum bytes waiting for all clients together; beyond it the client with the most is
   * disconnected.
   */
  backlogBytes: 16 * 2 ** 20,
};
/** Backlog of one client that triggers a check of the total. */
const NOTABLE_BACKLOG_BYTES = 64 * 2 ** 10;

interface Held {
  readonly meter: PacketMeter;
  unfinished: NodeJS.Timeout | undefined;
}

/** Limits the resources of connections: their number, incoming data and backlog. */
export class Connections {
  readonly #limits: typeof CONNECTION_LIMITS;
  readonly #rejected: RejectedRequestLog;
  readonly #all = new Map<Socket, Held>();
  readonly #strangers = new Set<Socket>();
  readonly #plugins: FairShare<Socket>;
  readonly #others: FairShare<Socket>;
  #unfinishedBytes = 0;

  constructor(rejected: RejectedRequestLog, limits: Partial<typeof CONNECTION_LIMITS> = {}) {
    this.#rejected = rejected;
    this.#limits = { ...CONNECTION_LIMITS, ...limits };
    const { plugins, others, ofOneUser } = this.#limits;
    this.#plugins = new FairShare({ most: plugins, mostOfOne: plugins });
    this.#others = new FairShare({ most: others, mostOfOne: ofOneUser });
  }

  /** Meters the data of a connection before anything else reads it. */
  accept(socket: Socket): void {
    const held: Held = { meter: new PacketMeter(this.#limits), unfinished: undefined };
    this.#all.set(socket, held);
    this.#strangers.add(socket);
    const read = socket.read.bind(socket);
    socket.read = (size?: number) => {
      const chunk: unknown = read(size);
      if (!Buffer.isBuffer(chunk)) return chunk;
      return this.#take(socket, held, chunk) ? chunk : null;
    };
    socket.once("close", () => this.#forget(socket, held));
    const [oldest] = this.#strangers;
    if (oldest && this.#strangers.size > this.#limits.strangers) {
      this.#rejected.count("too many unauthenticated connections; the oldest was closed");
      oldest.destroy();
      this.#strangers.delete(oldest);
    }
  }

  /** True if a client may stay, now that its user is known. */
  admit(socket: Socket, account: Account): boolean {
    if (socket.destroyed) return false;
    const places = account.isPluginsAccount ? this.#plugins : this.#others;
    const owner = account.name ?? "";
    const { isGiven, replaced } = places.take(owner, socket);
    if (!isGiven) return false;
    this.#strangers.delete(socket);
    socket.once("close", () => places.release(owner, socket));
    if (replaced) {
      this.#rejected.count(
        "too many clients are connected; one of the user with the most was disconnected",
      );
      replaced.destroy();
    }
    return true;
  }

  /** Disconnects the client that reads too slowly when the total backlog is too large. */
  boundBacklog(socket: Socket): void {
    if (socket.writableLength < NOTABLE_BACKLOG_BYTES) return;
    let [total, slowest] = [0, socket];
    for (const each of this.#all.keys()) {
      total += each.writableLength;
      if (each.writableLength > slowest.writableLength) slowest = each;
    }
    if (total <= this.#limits.backlogBytes) return;
    this.#rejected.count("a client that reads too slowly was disconnected");
    slowest.destroy();
  }

  #take(socket: Socket, held: Held, chunk: Buffer): boolean {
    const before = held.meter.held;
    const fault = held.meter.take(chunk);
    this.#unfinishedBytes += held.meter.held - before;
    this.#time(socket, held, chunk.length);
    if (fault === undefined) {
      if (this.#unfinishedBytes > this.#limits.unfinishedBytes) this.#endLongest();
      return !socket.destroyed;
    }
    this.#rejected.count("a packet was refused and its connection closed", { reason: fault });
    socket.destroy();
    return false;
  }

  /** Starts the time limit of a packet that began within the last chunk. */
  #time(socket: Socket, held: Held, chunkBytes: number): void {
    const { meter } = held;
    if (held.unfinished !== undefined && meter.held <= chunkBytes) {
      clearTimeout(held.unfinished);
      held.unfinished = undefined;
    }
    if (meter.held === 0 || held.unfinished !== undefined) return;
    held.unfinished = setTimeout(() => {
      this.#rejected.count("a packet came too slowly and its connection was closed");
      socket.destroy();
    }, this.#limits.packetMs);
  }

  #endLongest(): void {
    let longest: Socket | undefined;
    let most = 0;
    for (const [socket, { meter }] of this.#all) {
      if (meter.held > most) [longest, most] = [socket, meter.held];
    }
    this.#rejected.count("too many packets were unfinished; the longest was refused");
    longest?.destroy();
  }

  #forget(socket: Socket, held: Held): void {
    clearTimeout(held.unfinished);
    this.#unfinishedBytes -= held.meter.held;
    this.#all.delete(socket);
    this.#strangers.delete(socket);
  }
}
