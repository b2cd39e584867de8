import { Held, type HeldMessage, type Mark, type MqttLink } from "@mantel/plugin-sdk/mqtt";
import { type Complaint, complaintIn } from "./complaints.ts";
import { type Inventory, inventoryOf, NOT_SUPPORTED } from "./discovery.ts";
import type { BridgeHealth } from "./health.ts";

const LIST_BYTES = 32 * 2 ** 20;
const STATE_BYTES = 256 * 1024;
/** A list that is published again and again is read no more often than this. */
const LISTS_EVERY_MS = 100;
/** Messages of devices that are not listed yet, in bytes. */
const EARLY_BYTES = 4 * 2 ** 20;

/** Who wants to know what a bridge publishes. */
export interface Listener {
  listed(inventory: Inventory): void;
  online(isOnline: boolean): void;
  /** True when the name is one of the list. */
  knows(name: string): boolean;
  state(name: string, payload: Readonly<Record<string, unknown>>, retained: boolean): void;
  availability(name: string, isOnline: boolean): void;
  complaint(complaint: Complaint): void;
}

/** Sorts what a Zigbee2MQTT publishes below its base topic. Names may hold slashes, so topics are looked up. */
export class Client {
  readonly #base: string;
  readonly #health: BridgeHealth;
  /** What has come and has not been heard yet, and what was heard last. */
  readonly #held = new Held();
  #listener: Listener | undefined;
  /** The last list of each kind, and those that were not read yet. */
  readonly #lists = new Map<string, { readonly bytes: Buffer; readonly json: unknown }>();
  readonly #unread = new Map<string, Buffer>();
  #inventory: Inventory | undefined;
  readonly #early = new Map<string, HeldMessage>();
  #earlyBytes = 0;
  #reading: NodeJS.Timeout | undefined;

  constructor(base: string, health: BridgeHealth) {
    this.#base = base;
    this.#health = health;
  }

  /** True once both lists, or what there is of them, were read. */
  get isListed(): boolean {
    return this.#inventory !== undefined;
  }

  /** Follows the bridge, and holds what it says for the listener to come. The function it returns ends that. */
  follow(link: MqttLink): () => void {
    const end = link.subscribe(
      `${this.#base}/#`,
      (topic, payload, retained) => {
        if (payload.length > 0) this.#receive({ topic, payload, retained, at: Date.now() });
      },
      { maxBytes: LIST_BYTES, onTooLong: (topic) => this.#leaveOut("it is too long", topic) },
    );
    return () => {
      clearTimeout(this.#reading);
      end();
    };
  }

  /**
   * Lets `listener` hear all that has come so far and comes from now on, but for what the listener before
   * heard: `heard` is what `leave` of that one's client gave.
   */
  hear(listener: Listener, heard: readonly Mark[]): void {
    this.#listener = listener;
    this.#readLists();
    if (this.#inventory) listener.listed(this.#inventory);
    for (const message of this.#held.after(heard)) this.#receive(message);
  }

  /** Nobody hears any more. Gives the marks of what was heard last. */
  leave(): Mark[] {
    this.#listener = undefined;
    return this.#held.heard();
  }

  #receive(message: HeldMessage): void {
    const list = message.topic.slice(this.#base.length + 1);
    const isList = list === "bridge/devices" || list === "bridge/groups";
    if (isList) this.#takeList(list, message.payload);
    const isTaken = !isList && message.payload.length <= STATE_BYTES;
    if (!this.#listener) return this.#held.keep(message, isTaken);
    const isNew = this.#held.note(message);
    if (!isList && isNew) this.#take(message, this.#listener);
  }

  #take(message: HeldMessage, listener: Listener): void {
    const { topic, payload } = message;
    const rest = topic.slice(this.#base.length + 1);
    if (payload.length > STATE_BYTES) {
      if (rest !== "bridge/definitions") this.#leaveOut("it is too long", topic);
    } else if (rest.startsWith("bridge/")) this.#takeBridge(rest.slice(7), message, listener);
    else this.#takeDevice(rest, message, listener);
  }

  /** Lists are long, and a broker that comes back brings them again. */
  #takeList(name: string, bytes: Buffer): void {
    this.#unread.set(name, bytes);
    this.#reading ??= setTimeout(() => this.#readLists(), LISTS_EVERY_MS);
  }

  #readLists(): void {
    clearTimeout(this.#reading);
    this.#reading = undefined;
    const unread = [...this.#unread];
    this.#unread.clear();
    const areNew = unread.map(([name, bytes]) => this.#readList(name, bytes));
    if (!areNew.includes(true) || !this.#lists.has("bridge/devices")) return;
    const listOf = (name: string) => this.#lists.get(name)?.json;
    this.#inventory = inventoryOf(listOf("bridge/devices"), listOf("bridge/groups"));
    this.#tellEntries(this.#inventory.leftOut);
    if (!this.#listener) return;
    this.#listener.listed(this.#inventory);
    this.#takeEarly(this.#listener);
  }

  /** True when it is a list, and another one than before. */
  #readList(name: string, bytes: Buffer): boolean {
    if (this.#lists.get(name)?.bytes.equals(bytes)) return false;
    const json = parsed(bytes);
    const isList = Array.isArray(json);
    if (isList) this.#lists.set(name, { bytes, json });
    const problem = `the list ${this.#base}/${name} of Zigbee2MQTT cannot be read`;
    this.#health.set("list", isList ? undefined : problem);
    return isList;
  }

  /** What a list says of a device that is not supported is as it should be, and is only counted. */
  #tellEntries(leftOut: Inventory["leftOut"]): void {
    for (const [why, times] of leftOut) {
      this.#health.count({ what: "an entry of a list", why, where: `${this.#base}/bridge` }, times);
    }
    const bad = [...leftOut].filter(([why]) => why !== NOT_SUPPORTED);
    const count = bad.reduce((sum, [, times]) => sum + times, 0);
    const sentence = `entries of the lists of Zigbee2MQTT that are left out: ${count}`;
    const reasons = bad.map(([why]) => why).join("; ");
    this.#health.set("entries", count === 0 ? undefined : `${sentence} (${reasons})`);
  }

  #takeBridge(name: string, { topic, payload }: HeldMessage, listener: Listener): void {
    switch (name) {
      case "state": {
        const isOnline = onlineIn(payload);
        if (isOnline === undefined) this.#leaveOut("it is no state of a bridge", topic);
        else listener.online(isOnline);
        return;
      }
      case "logging": {
        const complaint = complaintIn(parsed(payload));
        if (complaint) listener.complaint(complaint);
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

  #takeDevice(rest: string, message: HeldMessage, listener: Listener): void {
    if (listener.knows(rest)) return this.#takeState(rest, message, listener);
    const [, name] = /^(.+)\/availability$/s.exec(rest) ?? [];
    if (name !== undefined && listener.knows(name)) {
      const isOnline = onlineIn(message.payload);
      if (isOnline !== undefined) return listener.availability(name, isOnline);
      return this.#leaveOut("it is no availability", message.topic);
    }
    if (!/\/(set|get)(\/|$)/.test(rest)) this.#keepEarly(rest, message);
  }

  #takeState(name: string, { topic, payload, retained }: HeldMessage, listener: Listener): void {
    const json = parsed(payload);
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      return this.#leaveOut("it is no JSON object", topic);
    }
    listener.state(name, json as Record<string, unknown>, retained);
  }

  /** Retained messages come in any order, those of devices before the list of them too. */
  #keepEarly(rest: string, message: HeldMessage): void {
    const known = this.#early.get(rest);
    this.#earlyBytes += message.payload.length - (known?.payload.length ?? -rest.length);
    if (this.#earlyBytes > EARLY_BYTES) {
      this.#early.clear();
      this.#earlyBytes = 0;
      return this.#leaveOut("too many belong to no device", message.topic);
    }
    this.#early.set(rest, message);
  }

  #leaveOut(why: string, where: string): void {
    this.#health.leaveOut({ what: "a message", why, where });
  }

  #takeEarly(listener: Listener): void {
    const early = [...this.#early];
    this.#early.clear();
    this.#earlyBytes = 0;
    for (const [rest, message] of early) this.#takeDevice(rest, message, listener);
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
