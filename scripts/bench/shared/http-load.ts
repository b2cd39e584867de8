import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { type Summary, summarise } from "./figures.ts";

/** Clock ticks of proc(5) per second. */
const TICKS = 100;

export interface Loaded {
  readonly perSecond: number;
  readonly ms: Summary;
  /** Processor time of the server for each answer, in microseconds. */
  readonly cpuMicros: number;
}

interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The expected status. */
  readonly status: number;
  /** Sent with POST; without one it is a GET. */
  readonly body?: string;
}

/** One request that is sent again and again. */
export interface LoadRequest extends Request {
  readonly url: string;
  /** The pid of the server. */
  readonly pid: number;
}

/** Sends one request over each of `connections` until `forMs` have passed, the next one when the last is answered. */
export async function loadServer(
  request: LoadRequest,
  { connections, forMs }: { connections: number; forMs: number },
): Promise<Loaded> {
  const bytes = bytesOf(request);
  const waits: number[] = [];
  const { port } = new URL(request.url);
  const before = await cpuSeconds(request.pid);
  const sockets = Array.from({ length: connections }, () => connect(Number(port), "127.0.0.1"));
  const startedAt = performance.now();
  const endsAt = startedAt + forMs;
  await Promise.all(
    sockets.map((socket) => repeat(socket, { bytes, endsAt, status: request.status, waits })),
  );
  const tookMs = performance.now() - startedAt;
  const cpu = (await cpuSeconds(request.pid)) - before;
  return {
    perSecond: Math.round((waits.length / tookMs) * 1_000),
    ms: summarise(waits),
    cpuMicros: Math.round((cpu / waits.length) * 1e6),
  };
}

function bytesOf({ path, headers, body }: Request): Buffer {
  const length = body !== undefined && { "Content-Length": Buffer.byteLength(body) };
  const all = { Host: "127.0.0.1", ...headers, ...length };
  const lines = Object.entries(all).map((pair) => pair.join(": "));
  const method = body === undefined ? "GET" : "POST";
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

interface Repeated {
  readonly bytes: Buffer;
  readonly endsAt: number;
  readonly status: number;
  readonly waits: number[];
}

function repeat(socket: Socket, { bytes, endsAt, status, waits }: Repeated): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    const isComplete = answerReader();
    const send = () => {
      sentAt = performance.now();
      socket.write(bytes);
    };
    socket.once("connect", send);
    socket.once("error", reject);
    socket.on("data", (chunk: Buffer) => {
      if (!isComplete(chunk, status)) return;
      const now = performance.now();
      waits.push(now - sentAt);
      if (now < endsAt) return send();
      socket.destroy();
      resolve();
    });
  });
}

/** Reads answers by their length alone, so that the server is the limit and not this client. True at the end of one. */
function answerReader(): (chunk: Buffer, status: number) => boolean {
  let missing = 0;
  return (chunk, status) => {
    if (missing === 0) {
      const { length, head } = lengthOf(chunk, status);
      missing = length + head;
    }
    missing = Math.max(0, missing - chunk.length);
    return missing === 0;
  };
}

/** The bytes of the head and of the body of an answer, whose head is in the first chunk. */
function lengthOf(chunk: Buffer, status: number): { head: number; length: number } {
  const text = chunk.toString("latin1", 0, 2_000);
  const head = text.indexOf("\r\n\r\n") + 4;
  if (!text.startsWith(`HTTP/1.1 ${status} `) || head < 4)
    throw new Error(`expected ${status}, and got ${text.slice(0, 500)}`);
  const at = text.search(/\r\ncontent-length: /i);
  return { head, length: at === -1 || at > head ? 0 : Number.parseInt(text.slice(at + 18), 10) };
}

/** A request that waits for its answer, or for a free connection. */
interface Asked {
  readonly bytes: Buffer;
  readonly status: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Kept connections, each of which sends one request at a time; further requests wait for the first that is free. */
export class Connections {
  readonly #free: ((asked: Asked) => void)[] = [];
  readonly #waiting: Asked[] = [];
  readonly #sockets: readonly Socket[];

  constructor(url: string, count: number) {
    const { port } = new URL(url);
    this.#sockets = Array.from({ length: count }, () => this.#open(Number(port)));
  }

  /** Resolves when the answer with this status is complete. */
  send(request: Request): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked = { bytes: bytesOf(request), status: request.status, resolve, reject };
      const send = this.#free.pop();
      if (send) send(asked);
      else this.#waiting.push(asked);
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(port: number): Socket {
    const socket = connect(port, "127.0.0.1");
    let current: Asked | undefined;
    const isComplete = answerReader();
    const send = (asked: Asked) => {
      current = asked;
      socket.write(asked.bytes);
    };
    const next = () => {
      current = undefined;
      const waiting = this.#waiting.shift();
      if (waiting) send(waiting);
      else this.#free.push(send);
    };
    socket.once("connect", next);
    socket.once("error", (error) => current?.reject(error));
    socket.on("data", (chunk: Buffer) => {
      if (!current) return;
      try {
        if (!isComplete(chunk, current.status)) return;
        current.resolve();
      } catch (error) {
        current.reject(error as Error); // an error's answer is short enough to be one chunk
      }
      next();
    });
    return socket;
  }
}

/** The processor time that a process has used: the fields 14 and 15 of proc(5) `stat`. */
export async function cpuSeconds(pid: number): Promise<number> {
  const [user = 0, system = 0] = await cpuFields(pid);
  return user + system;
}

/** The processor time of these processes and of their children that have ended: the fields 14 to 17. */
export async function cpuSecondsOfAll(pids: readonly number[]): Promise<number> {
  const all = await Promise.all(pids.map((pid) => cpuFields(pid).catch(() => []))); // one may have ended
  return all.flat().reduce((sum, seconds) => sum + seconds, 0);
}

async function cpuFields(pid: number): Promise<number[]> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).map((ticks) => Number(ticks) / TICKS);
}
