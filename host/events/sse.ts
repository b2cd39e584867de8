import type { ServerResponse } from "node:http";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { FairShare } from "@mantel/plugin-sdk/fair-share";
import { Throttle } from "@mantel/plugin-sdk/timers";
import type { ApiEvent, ApiEvents, ChannelEvent, Topic } from "../api/events.ts";
import type { Scope } from "../auth/scopes.ts";
import type { Bus } from "./bus.ts";

const REPLAYED = 1_000;
/** The most streams. Each browser tab needs one. */
const STREAM_LIMITS = { streams: 512, ofOneToken: 32 };
const PING_EVERY_MS = 15_000;
const SWEEP_EVERY_MS = 1_000;
const MAX_STALLED_SWEEPS = 10;
const RECONNECT_AFTER_MS = 2_000;
/**
 * Events for many streams wait a moment for later ones, because a write takes a stream longer than its bytes: after
 * a round of writes the next one begins a millisecond later for so many streams.
 */
const STREAMS_PER_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 20;
/** Values of channels that come within a drawn frame after others go out together: a write costs more than its bytes. */
const CHANNEL_PAUSE_MS = 16;
/** Waiting events that end a pause: clients must not fall out of the ring by it. */
const MOST_WAITING = REPLAYED / 4;
/** The most frames in one write; more are written when the socket has taken these. */
const FRAMES_PER_WRITE = 32;

/** Every topic of a stream. */
export const TOPICS = Object.keys({
  "device.state": true,
  "device.added": true,
  "device.removed": true,
  "device.event": true,
  "command.failed": true,
  "scene.activated": true,
  "scene.failed": true,
  "scenes.changed": true,
  "module.state": true,
  "module.removed": true,
  "module.log": true,
  "layout.changed": true,
  "config.changed": true,
  "calendar.updated": true,
  notification: true,
  "plugin.installed": true,
  "plugin.progress": true,
  "widget.updated": true,
  channel: true,
} satisfies Record<Exclude<Topic, "contributed">, true>);

export interface StreamRequest {
  /** The id of the last event that the client received, as it reports; absent for a new client. */
  readonly lastEventId: string | undefined;
  /** Absent means all but `module.log`, for which the caller must have checked `admin`. */
  readonly topics: ReadonlySet<string> | undefined;
  /** The channels to follow, as `plugin/name`; absent means all that the token may read. */
  readonly channels?: ReadonlySet<string> | undefined;
  /** True if the token has a channel's scope. */
  readonly mayRead?: (scope: Scope) => boolean;
  /** The name of the token, shared by the sessions that were opened with it. */
  readonly owner: string;
  /** Called every second: a stream ends with its token. */
  readonly permitted: () => boolean;
}

interface Frame {
  readonly sequence: number;
  readonly topic: string;
  /** Encoded for the first client that gets it, and once for all. */
  readonly bytes: () => Buffer;
  /** The scope that a token needs for it; absent means `read`. */
  readonly scope?: Scope;
  /** Set for a channel that is gone. */
  readonly channel?: ChannelEvent;
}

/** The last value of a channel, and the last frame before it. */
interface ChannelFrame {
  readonly event: ChannelEvent;
  readonly bytes: Buffer;
  readonly after: number;
}

interface Client extends Omit<StreamRequest, "lastEventId"> {
  readonly response: ServerResponse;
  /** The sequence of the next frame to send. */
  next: number;
  /** True after a write that filled the socket's buffer, until that is empty. */
  blocked: boolean;
  stalledSweeps: number;
  /** Log records that arrived while the socket's buffer was full. */
  missed: number;
  /** Channels whose current value is still to be sent. */
  readonly late: Set<string>;
}

/**
 * The bus as server-sent events (WHATWG HTML, 9.2). All clients read the same ring of frames, each at
 * its own position, so that a slow client costs only a socket buffer. A client that falls out of the ring
 * gets a `resync`, and one that reads nothing for ten seconds is dropped. Log records and values of channels are not
 * in the ring, where they would displace other events: clients that miss records read the log instead, and a slow or
 * resumed client gets the latest value of each channel that changed.
 *
 * Ids begin at the time of the start, in microseconds: ids of an earlier run of the host are below
 * all ids of this one.
 */
export class EventStreams {
  readonly #firstId = Date.now() * 1000;
  readonly #clients = new Set<Client>();
  readonly #limits: typeof STREAM_LIMITS;
  readonly #places: FairShare<Client>;
  readonly #frames: Frame[] = [];
  readonly #releases: (() => void)[];
  readonly #channels = new Map<string, ChannelFrame>();
  readonly #sendingChannels = new Throttle(CHANNEL_PAUSE_MS, () => {
    for (const client of this.#clients) this.#sendLate(client);
  });
  /** The number of frames so far, in the order of the bus. */
  #sequence = 0;
  /** The sequence of the last frame that was offered to all clients. */
  #offered = 0;
  /** Set during a pause between two rounds of writes. */
  #pause: NodeJS.Timeout | undefined;
  /** Several frames as one write, by their sequences, since the last frame came. */
  readonly #joined = new Map<string, Buffer>();
  #dropped = 0;

  constructor(bus: Bus, limits: Partial<typeof STREAM_LIMITS> = {}) {
    this.#limits = { ...STREAM_LIMITS, ...limits };
    const { streams, ofOneToken } = this.#limits;
    this.#places = new FairShare({ most: streams, mostOfOne: ofOneToken });
    const sweep = setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
    const ping = setInterval(() => this.#ping(), PING_EVERY_MS).unref();
    this.#releases = [
      bus.on((announcement) => this.#take(announcement)),
      () => clearInterval(sweep),
      () => clearInterval(ping),
      () => clearTimeout(this.#pause),
      () => this.#sendingChannels.stop(),
    ];
  }

  get streams(): number {
    return this.#clients.size;
  }

  /** Streams closed since the host started because their clients read nothing. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Opens a stream until the client, its token or the host ends it. If all places are
   * taken, the oldest stream of the token with the most is closed for a token with fewer.
   * @throws MantelError `rate_limited` if the token has too many streams
   */
  open(response: ServerResponse, { lastEventId, ...request }: StreamRequest): void {
    const place = this.#placeAfter(lastEventId);
    const client: Client = {
      ...request,
      response,
      next: place ?? this.#sequence + 1,
      blocked: false,
      stalledSweeps: 0,
      missed: 0,
      late: new Set(),
    };
    this.#takePlace(client);
    this.#clients.add(client);
    // The stream ends with its connection, so that no event needs a frame of HTTP's chunked encoding.
    response.setHeader("Connection", "close");
    response.removeHeader("Transfer-Encoding");
    response.on("drain", () => {
      client.blocked = false;
      client.stalledSweeps = 0;
      this.#pump(client);
      this.#sendLate(client);
    });
    response.on("close", () => this.#forget(client));
    // An id without data causes no event, and tells the client its position for a reconnect.
    write(client, `retry: ${RECONNECT_AFTER_MS}\nid: ${this.#idOf(client.next - 1)}\n\n`);
    if (place === undefined) this.#resync(client, "the events since then are no longer stored");
    this.#pump(client);
    if (place !== undefined && lastEventId !== undefined) this.#catchUpChannels(client, place);
  }

  /** Ends all streams. Clients reconnect by themselves, to the next host. */
  close(): void {
    for (const release of this.#releases) release();
    for (const client of this.#clients) this.#end(client);
  }

  #takePlace(client: Client): void {
    const { owner } = client;
    const { isGiven, replaced } = this.#places.take(owner, client);
    if (replaced) this.#end(replaced);
    if (isGiven) return;
    const { streams, ofOneToken } = this.#limits;
    const reason = this.#places.isFull(owner)
      ? `the token ${owner} already has ${ofOneToken} open event streams, which is the limit; close one`
      : `${streams} event streams are open, and no other token has more than ${owner}; close one`;
    throw new MantelError("rate_limited", reason, { retryAfterMs: RECONNECT_AFTER_MS });
  }

  #take({ topic, data }: ApiEvent): void {
    if (topic === "module.log") return this.#sendLogRecord(data);
    if (topic === "channel") return this.#takeChannel(data);
    if (topic === "contributed") return this.#takeData(data.topic, () => data.text, data.scope);
    return this.#takeData(topic, () => JSON.stringify(data));
  }

  #takeData(topic: string, read: () => string, scope: Scope = "read"): void {
    const sequence = ++this.#sequence;
    const head = `id: ${this.#idOf(sequence)}\nevent: ${topic}\ndata: `;
    this.#add({ sequence, topic, bytes: encodedOnce(() => `${head}${read()}\n\n`), scope });
  }

  #add(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#frames.length > REPLAYED) this.#frames.shift();
    this.#joined.clear();
    if (!this.#pause || this.#sequence - this.#offered >= MOST_WAITING) this.#pumpAll();
  }

  #pumpAll(): void {
    this.#offered = this.#sequence;
    for (const client of this.#clients) this.#pump(client);
    const pauseMs = Math.floor(this.#clients.size / STREAMS_PER_PAUSE_MS);
    if (pauseMs === 0 || this.#pause) return;
    this.#pause = setTimeout(
      () => {
        this.#pause = undefined;
        if (this.#offered < this.#sequence) this.#pumpAll();
      },
      Math.min(pauseMs, LONGEST_PAUSE_MS),
    ).unref();
  }

  /** The removal of a channel is an ordinary event, because a client could not read a value later. */
  #takeChannel(event: ChannelEvent): void {
    const { channel, isRemoved } = event;
    const text = `event: channel\ndata: ${event.text}\n\n`;
    if (isRemoved) {
      this.#channels.delete(channel);
      const sequence = ++this.#sequence;
      const bytes = encodedOnce(() => `id: ${this.#idOf(sequence)}\n${text}`);
      return this.#add({ sequence, topic: "channel", bytes, channel: event });
    }
    const bytes = Buffer.from(text);
    this.#channels.set(channel, { event, bytes, after: this.#sequence });
    const followers = [...this.#clients].filter((client) => follows(client, event));
    for (const client of followers) client.late.add(channel);
    if (followers.length > 0) this.#sendingChannels.request();
  }

  /** Sends the channels that changed after the last event that a resumed client has. */
  #catchUpChannels(client: Client, place: number): void {
    for (const [channel, { event, after }] of this.#channels) {
      if (after >= place - 1 && follows(client, event)) client.late.add(channel);
    }
    this.#sendLate(client);
  }

  /** Sends the current values of these channels; earlier events come first. */
  #sendLate(client: Client): void {
    this.#pump(client);
    if (client.blocked || client.late.size === 0) return;
    const values = [...client.late].flatMap((channel) => this.#channels.get(channel)?.bytes ?? []);
    client.late.clear();
    const [first] = values;
    if (first) write(client, values.length === 1 ? first : Buffer.concat(values));
  }

  #sendLogRecord(record: ApiEvents["module.log"]): void {
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

  /** Sends frames that the client has not received, as far as its socket accepts them. */
  #pump(client: Client): void {
    const oldest = this.#frames[0]?.sequence ?? client.next;
    while (!client.blocked && client.next <= this.#sequence) {
      if (client.next < oldest) return this.#resync(client, "the client reads too slowly");
      const start = client.next - oldest;
      const frames = this.#frames.slice(start, start + FRAMES_PER_WRITE);
      client.next += frames.length;
      const wanted = frames.filter((frame) => accepts(client, frame));
      if (wanted.length > 0) write(client, this.#bytesOf(wanted));
    }
  }

  /** The bytes of some frames. Most clients want the same ones. */
  #bytesOf(frames: readonly Frame[]): Buffer {
    const [first] = frames;
    if (first && frames.length === 1) return first.bytes();
    const key = frames.map(({ sequence }) => sequence).join();
    const known = this.#joined.get(key);
    if (known) return known;
    const bytes = Buffer.concat(frames.map((frame) => frame.bytes()));
    this.#joined.set(key, bytes);
    return bytes;
  }

  /** Tells the client that it missed events and must read everything again. */
  #resync(client: Client, reason: string): void {
    client.next = this.#sequence + 1;
    const data = JSON.stringify({ reason });
    write(client, `id: ${this.#idOf(this.#sequence)}\nevent: resync\ndata: ${data}\n\n`);
  }

  /** The sequence after an event that the client names; `undefined` if frames in between are gone. */
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
    this.#forget(client);
    client.response.destroy();
  }

  /** Ends a stream. Destroys the socket of a client that reads nothing, which would not read the end either. */
  #end(client: Client): void {
    this.#pump(client);
    this.#forget(client);
    if (client.blocked) client.response.destroy();
    else client.response.end();
  }

  #forget(client: Client): void {
    this.#clients.delete(client);
    this.#places.release(client.owner, client);
  }

  #ping(): void {
    for (const client of this.#clients) if (!client.blocked) write(client, ": ping\n\n");
  }
}

/** True if the client follows the frame's topic or, for a channel, that channel. */
function accepts(client: Client, { topic, channel, scope = "read" }: Frame): boolean {
  if (channel) return follows(client, channel);
  return (
    (client.topics?.has(topic) ?? true) && (scope === "read" || client.mayRead?.(scope) === true)
  );
}

function follows({ topics, channels, mayRead }: Client, { channel, scope }: ChannelEvent): boolean {
  if (topics && !topics.has("channel")) return false;
  return (channels?.has(channel) ?? true) && mayRead?.(scope) === true;
}

function write(client: Client, bytes: Buffer | string): void {
  if (!client.response.write(bytes)) client.blocked = true;
}

/** The bytes of a text that is made when they are first needed. */
function encodedOnce(makeText: () => string): () => Buffer {
  let make: (() => string) | undefined = makeText;
  let bytes: Buffer | undefined;
  return () => {
    bytes ??= Buffer.from(make?.() ?? "");
    make = undefined; // lets go of what the text was made of
    return bytes;
  };
}
