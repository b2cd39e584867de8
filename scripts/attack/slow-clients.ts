import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { BOUNDS } from "../../host/http/server.ts";
import { readMemory } from "../bench/bench-home.ts";

const PROBES_PER_SECOND = 100;
const CHANGES_PER_SECOND = 20;
const READ_MEMORY_EVERY_MS = 250;
const DRIP_EVERY_MS = 1_000;

/** The host that is attacked. */
export interface Target {
  readonly url: string;
  /** With the admin scope. */
  readonly token: string;
  readonly pid: number;
}

export interface Attack {
  /** Event streams that are opened and never read. */
  readonly streams: number;
  /** Clients that send a byte a second: a half of them heads, a half bodies with a valid token. */
  readonly senders: number;
  readonly seconds: number;
}

export interface SlowCount {
  /** Requests of others. */
  readonly asked: number;
  readonly failed: number;
  /** The duration of a request that came right after all the connections. */
  readonly openingMs: number;
  /** Of the requests after that one. */
  readonly p99Ms: number;
  /** The most that the host's memory has grown by. */
  readonly grownMiB: number;
  /** Connections that were opened, with those that took the place of ones the host has cut off. */
  readonly connections: number;
  /** Connections that the host cut off before the time limit of their head or body, and streams that it cut off at all. */
  readonly cutEarly: number;
}

/** Holds slow connections open while others ask and things happen, and measures what those notice. */
export async function holdSlowly(target: Target, attack: Attack): Promise<SlowCount> {
  const before = (await readMemory(target.pid)).rss;
  const attackers = new Attackers(target);
  attackers.open(attack);
  const { ms: openingMs } = await probe(target);
  const probes: Probe[] = [];
  let highest = before;
  const probing = setInterval(() => probes.push(probe(target)), 1_000 / PROBES_PER_SECOND);
  const changing = setInterval(() => void change(target), 1_000 / CHANGES_PER_SECOND);
  const endsAt = performance.now() + attack.seconds * 1_000;
  while (performance.now() < endsAt) {
    await delay(READ_MEMORY_EVERY_MS);
    highest = Math.max(highest, (await readMemory(target.pid)).rss);
  }
  clearInterval(probing);
  clearInterval(changing);
  const results = await Promise.all(probes);
  attackers.close();
  const sorted = results.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    asked: results.length,
    failed: results.filter(({ isOk }) => !isOk).length,
    openingMs: Math.round(openingMs),
    p99Ms: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    grownMiB: Math.round(highest - before),
    connections: attackers.opened,
    cutEarly: attackers.cutEarly,
  };
}

type Probe = Promise<{ ms: number; isOk: boolean }>;

async function probe({ url, token }: Target): Probe {
  const startedAt = performance.now();
  const headers = { authorization: `Bearer ${token}` };
  const isOk = await fetch(`${url}/api/v1/smart-home/devices`, { headers }).then(
    async (answer) => (await answer.text(), answer.ok),
    () => false,
  );
  return { ms: performance.now() - startedAt, isOk };
}

/** Something for the streams to tell. */
async function change({ url, token }: Target): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const idleSeconds = Math.floor(Math.random() * 80_000);
  const body = JSON.stringify({ ui: { idleSeconds } });
  await fetch(`${url}/api/v1/config`, { method: "PATCH", headers, body }).catch(() => undefined);
}

/** Connections that are slow on purpose. One that the host ends is opened again. */
class Attackers {
  readonly #target: Target;
  readonly #sockets = new Set<Socket>();
  readonly #dripping = new Set<Socket>();
  readonly #drip = setInterval(
    () => this.#dripping.forEach((each) => each.write("1")),
    DRIP_EVERY_MS,
  );
  #isOpen = true;
  opened = 0;
  cutEarly = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  open({ streams, senders }: Attack): void {
    const { host } = new URL(this.#target.url);
    const common = `Host: ${host}\r\nAuthorization: Bearer ${this.#target.token}\r\n`;
    const body = `Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n{"topic":"`;
    const stream = `GET /api/v1/events HTTP/1.1\r\n${common}\r\n`;
    for (let n = 0; n < streams; n++) this.#connect(stream, Number.POSITIVE_INFINITY);
    for (let n = 0; n < senders; n++) {
      const start = `POST /api/v1/mqtt/publish HTTP/1.1\r\n${common}`;
      if (n % 2 === 0) this.#connect(`${start}X-Slow: `, BOUNDS.headersTimeout);
      else this.#connect(start + body, BOUNDS.requestTimeout);
    }
  }

  close(): void {
    this.#isOpen = false;
    clearInterval(this.#drip);
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Sends `start` and, if it is not complete, a byte a second. The host may cut it off after `withinMs`. */
  #connect(start: string, withinMs: number): void {
    const { hostname, port } = new URL(this.#target.url);
    const openedAt = performance.now();
    const socket = connect(Number(port), hostname).pause();
    this.opened++;
    this.#sockets.add(socket);
    if (Number.isFinite(withinMs)) this.#dripping.add(socket);
    socket.write(start);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#dripping.delete(socket);
      if (!this.#isOpen) return;
      if (performance.now() - openedAt < withinMs) this.cutEarly++;
      this.#connect(start, withinMs);
    });
  }
}
