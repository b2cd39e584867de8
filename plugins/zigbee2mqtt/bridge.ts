import { EventEmitter, once } from "node:events";
import {
  type DeviceCommand,
  type DeviceDescription,
  type DeviceState,
  MantelError,
  type PluginContext,
} from "@mantel/plugin-sdk";
import type { ConnectionListener, Mark, MqttClient } from "@mantel/plugin-sdk/mqtt";
import type { Client, Listener } from "./client.ts";
import { Confirmations, type Expected, expectedOf } from "./confirmations.ts";
import type { DeviceCache } from "./device-cache.ts";
import { DeviceStore } from "./device-store.ts";
import type { Inventory } from "./discovery.ts";
import { eventIn } from "./events.ts";
import { withValue } from "./feature.ts";
import { type BridgeHealth, countUnusable } from "./health.ts";
import type { LoggedError } from "./log-errors.ts";
import { Publisher } from "./publisher.ts";
import { StatePoller } from "./state-poller.ts";
import { UpdateBatcher } from "./update-batcher.ts";

/** A command right after the start waits this long for the list of devices. */
const LIST_MS = 2_000;
/** A running Zigbee2MQTT has reported its state by then, because the state is retained. */
const SILENT_MS = 10_000;
/** Retained messages may arrive before the event for the connection. */
const EARLY_MS = 1_000;
const RETRY_MS = 5_000;

interface Parts {
  readonly ctx: Pick<PluginContext<unknown, unknown>, "devices" | "scenes" | "log">;
  readonly mqtt: MqttClient;
  readonly client: Client;
  readonly health: BridgeHealth;
  readonly memory: DeviceCache;
  readonly topic: string;
}

/** State handed over to the next generation. */
export interface HandedOver {
  readonly isOnline: boolean;
  readonly devices: DeviceDescription[];
  /** Marks of the messages processed last. */
  readonly heard: Mark[];
}

/** One Zigbee2MQTT instance: turns its messages into devices, and commands into its messages. */
export class Bridge implements Listener, ConnectionListener {
  readonly #parts: Parts;
  readonly #home: DeviceStore;
  readonly #publisher: Publisher;
  readonly #outbox: UpdateBatcher;
  readonly #confirmations = new Confirmations();
  readonly #asking: StatePoller;
  readonly #lists = new EventEmitter<{ listed: [] }>().setMaxListeners(0);
  /** Time of the last online state of the bridge, on the monotonic clock. */
  #stateAt = -Infinity;
  #silence: NodeJS.Timeout | undefined;

  /** Starts with the state of the previous generation, or the stored state. */
  constructor(parts: Parts, { devices, isOnline }: HandedOver) {
    this.#parts = parts;
    this.#home = new DeviceStore(devices, isOnline, (where) => countUnusable(parts.health, where));
    this.#publisher = new Publisher({ ...parts, home: this.#home });
    this.#outbox = new UpdateBatcher((told) => this.#update(told));
    this.#asking = new StatePoller((thing, payload) =>
      this.#send(`${thing.topicName}/get`, payload),
    );
  }

  /** Shows the known devices, and processes the messages received since. */
  async open(heard: readonly Mark[]): Promise<void> {
    const { client, health } = this.#parts;
    health.startReporting();
    const isKnown = this.#home.describe().length > 0;
    if (isKnown && !client.isListed) await this.#publisher.publish();
    client.hear(this, heard); // the list itself publishes its devices
  }

  close(): void {
    clearTimeout(this.#silence);
    this.#asking.close();
    this.#outbox.flush();
  }

  /** Stops processing; the next generation receives new messages. */
  handOver(): HandedOver {
    const heard = this.#parts.client.leave();
    this.#outbox.flush();
    return { isOnline: this.#home.isOnline, devices: this.#home.remember(), heard };
  }

  /**
   * Called on connection: retained messages arrive automatically, and other states are requested.
   */
  connected(): void {
    const since = performance.now() - EARLY_MS;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#missState(since), SILENT_MS);
    if (this.#home.isListed) this.#asking.begin(this.#home.things);
  }

  /** The reason why the broker is unreachable; `undefined` if it is reachable again. */
  brokerIsAway(reason: string | undefined): void {
    this.#parts.health.set("broker", reason);
    if (reason === undefined) return;
    clearTimeout(this.#silence);
    this.#setOnline(false, `the broker is away: ${reason}`);
  }

  brokerRefuses(sentence: string | undefined): void {
    this.#parts.health.set("refused", sentence);
  }

  #missState(since: number): void {
    if (this.#stateAt >= since) return;
    const { health, topic } = this.#parts;
    health.set("bridge", `no Zigbee2MQTT publishes under ${topic}`);
    this.#setOnline(false, "it does not run");
  }

  online(isOnline: boolean): void {
    this.#stateAt = performance.now();
    this.#parts.health.set("bridge", isOnline ? undefined : "Zigbee2MQTT is offline");
    const cameBack = isOnline && !this.#home.isOnline;
    this.#setOnline(isOnline, "it is offline");
    if (cameBack && this.#home.isListed) this.#asking.begin(this.#home.things);
  }

  #setOnline(isOnline: boolean, reason: string): void {
    if (!isOnline) this.#confirmations.failAll(down(reason));
    if (this.#home.isOnline === isOnline) return;
    this.#home.isOnline = isOnline;
    this.#publish();
  }

  listed(inventory: Inventory): void {
    const isFirst = !this.#home.isListed;
    this.#home.take(inventory);
    if (isFirst) this.#asking.begin(this.#home.things);
    this.#publish();
    this.#lists.emit("listed");
  }

  knows(name: string): boolean {
    return this.#home.named(name) !== undefined;
  }

  state(name: string, payload: Readonly<Record<string, unknown>>, retained: boolean): void {
    const thing = this.#home.named(name);
    if (!thing) return;
    const { nativeId } = thing;
    this.#outbox.put(nativeId, this.#home.tell(thing, payload));
    this.#parts.memory.changed(() => this.#home.remember());
    this.#confirmations.told(nativeId, payload);
    const happened = retained ? undefined : eventIn(payload); // a retained event is outdated
    if (!happened) return;
    this.#outbox.flush();
    this.#parts.ctx.devices.event(nativeId, happened.event, happened.data);
  }

  availability(name: string, isReachable: boolean): void {
    const thing = this.#home.named(name);
    if (!thing) return;
    this.#home.setReachable(thing, isReachable);
    this.#outbox.put(thing.nativeId);
  }

  complaint({ name, isOfScene, error }: LoggedError): void {
    // For an endpoint, its topic is `sofa/left`.
    const thing = this.#home.named(name) ?? this.#home.named(name.replace(/\/[^/]*$/, ""));
    if (!thing) return;
    this.#confirmations.fail(isOfScene ? sceneKey(thing.nativeId) : thing.nativeId, error);
  }

  /** @throws MantelError `bridge_down`, `deadline_passed`, `invalid`, `device_unknown`, `broker_refused` */
  async command(nativeId: string, command: DeviceCommand): Promise<void> {
    await this.#ready();
    const thing = this.#home.find(nativeId);
    if (!thing) throw new MantelError("device_unknown", `Zigbee2MQTT lists no ${nativeId}`);
    const expected = expectedOf(thing, command);
    const payload = expected.reduce<Record<string, unknown>>(
      (so, { feature, written }) => withValue(so, feature.path, written),
      {},
    );
    await this.#confirmed(nativeId, { topic: `${thing.topicName}/set`, payload, expected });
  }

  async activateScene(nativeId: string): Promise<void> {
    await this.#ready();
    const scene = this.#home.scene(nativeId);
    const owner = scene && this.#home.find(scene.owner);
    if (!owner) throw new MantelError("scene_unknown", `Zigbee2MQTT lists no scene ${nativeId}`);
    const name = [owner.topicName, ...(scene.endpoint === undefined ? [] : [scene.endpoint])];
    await this.#confirmed(sceneKey(owner.nativeId), {
      ...{ topic: `${name.join("/")}/set`, payload: { scene_recall: scene.id }, expected: [] },
    });
  }

  async #ready(): Promise<void> {
    if (!this.#home.isListed) {
      const signal = AbortSignal.timeout(LIST_MS);
      await once(this.#lists, "listed", { signal }).catch(() => undefined);
    }
    if (this.#home.isOnline && this.#home.isListed) return;
    throw down("it is not online");
  }

  async #confirmed(key: string, { topic, payload, expected }: Asked): Promise<void> {
    const confirmed = this.#confirmations.wait(key, expected, topic);
    this.#send(topic, payload).catch((error: Error) => this.#confirmations.fail(key, error));
    await confirmed;
    this.#outbox.flush();
  }

  async #send(topic: string, payload: Readonly<Record<string, unknown>>): Promise<void> {
    const message = { payload: JSON.stringify(payload), qos: 1 as const, retain: false };
    try {
      await this.#parts.mqtt.publish({ topic: `${this.#parts.topic}/${topic}`, ...message });
    } catch (error) {
      const isAway = error instanceof MantelError && error.code === "broker_down";
      throw isAway ? down(error.message) : error;
    }
  }

  #update(told: ReadonlyMap<string, DeviceState>): void {
    const updates = [...told].flatMap(([nativeId, state]) => {
      const thing = this.#publisher.has(nativeId) ? this.#home.find(nativeId) : undefined;
      return thing ? [{ nativeId, state, available: this.#home.isAvailable(thing) }] : [];
    });
    this.#parts.ctx.devices.update(...updates);
  }

  #publish(): void {
    this.#parts.memory.changed(() => this.#home.remember());
    void this.#publisher.publish();
  }
}

interface Asked {
  readonly topic: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly expected: readonly Expected[];
}

const sceneKey = (nativeId: string): string => `${nativeId} scene`;

function down(reason: string): MantelError {
  return new MantelError("bridge_down", `Zigbee2MQTT cannot be reached: ${reason}`, {
    retryAfterMs: RETRY_MS,
  });
}
