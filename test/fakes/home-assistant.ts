import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { TestContext } from "node:test";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { type Faults, writeHalf } from "./home-assistant-faults.ts";
import {
  AREA_ENTRY,
  changeOf,
  compressed,
  configOf,
  CONTEXT,
  DEVICE_ENTRY,
  ENTITY_ENTRY,
  type FakeEntity,
  NOON,
  registryEvent,
} from "./home-assistant-messages.ts";
import { answerRest, type FakeEvent } from "./home-assistant-rest.ts";
import { callService, type Json, type ServiceCall } from "./home-assistant-services.ts";

interface Client {
  readonly socket: WebSocket;
  readonly below: Socket;
  /** The type of the message that is being answered. */
  answering: string;
  lastId: number;
  coalesces: boolean;
  entities: number | undefined;
  /** Subscription ids by event type. */
  readonly events: Map<string, number>;
}

/**
 * A Home Assistant that speaks the websocket API as its developer documentation describes it: sign-in,
 * ids that must increase, coalesced messages, compressed states, registries, and services that act.
 */
export class FakeHomeAssistant {
  readonly token = "a-long-lived-token";
  readonly entities = new Map<string, FakeEntity>();
  readonly registry = new Map<string, Json>();
  readonly devices = new Map<string, Json>();
  readonly areas = new Map<string, string>();
  readonly pictures = new Map<string, { type: string; bytes: Buffer }>();
  readonly calendars = new Map<string, readonly FakeEvent[] | undefined>();
  /** The paths of the REST API that were read. */
  readonly read: string[] = [];
  readonly faults: Faults = {};
  /** `STARTING` while integrations are still being set up. */
  state = "RUNNING";
  temperatureUnit = "°C";
  /** Service calls that came in, in order. */
  readonly calls: ServiceCall[] = [];
  signIns = 0;
  /** Where entities on their way arrive. */
  readonly #ways = new Map<string, { state: string; attributes: Json }>();
  /** Calls that wait, by the entity that does not follow now. */
  readonly #stalled = new Map<string, ServiceCall[]>();
  #create: (answer: RequestListener) => Server = createServer;
  #server: Server | undefined;
  #sockets = new Set<Client>();
  #port = 0;

  /** `create` makes another server than one of plain HTTP. */
  static async start(
    t: TestContext,
    create?: (answer: RequestListener) => Server,
  ): Promise<FakeHomeAssistant> {
    const fake = new FakeHomeAssistant();
    if (create) fake.#create = create;
    await fake.listen();
    t.after(() => fake.kill());
    return fake;
  }

  get url(): string {
    const scheme = this.#create === createServer ? "http" : "https";
    return `${scheme}://127.0.0.1:${this.#port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Listens, again on the port from before. */
  async listen(): Promise<void> {
    const server = this.#create((request, response) => answerRest(this, request, response));
    const verifyClient = (_: unknown, done: (isTaken: boolean, status?: number) => void) =>
      done(this.faults.status === undefined, this.faults.status);
    const sockets = new WebSocketServer({ server, path: "/api/websocket", verifyClient });
    sockets.on("connection", (socket, { socket: below }) => this.#accept(socket, below));
    await once(server.listen(this.#port, "127.0.0.1"), "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Goes away without a word, as a process that is killed does. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = once(server, "close");
    server.close();
    this.drop();
    server.closeAllConnections();
    await closed;
  }

  drop(): void {
    for (const { socket } of this.#sockets) socket.terminate();
    this.#sockets.clear();
  }

  /** Sends text as it is to every client. */
  sendRaw(text: string | Buffer): void {
    for (const { socket } of this.#sockets) socket.send(text);
  }

  /** Adds an entity, or replaces its state and attributes. */
  set(id: string, state: string, attributes: Json = {}): void {
    const before = this.entities.get(id);
    const next = { state, attributes };
    this.entities.set(id, next);
    if (!before) return this.#sendEvent({ a: { [id]: compressed(next) } });
    if (this.faults.stale) this.#sendEvent({ c: { [id]: { "+": { s: before.state, lu: 1 } } } });
    this.#sendEvent({ c: { [id]: changeOf(before, next) } });
  }

  /** Changes some attributes, and the state when one is given. */
  change(id: string, attributes: Json, state?: string): void {
    const entity = this.entities.get(id);
    if (!entity) return;
    this.set(id, state ?? entity.state, { ...entity.attributes, ...attributes });
  }

  headFor(id: string, state?: string, attributes: Json = {}): void {
    if (state === undefined) this.#ways.delete(id);
    else this.#ways.set(id, { state, attributes });
  }

  /** Lets an entity arrive where it is going. */
  settle(id: string): void {
    const way = this.#ways.get(id);
    this.#ways.delete(id);
    if (way) this.change(id, way.attributes, way.state);
  }

  /** Lets an entity tell its old state at each call, until the returned function carries the calls out. */
  stall(id: string): () => void {
    const calls: ServiceCall[] = [];
    this.#stalled.set(id, calls);
    return () => {
      this.#stalled.delete(id);
      for (const call of calls) callService(this, call);
    };
  }

  remove(...ids: string[]): void {
    for (const id of ids) this.entities.delete(id);
    this.#sendEvent({ r: ids });
  }

  rename(from: string, to: string): void {
    const entity = this.entities.get(from);
    const entry = this.registry.get(from);
    if (!entity || !entry) return;
    this.remove(from);
    this.registry.delete(from);
    this.registry.set(to, { ...entry, entity_id: to });
    this.announce("entity_registry_updated");
    this.set(to, entity.state, entity.attributes);
  }

  announce(type: string): void {
    for (const client of this.#sockets) {
      const id = client.events.get(type);
      if (id !== undefined) this.#send(client, { id, type: "event", event: registryEvent(type) });
    }
  }

  #sendEvent(event: Json): void {
    for (const client of this.#sockets) {
      if (client.entities !== undefined) {
        this.#send(client, { id: client.entities, type: "event", event });
      }
    }
  }

  #accept(socket: WebSocket, below: Socket): void {
    const events = new Map<string, number>();
    const client: Client = {
      socket,
      below,
      answering: "",
      lastId: 0,
      coalesces: false,
      entities: undefined,
      events,
    };
    this.#sockets.add(client);
    socket.on("close", () => this.#sockets.delete(client));
    socket.on("error", () => undefined);
    if (this.faults.silent) return;
    socket.send(JSON.stringify({ type: "auth_required", ha_version: "2026.11.1" }));
    socket.once("message", (data) => {
      const { type, access_token: token } = JSON.parse(textOf(data)) as Json;
      this.signIns++;
      if (type !== "auth" || token !== this.token) {
        socket.send(JSON.stringify({ type: "auth_invalid", message: "Invalid access token" }));
        return socket.close();
      }
      socket.on("message", (text) => this.#receive(client, JSON.parse(textOf(text)) as Json));
      socket.send(JSON.stringify({ type: "auth_ok", ha_version: "2026.11.1" }));
    });
  }

  #receive(client: Client, message: Json): void {
    const id = Number(message["id"]);
    if (id <= client.lastId) {
      return this.#fail(client, id, {
        code: "id_reuse",
        message: "Identifier values have to increase.",
      });
    }
    client.lastId = id;
    const { slowMs } = this.faults;
    if (slowMs === undefined) this.#answer(client, id, message);
    else setTimeout(() => this.#answer(client, id, message), slowMs).unref();
  }

  #answer(client: Client, id: number, message: Json): void {
    client.answering = String(message["type"]);
    if (client.answering === this.faults.unanswered) return;
    switch (message["type"]) {
      case "ping":
        return this.#send(client, { id, type: "pong" });
      case "supported_features":
        client.coalesces = true;
        return this.#succeed(client, id);
      case "subscribe_entities":
        return this.#subscribeEntities(client, id);
      case "subscribe_events":
        client.events.set(String(message["event_type"]), id);
        return this.#succeed(client, id);
      case "call_service":
        return this.#callService(client, id, message);
      default:
        return this.#read(client, id, String(message["type"]));
    }
  }

  #read(client: Client, id: number, type: string): void {
    const lists: Json = {
      "config/entity_registry/list": [...this.registry.values()].map((each) => ({
        ...ENTITY_ENTRY,
        ...each,
      })),
      "config/device_registry/list": [...this.devices].map(([key, each]) => ({
        ...DEVICE_ENTRY,
        id: key,
        ...each,
      })),
      "config/area_registry/list": [...this.areas].map(([key, name]) => ({
        ...AREA_ENTRY,
        area_id: key,
        name,
      })),
      get_states: [...this.entities].map(([key, each]) => ({
        entity_id: key,
        ...each,
        last_changed: NOON,
        last_updated: NOON,
        context: CONTEXT,
      })),
      get_config: configOf(this.state, this.temperatureUnit),
    };
    if (!(type in lists))
      return this.#fail(client, id, { code: "unknown_command", message: "Unknown command." });
    if (this.faults.closedRegistries && type.includes("registry")) {
      return this.#fail(client, id, { code: "unauthorized", message: "Unauthorized" });
    }
    this.#succeed(client, id, { ...lists, ...this.faults.wrong }[type]);
  }

  #subscribeEntities(client: Client, id: number): void {
    const all = [...this.entities].map(([key, entity]) => [key, compressed(entity)]);
    client.entities = id;
    const event = { id, type: "event", event: { a: Object.fromEntries(all) as Json } };
    const result = { id, type: "result", success: true, result: null };
    if (this.faults.noEntities) this.#send(client, result);
    else if (client.coalesces) this.#send(client, [result, event]);
    else for (const each of [result, event]) this.#send(client, each);
  }

  #callService(client: Client, id: number, message: Json): void {
    const { domain, service, service_data: data = {}, target = {} } = message;
    const entityId = String((target as Json)["entity_id"]);
    const call = { service: `${String(domain)}.${String(service)}`, data: data as Json, entityId };
    this.calls.push(call);
    const stalled = [entityId, ...membersIn(call.data)].find((each) => this.#stalled.has(each));
    if (stalled !== undefined) {
      this.#stalled.get(stalled)?.push(call);
      this.change(stalled, {});
    } else if (!this.faults.idle && this.entities.has(entityId)) {
      const refusal = callService(this, call);
      if (refusal) return this.#fail(client, id, refusal);
    }
    if (!this.faults.mute) this.#succeed(client, id, { context: CONTEXT, response: null });
  }

  #succeed(client: Client, id: number, result: unknown = null): void {
    this.#send(client, { id, type: "result", success: true, result });
  }

  #fail(client: Client, id: number, error: { code: string; message: string }): void {
    this.#send(client, { id, type: "result", success: false, error });
  }

  #send({ socket, below, answering }: Client, message: Json | Json[]): void {
    const text = JSON.stringify(message);
    const { broken } = this.faults;
    if (broken?.type !== answering) socket.send(text);
    else if (broken.how === "truncated") socket.send(text.slice(0, text.length / 2));
    else writeHalf(below, text, broken.how);
  }
}

/** The players that a call lets join a group. */
function membersIn({ group_members: members }: Json): string[] {
  return Array.isArray(members) ? members.map(String) : [];
}

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : "";
}
