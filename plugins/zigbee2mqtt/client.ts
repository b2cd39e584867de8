import { DelayedCall } from "@mantel/plugin-sdk";
import {
  HandoverBuffer,
  type BufferedMessage,
  type Mark,
  type MqttClient,
} from "@mantel/plugin-sdk/mqtt";
import {
  addDevice,
  type DeviceList,
  emptyDeviceList,
  type Inventory,
  inventoryOf,
  NOT_SUPPORTED,
} from "./discovery.ts";
import type { BridgeHealth } from "./health.ts";
import { forEachElement } from "./json-elements.ts";
import { findLoggedError, findRefusal, type LoggedError } from "./log-errors.ts";
import { runInSlices } from "./slices.ts";

const LIST_BYTES = 32 * 2 ** 20;
const STATE_BYTES = 256 * 1024;
/** Minimum interval for reading a list that is published repeatedly. */
const LISTS_EVERY_MS = 100;
/** Maximum bytes of messages from devices that are not listed yet. */
const EARLY_BYTES = 4 * 2 ** 20;

/** Receives the messages of a bridge. */
export interface Listener {
  listed(inventory: Inventory): void;
  /** Called for each list that has been read, also if it has not changed. */
  refreshed(): void;
  /** `isLive` is false for a retained state, which may be old. */
  online(isOnline: boolean, isLive: boolean): void;
  /** True if the name is in the list. */
  knows(name: string): boolean;
  state(name: string, payload: Readonly<Record<string, unknown>>, retained: boolean): void;
  availability(name: string, isOnline: boolean): void;
  errorLogged(error: LoggedError): void;
  /** Called for a request, of anyone, that Zigbee2MQTT refused. */
  refused(request: string, reason: string): void;
}

/**
 * Dispatches the messages of Zigbee2MQTT below its base topic. Names may contain slashes, so topics
 * are looked up.
 */
export class Client {
  readonly #base: string;
  readonly #health: BridgeHealth;
  /** Received messages that are not processed yet, and the last processed ones. */
  readonly #held = new HandoverBuffer();
  #listener: Listener | undefined;
  /** The last lists as text, what is in them, and those not read yet. */
  readonly #texts = new Map<string, Buffer>();
  #devices: DeviceList | undefined;
  #groups: readonly unknown[] = [];
  readonly #unread = new Map<string, Buffer>();
  #isReading = false;
  #inventory: Inventory | undefined;
  /** Messages of devices that are not listed, by topic without the base. */
  readonly #early = new Map<string, BufferedMessage[]>();
  #earlyBytes = 0;
  /** Those of them whose devices are listed now, until they are taken. */
  readonly #due = new Map<string, readonly BufferedMessage[]>();
  readonly #readLater = new DelayedCall(() => this.#readLists());
  readonly #ended = new AbortController();

  constructor(base: string, health: BridgeHealth) {
    this.#base = base;
    this.#health = health;
  }

  /** True once the available lists have been read. */
  get isListed(): boolean {
    return this.#inventory !== undefined;
  }

  /**
   * Subscribes to the bridge, and buffers messages for the later listener. The returned function
   * stops this.
   */
  follow(mqtt: MqttClient): () => void {
    const end = mqtt.subscribe(
      `${this.#base}/#`,
      (topic, payload, retained) => {
        if (payload.length > 0) this.#receive({ topic, payload, retained, at: Date.now() });
      },
      { maxBytes: LIST_BYTES, onTooLong: (topic) => this.#ignore("it is too long", topic) },
    );
    return () => {
      this.#readLater.stop();
      this.#ended.abort();
      end();
    };
  }

  /**
   * Passes all buffered and later messages to `listener`, except those that the previous listener
   * processed: `heard` is the result of `leave` of its client.
   */
  hear(listener: Listener, heard: readonly Mark[]): void {
    this.#readLists();
    this.#listener = listener;
    if (this.#inventory) listener.listed(this.#inventory);
    for (const message of this.#held.takeAfter(heard)) this.#receive(message);
    if (this.#inventory) listener.refreshed();
  }

  /** Stops passing messages. Returns the marks of the last processed ones. */
  leave(): Mark[] {
    if (this.#listener) for (const rest of this.#due.keys()) this.#takeDue(rest, this.#listener);
    this.#listener = undefined;
    return this.#held.lastReceived();
  }

  #receive(message: BufferedMessage): void {
    const list = message.topic.slice(this.#base.length + 1);
    const isList = list === "bridge/devices" || list === "bridge/groups";
    if (isList) this.#takeList(list, message.payload);
    const isTaken = !isList && message.payload.length <= STATE_BYTES;
    if (!this.#listener) return this.#held.add(message, isTaken);
    const isNew = this.#held.accept(message);
    if (!isList && isNew) this.#take(message, this.#listener);
  }

  #take(message: BufferedMessage, listener: Listener): void {
    const { topic, payload } = message;
    const rest = topic.slice(this.#base.length + 1);
    if (payload.length > STATE_BYTES) {
      if (rest !== "bridge/definitions") this.#ignore("it is too long", topic);
    } else if (rest.startsWith("bridge/")) this.#takeBridge(rest.slice(7), message, listener);
    else this.#takeDevice(rest, message, listener);
  }

  /** Reads lists at intervals, because they are long and a returning broker sends them again. */
  #takeList(name: string, bytes: Buffer): void {
    this.#unread.set(name, bytes);
    this.#readLater.start(LISTS_EVERY_MS);
  }

  /** Reads the unread lists in slices: one of thousands of devices takes a second. */
  #readLists(): void {
    if (this.#isReading || this.#unread.size === 0) return;
    this.#readLater.stop();
    this.#isReading = true;
    const unread = [...this.#unread];
    this.#unread.clear();
    runInSlices(this.#read(unread), this.#ended.signal, (inventory) => {
      this.#isReading = false;
      if (this.#unread.size > 0) this.#readLater.start(LISTS_EVERY_MS);
      if (inventory) this.#showLists(inventory);
      if (this.#devices) this.#listener?.refreshed();
    });
  }

  /** Returns what both lists have if one of them is valid and has changed. */
  *#read(
    unread: readonly (readonly [string, Buffer])[],
  ): Generator<undefined, Inventory | undefined> {
    let hasChanged = false;
    for (const [name, bytes] of unread) {
      if (this.#texts.get(name)?.equals(bytes)) continue;
      const isList = yield* name === "bridge/devices"
        ? this.#readDevices(bytes)
        : this.#readGroups(bytes);
      if (isList) this.#texts.set(name, bytes);
      hasChanged ||= isList;
      const problem = `the list ${this.#base}/${name} of Zigbee2MQTT cannot be read`;
      this.#health.set("list", isList ? undefined : problem);
    }
    if (!hasChanged || !this.#devices) return undefined;
    yield;
    return inventoryOf(this.#devices, this.#groups);
  }

  *#readDevices(bytes: Buffer): Generator<undefined, boolean> {
    const devices = emptyDeviceList();
    const isList = yield* forEachElement(bytes, (raw) => addDevice(devices, raw));
    if (isList) this.#devices = devices;
    return isList;
  }

  *#readGroups(bytes: Buffer): Generator<undefined, boolean> {
    const groups: unknown[] = [];
    const isList = yield* forEachElement(bytes, (raw) => groups.push(raw));
    if (isList) this.#groups = groups;
    return isList;
  }

  #showLists(inventory: Inventory): void {
    this.#inventory = inventory;
    this.#tellEntries(inventory.ignored);
    if (!this.#listener) return;
    this.#listener.listed(inventory);
    this.#takeEarly(this.#listener);
  }

  /** Unsupported devices in a list are expected, so they are only counted. */
  #tellEntries(ignored: Inventory["ignored"]): void {
    for (const [why, times] of ignored) {
      this.#health.count({ what: "an entry of a list", why, where: `${this.#base}/bridge` }, times);
    }
    const bad = [...ignored].filter(([why]) => why !== NOT_SUPPORTED);
    const count = bad.reduce((sum, [, times]) => sum + times, 0);
    const sentence = `entries of the lists of Zigbee2MQTT that are left out: ${count}`;
    const reasons = bad.map(([why]) => why).join("; ");
    this.#health.set("entries", count === 0 ? undefined : `${sentence} (${reasons})`);
  }

  #takeBridge(
    name: string,
    { topic, payload, retained }: BufferedMessage,
    listener: Listener,
  ): void {
    switch (name) {
      case "state": {
        const isOnline = onlineIn(payload);
        if (isOnline === undefined) this.#ignore("it is not a bridge state", topic);
        else listener.online(isOnline, !retained);
        return;
      }
      case "logging": {
        const error = findLoggedError(parsed(payload));
        if (error) listener.errorLogged(error);
        return;
      }
      case "info":
        return this.#takeInfo(parsed(payload));
    }
    if (!name.startsWith("response/") || retained) return;
    const reason = findRefusal(parsed(payload));
    if (reason !== undefined) listener.refused(name.slice("response/".length), reason);
  }

  /** With attributes as separate topics, it is not known which belong together in time. */
  #takeInfo(info: unknown): void {
    const { config } = (info ?? {}) as { config?: { advanced?: { output?: unknown } } };
    const isJson = config?.advanced?.output !== "attribute";
    const advice =
      "Zigbee2MQTT publishes attributes apart: set advanced.output to json in its settings";
    this.#health.set("settings", isJson ? undefined : advice);
  }

  #takeDevice(rest: string, message: BufferedMessage, listener: Listener): void {
    this.#takeDue(rest, listener);
    if (listener.knows(rest)) return this.#takeState(rest, message, listener);
    const [, name] = /^(.+)\/availability$/s.exec(rest) ?? [];
    if (name !== undefined && listener.knows(name)) {
      const isOnline = onlineIn(message.payload);
      if (isOnline !== undefined) return listener.availability(name, isOnline);
      return this.#ignore("it is not an availability", message.topic);
    }
    if (!/\/(set|get)(\/|$)/.test(rest)) this.#keepEarly(rest, message);
  }

  #takeState(
    name: string,
    { topic, payload, retained }: BufferedMessage,
    listener: Listener,
  ): void {
    const json = parsed(payload);
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      return this.#ignore("it is not a JSON object", topic);
    }
    listener.state(name, json as Record<string, unknown>, retained);
  }

  /**
   * Buffers messages of unknown devices, because retained messages come in any order, also before
   * the list. Before the first list all are kept, because each may be a press.
   */
  #keepEarly(rest: string, message: BufferedMessage): void {
    const known = this.#early.get(rest) ?? [];
    const kept = this.#inventory ? [] : known;
    const dropped = this.#inventory ? known : [];
    this.#earlyBytes += sizeOf(rest, message) - sum(dropped.map((each) => sizeOf(rest, each)));
    if (this.#earlyBytes > EARLY_BYTES) {
      this.#early.clear();
      this.#earlyBytes = 0;
      return this.#ignore("too many belong to no device", message.topic);
    }
    this.#early.set(rest, [...kept, message]);
  }

  #ignore(why: string, where: string): void {
    this.#health.countIgnored({ what: "a message", why, where });
  }

  /** Takes the early messages in slices: of thousands of devices each has an availability. */
  #takeEarly(listener: Listener): void {
    for (const [rest, messages] of this.#early) this.#due.set(rest, messages);
    this.#early.clear();
    this.#earlyBytes = 0;
    runInSlices(this.#takingDue(listener), this.#ended.signal, () => undefined);
  }

  *#takingDue(listener: Listener): Generator<undefined, void> {
    for (const rest of this.#due.keys()) {
      this.#takeDue(rest, listener);
      yield;
    }
  }

  /** Takes the early messages of one topic, before any later one. */
  #takeDue(rest: string, listener: Listener): void {
    const messages = this.#due.get(rest);
    this.#due.delete(rest);
    for (const message of messages ?? []) this.#takeDevice(rest, message, listener);
  }
}

const sizeOf = (rest: string, { payload }: BufferedMessage): number => rest.length + payload.length;

const sum = (numbers: readonly number[]): number => numbers.reduce((so, each) => so + each, 0);

/** The JSON value, or `undefined` for invalid JSON. */
function parsed(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined;
  }
}

/** Parses `{"state":"online"}`, or the plain word of older versions. */
function onlineIn(payload: Buffer): boolean | undefined {
  const text = payload.toString();
  const json = parsed(payload) as { state?: unknown } | undefined;
  const state = typeof json === "object" && json !== null ? json.state : text;
  return state === "online" ? true : state === "offline" ? false : undefined;
}
