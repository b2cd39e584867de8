import { EventEmitter, once } from "node:events";
import { setImmediate } from "node:timers/promises";
import {
  type CommandBeyond,
  Confirmations,
  DelayedCall,
  type DeviceCache,
  type DeviceCommand,
  type DeviceDescription,
  MantelError,
  type PluginContext,
  PublishedDevices,
  Throttle,
} from "@mantel/plugin-sdk";
import type { ConnectionListener, Mark } from "@mantel/plugin-sdk/mqtt";
import type { Listener } from "./client.ts";
import { confirmsAll, type Expected, expectedOf, leftBy } from "./confirmations.ts";
import type { Connection, Options } from "./connection.ts";
import { merged, noStates, type States, updateOf } from "./device-state.ts";
import { DeviceStore } from "./device-store.ts";
import type { Inventory, Thing } from "./discovery.ts";
import { eventIn } from "./events.ts";
import { withValue } from "./feature.ts";
import { countUnusable } from "./health.ts";
import type { LoggedError } from "./log-errors.ts";
import { inSlices } from "./slices.ts";
import { StatePoller } from "./state-poller.ts";
import { type StoredDevices, storedOf } from "./stored-devices.ts";

/**
 * A command waits this long for the list of devices. Zigbee2MQTT says that it is online before it takes commands, and
 * publishes its lists right before it does.
 */
const LIST_MS = 2_000;
/** A running Zigbee2MQTT has reported its state by then, because the state is retained. */
const SILENT_MS = 10_000;
/** Retained messages may arrive before the event for the connection. */
const EARLY_MS = 1_000;
const RETRY_MS = 5_000;
/** Shorter than the host's own deadline, so that this error reaches the caller. */
const CONFIRM_MS = 4_500;
/** A value that is never reported counts as confirmed if Zigbee2MQTT sends no error for this long. */
const UNTOLD_MS = 500;
/** Of the names of capabilities in one line of the log. */
const LONGEST_NAMES = 3_000;
/** A storm of messages costs the host a hundred calls a second at most. */
const UPDATE_EVERY_MS = 10;

/** State handed over to the next generation. */
export interface HandedOver {
  readonly isOnline: boolean;
  readonly devices: DeviceDescription[];
  /** Marks of the messages processed last. */
  readonly heard: Mark[];
}

/** One Zigbee2MQTT instance: turns its messages into devices, and commands into its messages. */
export class Bridge implements Listener, ConnectionListener {
  readonly #ctx: PluginContext<Options, unknown>;
  readonly #connection: Connection;
  readonly #cache: DeviceCache<StoredDevices>;
  readonly #home: DeviceStore;
  /** Native ids of devices with too many capabilities. */
  readonly #cut = new Set<string>();
  readonly #published: PublishedDevices;
  /** The fields that devices have reported since the last update, by native id. */
  #reported = new Map<string, States>();
  readonly #updates = new Throttle(UPDATE_EVERY_MS, () => this.#update());
  readonly #confirmations = new Confirmations<unknown>();
  readonly #asking: StatePoller;
  readonly #events = new EventEmitter<{ ready: [] }>().setMaxListeners(0);
  /** Waits while Zigbee2MQTT starts. */
  readonly #starting = new DelayedCall(() => this.#endStart());
  /** Times of the last online state of the bridge and of the last connection, on the monotonic clock. */
  #stateAt = -Infinity;
  #connectedAt = -Infinity;
  readonly #silence = new DelayedCall(() => this.#missState());

  /** Starts with the state of the previous generation, or the stored state. */
  constructor(
    ctx: PluginContext<Options, unknown>,
    connection: Connection,
    cache: DeviceCache<StoredDevices>,
    { devices, isOnline }: HandedOver,
  ) {
    this.#ctx = ctx;
    this.#connection = connection;
    this.#cache = cache;
    const home = new DeviceStore(devices, isOnline, (where) =>
      countUnusable(connection.health, where),
    );
    this.#home = home;
    this.#published = new PublishedDevices(ctx, () => ({
      devices: home.describe(),
      scenes: home.isListed ? home.scenes.map(({ description }) => description) : undefined,
    }));
    this.#asking = new StatePoller((thing, payload) =>
      this.#send(`${thing.topicName}/get`, payload),
    );
  }

  /** Shows the known devices, and processes the messages received since. */
  async open(heard: readonly Mark[]): Promise<void> {
    const { client, health } = this.#connection;
    health.startReporting();
    if (this.#home.hasRemembered && !client.isListed) {
      await setImmediate(); // a long list is taken over in one turn, and described in another
      await this.#publish();
    }
    client.hear(this, heard); // the list itself publishes its devices
  }

  close(): void {
    this.#silence.stop();
    this.#starting.stop();
    this.#asking.close();
    this.#updates.flush();
  }

  /** Stops processing; the next generation receives new messages. */
  handOver(): HandedOver {
    const heard = this.#connection.client.leave();
    this.#updates.flush();
    return { isOnline: this.#home.isOnline, devices: this.#home.remember(), heard };
  }

  /**
   * Called on connection: retained messages arrive automatically, and other states are requested.
   */
  connected(): void {
    this.#connectedAt = performance.now();
    this.#silence.restart(SILENT_MS);
    if (this.#home.isListed) this.#asking.begin(this.#home.things);
  }

  /** The reason why the broker is unreachable; `undefined` if it is reachable again. */
  brokerIsAway(reason: string | undefined): void {
    this.#connection.health.set("broker", reason);
    if (reason === undefined) return;
    this.#silence.stop();
    this.#setOnline(false, `the broker is away: ${reason}`);
  }

  brokerRefuses(sentence: string | undefined): void {
    this.#connection.health.set("refused", sentence);
  }

  #missState(): void {
    if (this.#stateAt >= this.#connectedAt - EARLY_MS) return;
    const { topic } = this.#ctx.config;
    this.#connection.health.set("bridge", `no Zigbee2MQTT publishes under ${topic}`);
    this.#setOnline(false, "it does not run");
  }

  online(isOnline: boolean, isLive: boolean): void {
    this.#stateAt = performance.now();
    this.#connection.health.set("bridge", isOnline ? undefined : "Zigbee2MQTT is offline");
    const cameBack = isOnline && !this.#home.isOnline;
    if (!isOnline) this.#starting.stop();
    else if (cameBack && isLive) this.#starting.restart(LIST_MS);
    this.#setOnline(isOnline, "it is offline");
    if (cameBack && this.#isReady) this.#asking.begin(this.#home.things);
  }

  refreshed(): void {
    if (!this.#starting.isWaiting) return this.#showReady();
    this.#starting.stop();
    this.#endStart();
  }

  #endStart(): void {
    if (this.#home.isListed) this.#asking.begin(this.#home.things);
    this.#showReady();
  }

  #showReady(): void {
    if (this.#isReady) this.#events.emit("ready");
  }

  get #isReady(): boolean {
    return this.#home.isListed && !this.#starting.isWaiting;
  }

  #setOnline(isOnline: boolean, reason: string): void {
    if (!isOnline) this.#confirmations.failAll(down(reason));
    if (this.#home.isOnline === isOnline) return;
    this.#home.isOnline = isOnline;
    this.#showChanges();
  }

  listed(inventory: Inventory): void {
    const isFirst = !this.#home.isListed;
    this.#home.take(inventory);
    for (const thing of inventory.things) this.#tellLeftOut(thing);
    if (isFirst && this.#isReady) this.#asking.begin(this.#home.things);
    this.#showChanges();
    this.#showReady();
  }

  /** Names the capabilities that a device has too many of, once. */
  #tellLeftOut({ nativeId, topicName, leftOut }: Thing): void {
    if (leftOut.length === 0 || this.#cut.has(nativeId)) return;
    this.#cut.add(nativeId);
    this.#ctx.log.warn("capabilities of a device were left out, because it has too many", {
      device: topicName,
      count: leftOut.length,
      names: leftOut.join(", ").slice(0, LONGEST_NAMES),
    });
  }

  knows(name: string): boolean {
    return this.#home.named(name) !== undefined;
  }

  state(name: string, payload: Readonly<Record<string, unknown>>, retained: boolean): void {
    const thing = this.#home.named(name);
    if (!thing) return;
    const { nativeId } = thing;
    const wasAssumed = this.#home.isAssumed(thing);
    this.#reportLater(nativeId, this.#home.tell(thing, payload));
    if (wasAssumed && !this.#home.isAssumed(thing)) this.#showChanges();
    this.#storeLater();
    this.#confirmations.report(nativeId, payload);
    const happened = retained ? undefined : eventIn(payload); // a retained event is outdated
    if (!happened) return;
    this.#updates.flush();
    this.#published.event(nativeId, happened.event, happened.data);
  }

  availability(name: string, isReachable: boolean): void {
    const thing = this.#home.named(name);
    if (!thing) return;
    this.#home.setReachable(thing, isReachable);
    this.#reportLater(thing.nativeId);
  }

  errorLogged({ name, isOfScene, error }: LoggedError): void {
    // For an endpoint, its topic is `sofa/left`.
    const thing = this.#home.named(name) ?? this.#home.named(name.replace(/\/[^/]*$/, ""));
    if (!thing) return;
    this.#confirmations.fail(isOfScene ? sceneKey(thing.nativeId) : thing.nativeId, error);
  }

  refused(request: string, reason: string): void {
    this.#ctx.log.warn("Zigbee2MQTT refused a request", { request: request.slice(0, 200), reason });
  }

  /** @throws MantelError `bridge_down`, `deadline_passed`, `invalid`, `device_unknown`, `broker_refused` */
  async command(nativeId: string, command: DeviceCommand, beyond?: CommandBeyond): Promise<void> {
    const endsAt = performance.now() + CONFIRM_MS;
    await this.#ready();
    const thing = this.#home.find(nativeId);
    if (!thing) throw new MantelError("device_unknown", `Zigbee2MQTT lists no ${nativeId}`);
    const expected = expectedOf(thing, command, beyond, this.#home.statesOf(thing));
    const payload = expected.reduce<Record<string, unknown>>(
      (so, { feature, written }) => withValue(so, feature.path, written),
      {},
    );
    const topic = `${thing.topicName}/set`;
    const isAssumed = expected.every(({ feature }) => feature.leaves) && !this.#home.reports(thing);
    if (isAssumed) await this.#sendAssumed(thing, { topic, payload, expected });
    else await this.#sendConfirmed(nativeId, { topic, payload, expected, endsAt });
  }

  /** A device that never reports is as it was told once the broker has the message. */
  async #sendAssumed(thing: Thing, { topic, payload, expected }: Sent): Promise<void> {
    await this.#send(topic, payload);
    if (this.#home.reports(thing)) return; // it has reported meanwhile
    const wasAssumed = this.#home.isAssumed(thing);
    this.#reportLater(thing.nativeId, this.#home.assume(thing, leftBy(expected)));
    this.#updates.flush();
    if (!wasAssumed) this.#showChanges();
  }

  async activateScene(nativeId: string): Promise<void> {
    await this.#ready();
    const scene = this.#home.scene(nativeId);
    const owner = scene && this.#home.find(scene.owner);
    if (!owner) throw new MantelError("scene_unknown", `Zigbee2MQTT lists no scene ${nativeId}`);
    const name = [owner.topicName, ...(scene.endpoint === undefined ? [] : [scene.endpoint])];
    await this.#sendConfirmed(sceneKey(owner.nativeId), {
      topic: `${name.join("/")}/set`,
      payload: { scene_recall: scene.id },
      expected: [],
      endsAt: Infinity,
    });
  }

  async #ready(): Promise<void> {
    if (!this.#isReady) {
      const signal = AbortSignal.timeout(LIST_MS);
      await once(this.#events, "ready", { signal }).catch(() => undefined);
    }
    if (this.#home.isOnline && this.#home.isListed) return;
    throw down("it is not online");
  }

  async #sendConfirmed(
    key: string,
    { topic, payload, expected, endsAt }: Sent & { readonly endsAt: number },
  ): Promise<void> {
    const reported = expected.filter(({ feature }) => feature.isTold);
    const isConfirmedByAny = expected.some(({ feature }) => feature.isConfirmedByAny);
    const send = () => this.#send(topic, payload);
    await this.#confirmations.confirm(
      key,
      reported.length === 0
        ? { send, isConfirmed: () => isConfirmedByAny, deadlineMs: UNTOLD_MS }
        : {
            send,
            isConfirmed: confirmsAll(reported),
            deadlineMs: Math.round(endsAt - performance.now()),
            overdue: () => `the answer of ${topic} timed out after ${CONFIRM_MS} ms`,
          },
    );
    this.#updates.flush();
  }

  async #send(topic: string, payload: Readonly<Record<string, unknown>>): Promise<void> {
    const message = { payload: JSON.stringify(payload), qos: 1 as const, retain: false };
    try {
      await this.#connection.mqtt.client.publish({
        topic: `${this.#ctx.config.topic}/${topic}`,
        ...message,
      });
    } catch (error) {
      const isAway = error instanceof MantelError && error.code === "broker_down";
      throw isAway ? down(error.message) : error;
    }
  }

  /** Reports values of a device; without values only its availability. */
  #reportLater(nativeId: string, states = noStates()): void {
    const reported = this.#reported.get(nativeId);
    this.#reported.set(nativeId, reported ? merged(reported, states) : states);
    this.#updates.request();
  }

  #update(): void {
    const reported = this.#reported;
    this.#reported = new Map();
    const updates = [...reported].flatMap(([nativeId, states]) => {
      const thing = this.#home.find(nativeId);
      const available = thing && this.#home.isAvailable(thing);
      return available === undefined ? [] : [{ nativeId, ...updateOf(states), available }];
    });
    this.#published.update(...updates);
  }

  #showChanges(): void {
    this.#storeLater();
    void this.#publish();
  }

  #storeLater(): void {
    this.#cache.changed(() => storedOf(this.#home.remember()));
  }

  /** In a turn of its own, because long lists take their time. */
  async #publish(): Promise<void> {
    const { health } = this.#connection;
    await setImmediate();
    await inSlices(this.#home.describing());
    if (this.#ctx.signal.aborted) return;
    try {
      await this.#published.publish();
      health.set("host", undefined);
    } catch (error) {
      health.set("host", "the host did not take the list of devices; the log says why");
      this.#ctx.log.error("the devices could not be published", { error });
    }
  }
}

interface Sent {
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
