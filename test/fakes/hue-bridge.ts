import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TestContext } from "node:test";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { bridgeCertificate } from "./hue-certificate.ts";
import { type FakeEvent, FakeEvents } from "./hue-events.ts";
import { type Fault, FAULTS, sendJson, throttle } from "./hue-faults.ts";
import { type FakeResource, home } from "./hue-home.ts";
import { obey } from "./hue-obey.ts";

export interface FakeBridgeOptions {
  readonly id?: string;
  readonly resources?: FakeResource[];
  /** Events are sent together, so often; a real bridge has 1,000. */
  readonly eventEveryMs?: number;
  /** Takes changes as fast as they come, which no bridge does. */
  readonly isUnlimited?: boolean;
  /** Gets each answer to a request, and each event. */
  readonly onAnswer?: (answer: FakeAnswer) => void;
  readonly onEvents?: (events: readonly FakeEvent[]) => void;
}

export interface FakeAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly at: number;
}

/**
 * A Hue bridge that speaks CLIP v2 as its maker documents it: HTTPS with a certificate of its own,
 * pairing by a button, resources, an event stream with resume, and its limits: three requests at a
 * time, ten changes of lights and one of groups and scenes in a second.
 */
export class FakeHueBridge {
  readonly id: string;
  key = "a-key-that-the-bridge-gave-at-pairing";
  readonly resources: Map<string, FakeResource>;
  readonly asked: Asked[] = [];
  fault: Fault;
  /** Time until a light follows a command. */
  followMs = 0;
  /** Time that the answer to a reading takes on its way. */
  answerMs = 0;
  /** Requests that were refused because there were too many. */
  throttled = 0;
  /** The most requests that were answered at the same time. */
  mostAtOnce = 0;
  readonly #events: FakeEvents;
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #pair: ReturnType<typeof bridgeCertificate>;
  #server: Server | undefined;
  #port = 0;
  #pressedAt = -Infinity;
  #underWay = 0;
  readonly #isUnlimited: boolean;
  readonly #onAnswer: (answer: FakeAnswer) => void;
  /** Changes that lights make when they are no longer stalled. */
  #stalled: (() => void)[] | undefined;
  #buckets = new Map<string, { tokens: number; at: number }>();

  constructor({
    id = "001788fffe123456",
    resources = home(),
    eventEveryMs = 0,
    isUnlimited = false,
    onAnswer = () => undefined,
    onEvents = () => undefined,
  }: FakeBridgeOptions) {
    this.id = id;
    this.#isUnlimited = isUnlimited;
    this.#onAnswer = onAnswer;
    this.resources = new Map(resources.map((each) => [each.id, each]));
    this.#events = new FakeEvents(eventEveryMs, onEvents);
    this.#pair = bridgeCertificate(id);
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Its options in the config after pairing. */
  get options() {
    const { address, key, fingerprint } = this;
    return { address, fingerprint, applicationKey: key };
  }

  /** Open event streams, and the `last-event-id` each was opened with. */
  get streams(): ReadonlyMap<ServerResponse, string | undefined> {
    return this.#events.streams;
  }

  get fingerprint(): string {
    return this.#pair.fingerprint;
  }

  /** Listens, at the port that it had before. */
  async start(): Promise<void> {
    const { cert, key } = this.#pair;
    this.#server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
      response.on("error", () => undefined);
      void this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket)).on("error", () => undefined);
    });
    this.#server.on("tlsClientError", () => undefined);
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Is gone at once, as by a power cut. It forgets the events that it has sent. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#events.forget();
    const closed = this.#server && once(this.#server, "close");
    this.#server?.close();
    this.cut();
    await closed;
    this.#server = undefined;
  }

  /** Ends every connection; what happens meanwhile is told to who resumes. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** To factory settings: it has another certificate, and knows no key that it gave. */
  async reset(name = this.id): Promise<void> {
    await this.stop();
    this.#pair = bridgeCertificate(name);
    this.key = `another-${this.key}`;
    await this.start();
  }

  /** Shows another certificate to new connections, and keeps the open streams. */
  showAnother(): void {
    const { cert, key } = bridgeCertificate(this.id);
    this.#server?.setSecureContext({ cert, key });
    this.#server?.closeIdleConnections();
  }

  pressButton(): void {
    this.#pressedAt = performance.now();
  }

  /** Changes a resource, as the home does by itself, and tells of it. */
  change(id: string, change: object): void {
    const before = this.resources.get(id);
    if (!before) throw new Error(`the fake has no ${id}`);
    const fields = Object.entries(change).map(([key, value]) => {
      const known = before[key];
      const isPart = isObject(value) && isObject(known);
      return [key, isPart ? { ...known, ...value } : value] as const;
    });
    this.resources.set(id, { ...before, ...Object.fromEntries(fields) });
    this.#events.tell("update", [{ ...change, id, type: before.type, owner: before["owner"] }]);
  }

  add(...resources: FakeResource[]): void {
    for (const each of resources) this.resources.set(each.id, each);
    this.#events.tell("add", resources);
  }

  remove(...ids: string[]): void {
    const gone = ids.map((id) => ({ id, type: this.resources.get(id)?.type ?? "light" }));
    for (const id of ids) this.resources.delete(id);
    this.#events.tell("delete", gone);
  }

  /** Lights take commands and report what they are, until the returned function makes them do what they were told. */
  stall(...ids: string[]): () => void {
    this.#stalled = [];
    for (const id of ids) this.change(id, this.resources.get(id) ?? {});
    return () => {
      const waiting = this.#stalled ?? [];
      this.#stalled = undefined;
      for (const work of waiting) work();
    };
  }

  /** Writes to every stream, whatever it is. */
  sendRaw(text: string): void {
    this.#events.sendRaw(text);
  }

  /** The bodies of the changes that a resource was asked for, oldest first. */
  changesOf(id: string): Asked["body"][] {
    return this.asked
      .filter(({ method, path }) => method === "PUT" && path.endsWith(`/${id}`))
      .map(({ body }) => body);
  }

  #later(work: () => void, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    const path = decodeURIComponent(url);
    response.on("json", (status: number, answer: unknown) =>
      this.#onAnswer({ method, path, status, body: answer }),
    );
    if (path === "/eventstream/clip/v2") return this.#stream(request, response);
    this.#underWay++;
    response.on("close", () => this.#underWay--);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay);
    let text = "";
    for await (const chunk of request.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    this.asked.push({ method, path, body, at: performance.now() });
    if (this.fault && (await FAULTS[this.fault](response))) return;
    this.#reply(request, { method, path, body }, response);
  }

  #reply(
    request: IncomingMessage,
    { method, path, body }: Omit<Asked, "at">,
    response: ServerResponse,
  ): void {
    if (this.#underWay > 3) return this.#throttle(response);
    if (path.startsWith("/api")) return this.#beforePairing(path, response);
    if (request.headers["hue-application-key"] !== this.key) {
      return refuse(response);
    }
    if (method === "PUT") return this.#put(path, body, response);
    this.#get(path, response);
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    if (request.headers["hue-application-key"] !== this.key) return refuse(response);
    if (this.fault === "never") return;
    this.#events.open(request, response);
  }

  #throttle(response: ServerResponse): void {
    this.throttled++;
    throttle(response);
  }

  /** The requests that need no key: its identity, and for a key. */
  #beforePairing(path: string, response: ServerResponse): void {
    if (path.endsWith("/config")) {
      const bridgeid = this.id.toUpperCase();
      return sendJson(response, 200, { name: "Hue Bridge", bridgeid, modelid: "BSB002" });
    }
    const isPressed = performance.now() - this.#pressedAt < 30_000;
    const error = { type: 101, address: "", description: "link button not pressed" };
    sendJson(response, 200, [isPressed ? { success: { username: this.key } } : { error }]);
  }

  #get(path: string, response: ServerResponse): void {
    const [type, id] = path.replace("/clip/v2/resource", "").split("/").filter(Boolean);
    const all = [...this.resources.values()];
    const data = all.filter((each) => (!type || each.type === type) && (!id || each.id === id));
    if (id !== undefined && data.length === 0) return notFound(response);
    const send = () => sendJson(response, 200, { errors: [], data });
    if (this.answerMs === 0) send();
    else this.#later(send, this.answerMs);
  }

  #put(path: string, body: Record<string, unknown>, response: ServerResponse): void {
    const [type = "", id = ""] = path.replace("/clip/v2/resource/", "").split("/");
    const resource = this.resources.get(id);
    if (resource?.type !== type) return notFound(response);
    const isFree = this.#isUnlimited || this.#hasToken(type === "light" ? "light" : "group");
    if (!isFree) return this.#throttle(response);
    const { changes, errors } = obey(this.resources, resource, body);
    const told = errors.map((description) => ({ description }));
    if (changes.length === 0 && errors.length > 0) {
      return sendJson(response, 400, { errors: told, data: [] });
    }
    const answer = { errors: told, data: [{ rid: id, rtype: type }] };
    const follow = () => {
      for (const [changed, change] of changes) this.change(changed, change);
    };
    if (this.#stalled) this.#stalled.push(follow);
    else this.#later(follow, this.followMs);
    sendJson(response, errors.length > 0 ? 207 : 200, answer);
  }

  /** A second's worth at most; the two more are for what comes late on its way here. */
  #hasToken(kind: "light" | "group"): boolean {
    const [perSecond, most] = kind === "light" ? [10, 3] : [1, 1.2];
    const now = performance.now();
    const bucket = this.#buckets.get(kind) ?? { tokens: most, at: now };
    const tokens = Math.min(most, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond);
    const isFree = tokens >= 1;
    this.#buckets.set(kind, { tokens: isFree ? tokens - 1 : tokens, at: now });
    return isFree;
  }
}

/** A bridge on a free port of this machine. It goes with the test. */
export async function startHueBridge(
  t: TestContext,
  options: FakeBridgeOptions = {},
): Promise<FakeHueBridge> {
  const bridge = new FakeHueBridge(options);
  await bridge.start();
  onTestEnd(t, () => bridge.stop());
  return bridge;
}

function refuse(response: ServerResponse): void {
  sendJson(response, 403, { errors: [{ description: "unauthorized user" }], data: [] });
}

function notFound(response: ServerResponse): void {
  sendJson(response, 404, { errors: [{ description: "Not Found" }], data: [] });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
