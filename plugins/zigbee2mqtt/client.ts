import type { MqttLink } from "@mantel/plugin-sdk/mqtt";
import { type Complaint, complaintIn } from "./complaints.ts";
import type { Health } from "./health.ts";

const LIST_BYTES = 32 * 2 ** 20;
const STATE_BYTES = 256 * 1024;
/** A list that is published again and again is read no more often than this. */
const LISTS_EVERY_MS = 100;
/** Messages of devices that are not listed yet, in bytes. */
const EARLY_BYTES = 4 * 2 ** 20;

/** Who wants to know what a bridge publishes. */
export interface Listener {
  /** Both lists, as JSON; one that has not come is `undefined`. */
  listed(devices: unknown, groups: unknown): void;
  online(isOnline: boolean): void;
  /** True when the name is one of the list. */
  knows(name: string): boolean;
  state(name: string, payload: Readonly<Record<string, unknown>>, retained: boolean): void;
  availability(name: string, isOnline: boolean): void;
  complaint(complaint: Complaint): void;
}

interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  readonly retained: boolean;
}

/** Sorts what a Zigbee2MQTT publishes below its base topic. Names may hold slashes, so topics are looked up. */
export class Client {
  readonly #base: string;
  readonly #listener: Listener;
  readonly #health: Health;
  /** The last list of each kind, and those that were not read yet. */
  readonly #lists = new Map<string, { readonly bytes: Buffer; readonly json: unknown }>();
  readonly #unread = new Map<string, Buffer>();
  readonly #early = new Map<string, Message>();
  #earlyBytes = 0;
  #reading: NodeJS.Timeout | undefined;

  constructor(base: string, listener: Listener, health: Health) {
    this.#base = base;
    this.#listener = listener;
    this.#health = health;
  }

  /** Follows the bridge; the function it returns ends that. */
  follow(link: MqttLink): () => void {
    const end = link.subscribe(
      `${this.#base}/#`,
      (topic, payload, retained) => {
        if (payload.length > 0) this.#take({ topic, payload, retained });
      },
      { maxBytes: LIST_BYTES, onTooLong: (topic) => this.#health.unread("too long", topic) },
    );
    return () => {
      clearTimeout(this.#reading);
      end();
    };
  }

  #take(message: Message): void {
    const { topic, payload } = message;
    const rest = topic.slice(this.#base.length + 1);
    if (rest === "bridge/devices" || rest === "bridge/groups") return this.#takeList(rest, payload);
    if (payload.length > STATE_BYTES) {
      if (rest !== "bridge/definitions") this.#health.unread("too long", topic);
    } else if (rest.startsWith("bridge/")) this.#takeBridge(rest.slice(7), message);
    else this.#takeDevice(rest, message);
  }

  /** Lists are long, and a broker that comes back brings them again. */
  #takeList(name: string, bytes: Buffer): void {
    this.#unread.set(name, bytes);
    this.#reading ??= setTimeout(() => this.#readLists(), LISTS_EVERY_MS);
  }

  #readLists(): void {
    this.#reading = undefined;
    let isNew = false;
    for (const [name, bytes] of this.#unread) {
      if (this.#lists.get(name)?.bytes.equals(bytes)) continue;
      const json = parsed(bytes);
      if (Array.isArray(json)) this.#lists.set(name, { bytes, json });
      const problem = `the list ${this.#base}/${name} of Zigbee2MQTT cannot be read`;
      this.#health.set("list", Array.isArray(json) ? undefined : problem);
      isNew ||= Array.isArray(json);
    }
    this.#unread.clear();
    if (!isNew || !this.#lists.has("bridge/devices")) return;
    const listOf = (name: string) => this.#lists.get(name)?.json;
    this.#listener.listed(listOf("bridge/devices"), listOf("bridge/groups"));
    this.#takeEarly();
  }

  #takeBridge(name: string, { topic, payload }: Message): void {
    switch (name) {
      case "state": {
        const isOnline = onlineIn(payload);
        if (isOnline === undefined) this.#health.unread("no state of a bridge", topic);
        else this.#listener.online(isOnline);
        return;
      }
      case "logging": {
        const complaint = complaintIn(parsed(payload));
        if (complaint) this.#listener.complaint(complaint);
        return;
      }
      case "info":
        return this.#takeInfo(parsed(payload));
    }
  }

  /** Attributes as topics of their own cannot be told from each other in time. */
  #takeInfo(info: unknown): void {
    const { config } = (info ?? {}) as { config?: { advanced?: { output?: unknown } } };
    const isJson = config?.advanced?.output !== "attribute";
    const advice =
      "Zigbee2MQTT publishes attributes apart: set advanced.output to json in its settings";
    this.#health.set("settings", isJson ? undefined : advice);
  }

  #takeDevice(rest: string, message: Message): void {
    if (this.#listener.knows(rest)) return this.#takeState(rest, message);
    const [, name] = /^(.+)\/availability$/s.exec(rest) ?? [];
    if (name !== undefined && this.#listener.knows(name)) {
      const isOnline = onlineIn(message.payload);
      if (isOnline !== undefined) return this.#listener.availability(name, isOnline);
      return this.#health.unread("no availability", message.topic);
    }
    if (!/\/(set|get)(\/|$)/.test(rest)) this.#keepEarly(rest, message);
  }

  #takeState(name: string, { topic, payload, retained }: Message): void {
    const json = parsed(payload);
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      return this.#health.unread("no JSON object", topic);
    }
    this.#listener.state(name, json as Record<string, unknown>, retained);
  }

  /** Retained messages come in any order, those of devices before the list of them too. */
  #keepEarly(rest: string, message: Message): void {
    const known = this.#early.get(rest);
    this.#earlyBytes += message.payload.length - (known?.payload.length ?? -rest.length);
    if (this.#earlyBytes > EARLY_BYTES) {
      this.#early.clear();
      this.#earlyBytes = 0;
      return this.#health.count("messages that belong to no device", message.topic);
    }
    this.#early.set(rest, message);
  }

  #takeEarly(): void {
    const early = [...this.#early];
    this.#early.clear();
    this.#earlyBytes = 0;
    for (const [rest, message] of early) this.#takeDevice(rest, message);
  }
}

/** JSON, or `undefined` for what is none. */
function parsed(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}

/** `{"state":"online"}`, or the bare word of older versions. */
function onlineIn(payload: Buffer): boolean | undefined {
  const text = payload.toString();
  const json = parsed(payload) as { state?: unknown } | undefined;
  const state = typeof json === "object" && json !== null ? json.state : text;
  return state === "online" ? true : state === "offline" ? false : undefined;
}
