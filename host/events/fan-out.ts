import type { ServerResponse } from "node:http";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Announcement, Announcements, Bus, Topic } from "./bus.ts";

const REPLAYED = 1_000;
const MAX_STREAMS = 32;
const PING_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 1_000;
const MAX_STALLED_SWEEPS = 10;
const RECONNECT_AFTER_MS = 2_000;

/** Every topic that a stream carries. */
export const TOPICS = Object.keys({
  "device.state": true,
  "device.added": true,
  "device.removed": true,
  "device.event": true,
  "scene.activated": true,
  "scenes.changed": true,
  "module.state": true,
  "module.removed": true,
  "module.log": true,
  "layout.changed": true,
  "config.changed": true,
  "calendar.updated": true,
  "system.sample": true,
  "weather.updated": true,
  "widget.updated": true,
} satisfies Record<Topic, true>) as Topic[];

export interface StreamRequest {
  /** The id of the last event the client has had, as it says; absent for one that begins. */
  readonly lastEventId: string | undefined;
  /** Absent means all but `module.log`, for which the caller must have asked for `admin`. */
  readonly topics: ReadonlySet<string> | undefined;
  /** Asked every second: a stream does not outlive its token. */
  readonly permitted: () => boolean;
}

interface Frame {
  readonly sequence: number;
  readonly topic: Topic;
  readonly text: string;
}

interface Client extends Omit<StreamRequest, "lastEventId"> {
  readonly response: ServerResponse;
  /** Sequence of the next frame to send. */
  next: number;
  /** True from a write that filled the socket's buffer until that is empty. */
  blocked: boolean;
  stalledSweeps: number;
  /** Records of logs that came while the socket's buffer was full. */
  missed: number;
}

/**
 * The bus as server-sent events (WHATWG HTML, 9.2). All clients read the same ring of frames, each at
 * its own place, so that a slow one costs a socket buffer and no more. One that falls out of the ring
 * is told to `resync`, and one that takes nothing for ten seconds is dropped. Records of logs are not
 * in the ring, where they would push out the house: who misses them reads them where they are kept.
 *
 * Ids begin at the time of the start, in microseconds: an id of an earlier run of the host is below
 * all ids of this one.
 */
export class FanOut {
  readonly #firstId = Date.now() * 1000;
  readonly #clients = new Set<Client>();
  readonly #frames: Frame[] = [];
  readonly #releases: (() => void)[];
  /** Counts the frames, in the order in which the bus told of them. */
  #sequence = 0;
  #dropped = 0;

  constructor(bus: Bus) {
    const sweep = setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
    const ping = setInterval(() => this.#ping(), PING_EVERY_MS).unref();
    this.#releases = [
      bus.listen((announcement) => this.#take(announcement)),
      () => clearInterval(sweep),
      () => clearInterval(ping),
    ];
  }

  get streams(): number {
    return this.#clients.size;
  }

  /** Streams that were ended because their clients took nothing, since the host started. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Answers with a stream that goes on until the client, its token or the host ends it.
   * @throws MantelError `rate_limited` when too many streams are open
   */
  open(response: ServerResponse, { lastEventId, ...request }: StreamRequest): void {
    if (this.#clients.size >= MAX_STREAMS) {
      throw new MantelError("rate_limited", `${MAX_STREAMS} event streams are open; close one`, {
        retryAfterMs: RECONNECT_AFTER_MS,
      });
    }
    const place = this.#placeAfter(lastEventId);
    const client: Client = {
      ...request,
      response,
      next: place ?? this.#sequence + 1,
      blocked: false,
      stalledSweeps: 0,
      missed: 0,
    };
    this.#clients.add(client);
    response.on("drain", () => {
      client.blocked = false;
      client.stalledSweeps = 0;
      this.#pump(client);
    });
    response.on("close", () => this.#clients.delete(client));
    // An id without data makes no event, and gives the client the place to ask for after a break.
    write(client, `retry: ${RECONNECT_AFTER_MS}\nid: ${this.#idOf(client.next - 1)}\n\n`);
    if (place === undefined) this.#resync(client, "the events since then are not kept");
    this.#pump(client);
  }

  /** Ends all streams. Clients come back by themselves, to the host that starts next. */
  close(): void {
    for (const release of this.#releases) release();
    for (const client of this.#clients) this.#end(client);
  }

  #take({ topic, data }: Announcement): void {
    if (topic === "module.log") return this.#tellOfRecord(data);
    const sequence = ++this.#sequence;
    const text = `id: ${this.#idOf(sequence)}\nevent: ${topic}\ndata: ${JSON.stringify(data)}\n\n`;
    this.#frames.push({ sequence, topic, text });
    if (this.#frames.length > REPLAYED) this.#frames.shift();
    for (const client of this.#clients) this.#pump(client);
  }

  #tellOfRecord(record: Announcements["module.log"]): void {
    for (const client of this.#clients) {
      if (!client.topics?.has("module.log")) continue;
      if (client.blocked) client.missed++;
      else {
        const data = client.missed > 0 ? { ...record, missed: client.missed } : record;
        client.missed = 0;
        write(client, `event: module.log\ndata: ${JSON.stringify(data)}\n\n`);
      }
    }
  }

  /** Sends what the client has not had yet, as far as its socket takes it. */
  #pump(client: Client): void {
    const oldest = this.#frames[0]?.sequence ?? client.next;
    while (!client.blocked && client.next <= this.#sequence) {
      if (client.next < oldest) return this.#resync(client, "the client reads too slowly");
      const frame = this.#frames[client.next - oldest];
      if (!frame) return;
      client.next += 1;
      if (client.topics?.has(frame.topic) ?? true) write(client, frame.text);
    }
  }

  /** Tells the client that it has missed something and has to read everything again. */
  #resync(client: Client, reason: string): void {
    client.next = this.#sequence + 1;
    const data = JSON.stringify({ reason });
    write(client, `id: ${this.#idOf(this.#sequence)}\nevent: resync\ndata: ${data}\n\n`);
  }

  /** The sequence to go on with after an event the client names; `undefined` when there is a gap. */
  #placeAfter(lastEventId: string | undefined): number | undefined {
    const end = this.#sequence + 1;
    if (lastEventId === undefined) return end;
    const next = /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) - this.#firstId + 1 : -1;
    const oldest = this.#frames[0]?.sequence ?? end;
    return next >= oldest && next <= end ? next : undefined;
  }

  #idOf(sequence: number): number {
    return this.#firstId + sequence;
  }

  #sweep(): void {
    for (const client of this.#clients) {
      if (client.blocked) client.stalledSweeps += 1;
      if (client.stalledSweeps >= MAX_STALLED_SWEEPS) this.#drop(client);
      else if (!client.permitted()) this.#end(client);
    }
  }

  #drop(client: Client): void {
    this.#dropped++;
    this.#clients.delete(client);
    client.response.destroy();
  }

  /** One that takes nothing would not see the end either, and would stay open. */
  #end(client: Client): void {
    this.#clients.delete(client);
    if (client.blocked) client.response.destroy();
    else client.response.end();
  }

  #ping(): void {
    for (const client of this.#clients) if (!client.blocked) write(client, ": ping\n\n");
  }
}

function write(client: Client, text: string): void {
  if (!client.response.write(text)) client.blocked = true;
}
