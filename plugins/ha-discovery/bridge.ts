import {
  type CommandBeyond,
  type DeviceCache,
  type DeviceCommand,
  type DeviceImage,
  type DeviceUpdate,
  MantelError,
  type PluginContext,
  PublishedDevices,
  type SceneDescription,
  every,
} from "@mantel/plugin-sdk";
import { JoinedDevices, type StoredCompositions } from "@mantel/plugin-sdk/joined-devices";
import type { ConnectionListener } from "@mantel/plugin-sdk/mqtt";
import { Commands } from "./commands.ts";
import { DeviceStore, pictureOf } from "./device-store.ts";
import type { Listener, Listening, Options } from "./listening.ts";
import { nativeId } from "./names.ts";
import { type Message, Payload } from "./payload.ts";
import { Polls } from "./polls.ts";
import type { State, StoredHome } from "./state.ts";

const SWEEP_MS = 1_000;

interface Opened {
  readonly listening: Listening;
  readonly cache: DeviceCache<StoredHome>;
  /** The stored ones; absent if each function was a device when they were stored. */
  readonly compositions: StoredCompositions | undefined;
}

/** Devices that announce themselves on a broker: what they are and what they tell. */
export class Bridge implements Listener, ConnectionListener {
  readonly #commands: Commands;
  readonly #ctx: PluginContext<Options, State>;
  readonly #listening: Listening;
  readonly #cache: DeviceCache<StoredHome>;
  readonly #joined: JoinedDevices;
  readonly #home: DeviceStore;
  readonly #published: PublishedDevices;
  readonly #polls: Polls;
  /** Revision of the announcements that are stored, or will be soon. */
  #storedRevision = 0;
  #storedCompositions = 0;
  readonly #loggedLeftOut = new Set<string>();
  /** True while the broker is away, and until all that it keeps is there. */
  #isAway = true;
  #hasSettled = false;
  #isBrokerAway = false;

  constructor(ctx: PluginContext<Options, State>, opened: Opened) {
    const { listening, cache } = opened;
    this.#ctx = ctx;
    this.#listening = listening;
    this.#cache = cache;
    this.#joined = joinedDevices(opened, ctx.handedOver);
    this.#home = new DeviceStore((device, ids) => this.#joined.mainOf(device, ids));
    this.#commands = new Commands(this.#home, listening.mqtt.client, (update) =>
      this.#update(update),
    );
    this.#polls = new Polls(this.#home, (message) => this.#send(message));
    this.#published = new PublishedDevices(ctx, () => ({
      devices: this.#joined.join(this.#home.functions(this.#isAway)),
      scenes: this.#scenes(),
    }));
  }

  /** Publishes what is known from before, and takes what has come since. */
  async start(): Promise<void> {
    const { handedOver, onDispose } = this.#ctx;
    const { announcements, mqtt, health } = this.#listening;
    health.startReporting();
    if (handedOver) this.#recall(handedOver);
    this.#storedRevision = handedOver ? announcements.revision : this.#listening.storedRevision;
    this.#hasSettled = handedOver !== undefined;
    this.#isAway = !handedOver || handedOver.isAway;
    // The host already knows handed-over devices, so the reload does not wait for them.
    if (handedOver) {
      void this.#publish();
      this.#polls.skipAll();
    } else if (Object.keys(announcements.kept).length > 0) await this.#publish();
    this.#listening.hear(this, handedOver?.heard ?? []);
    mqtt.attach(this);
    onDispose(() => this.#storeLater());
    every(this.#ctx, SWEEP_MS, () => this.#expire());
    this.#storeLater();
  }

  /** Stops processing; the next generation receives new messages. */
  handOver(): State {
    const { announcements } = this.#listening;
    const heard = this.#listening.leave();
    const known = [...announcements.components].map(
      ({ identity, state, availability: { told } }) => [identity, { state, told }] as const,
    );
    return {
      version: 2,
      isAway: this.#isAway,
      heard,
      kept: announcements.kept,
      known: Object.fromEntries(known),
      compositions: this.#joined.stored,
    };
  }

  /** Resolves when the functions of the device that the command is for have carried it out. @throws as `Commands` */
  async command(id: string, command: DeviceCommand, beyond: CommandBeyond): Promise<void> {
    const shares = this.#joined.shares(id, command, beyond);
    await Promise.all(
      shares.map(({ nativeId: functionId, command: own, extra }) =>
        this.#commands.carryOut(functionId, own, extra),
      ),
    );
  }

  /** The broker is there, and begins to send what it keeps. */
  connected(): void {
    if (this.#hasSettled) this.#setAway(false);
    this.#listening.expectAll();
  }

  /** Hears why the broker is away, or `undefined` when it is back. */
  brokerIsAway(reason: string | undefined): void {
    this.#isBrokerAway = reason !== undefined;
    this.#listening.health.set("broker", reason);
    if (reason !== undefined) this.#setAway(true);
  }

  brokerRefuses(sentence: string | undefined): void {
    this.#listening.health.set("refused", sentence);
  }

  /** @throws MantelError `scene_unknown`, and what publishing throws */
  async activateScene(id: string): Promise<void> {
    const scene = [...this.#listening.announcements.components].find(
      ({ handler, identity }) => handler.scene && nativeId(identity) === id,
    )?.handler.scene;
    if (!scene) throw new MantelError("scene_unknown", `no scene has announced itself as ${id}`);
    await this.#commands.send(scene());
  }

  /** The last picture of a camera. @throws MantelError `not_found` for one that cannot be shown */
  image(id: string): DeviceImage | undefined {
    const group = this.#home.find(this.#joined.picturedIn(id) ?? "");
    const picture = group && pictureOf(group);
    return picture && this.#listening.pictures.read(picture);
  }

  #recall({ kept, known }: State): void {
    this.#listening.takeOver(kept);
    for (const component of this.#listening.announcements.components) {
      const before = known[component.identity];
      if (!before) continue;
      component.recall(before.state);
      component.availability.recall(before.told);
    }
  }

  announced(): void {
    this.#storeLater();
    if (this.#hasSettled) void this.#publish();
  }

  told(topic: string, payload: Buffer, retained: boolean): void {
    const now = performance.now() / 1_000;
    const { told, updates, happenings } = this.#home.receive(
      topic,
      new Payload(payload.toString(), retained),
      now,
    );
    this.#update(...updates.map((update) => this.#shown(update)));
    const turned = updates.filter(({ available }) => available !== undefined);
    if (this.#hasSettled) this.#polls.follow(turned.map(({ nativeId: id }) => id));
    for (const { nativeId: id, event } of happenings) {
      this.#published.event(this.#joined.deviceOf(id), event);
    }
    for (const { nativeId: id, state } of told) this.#commands.told(id, state);
  }

  /** Without the broker nothing is available, whatever was reported last. */
  #shown<U extends { readonly available?: boolean }>(update: U): U {
    return this.#isAway && update.available ? { ...update, available: false } : update;
  }

  #expire(): void {
    this.#update(...this.#home.expire(performance.now() / 1_000));
  }

  /** Publishes changes of functions. */
  #update(...changes: readonly DeviceUpdate[]): void {
    this.#published.update(...this.#joined.updates(changes));
  }

  settled(): void {
    this.#tellBirth();
    if (this.#hasSettled) {
      this.#polls.repeatAll();
      return;
    }
    this.#hasSettled = true;
    // Announcements that the broker no longer retains were removed in the meantime, unless it lost
    // all of them.
    const { announcements, hasHeard } = this.#listening;
    if (hasHeard) {
      announcements.forget((topic, retained) => retained && !this.#listening.hasAnnounced(topic));
    }
    this.#isAway = this.#isBrokerAway;
    this.#storeLater();
    void this.#publish();
  }

  /** Many devices that hear it tell what they are and how they are. */
  #tellBirth(): void {
    const { config } = this.#ctx;
    this.#send({ topic: `${config.prefix}/status`, payload: "online", qos: 0, retain: false });
  }

  /** Sends what no command asks for; if it fails, the next connection sends it again. */
  #send(message: Message): void {
    this.#listening.mqtt.client.publish(message).catch((error: Error) => {
      this.#ctx.log.debug("a message was not sent", {
        topic: message.topic,
        reason: error.message,
      });
    });
  }

  #setAway(isAway: boolean): void {
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    this.#update(...this.#home.availabilities(isAway));
  }

  /** Stores the announcements if they have changed. */
  #storeLater(): void {
    const { announcements } = this.#listening;
    if (announcements.revision === this.#storedRevision) return;
    this.#storedRevision = announcements.revision;
    this.#store();
  }

  #store(): void {
    this.#cache.changed(() => ({
      version: 2,
      announcements: this.#listening.announcements.kept,
      compositions: this.#joined.stored,
    }));
  }

  /** Devices must not be joined otherwise after a crash, so that their compositions are stored at once. */
  #storeCompositions(): void {
    if (this.#joined.revision === this.#storedCompositions) return;
    this.#storedCompositions = this.#joined.revision;
    this.#store();
    void this.#cache.flush();
  }

  async #publish(): Promise<void> {
    const { health, announcements } = this.#listening;
    health.set("devices", tooMany(this.#home.regroup(announcements.components)));
    this.#logLeftOut();
    this.#listening.follow();
    try {
      await this.#published.publish();
      this.#storeCompositions();
      if (this.#hasSettled) this.#polls.follow(this.#home.nativeIds);
      health.set("host", undefined);
    } catch (error) {
      health.set("host", "the host did not take the list of devices; the log says why");
      this.#ctx.log.error("the devices could not be published", { error });
    }
  }

  /** Logs once for each device which of its capabilities are left out. */
  #logLeftOut(): void {
    for (const [device, fields] of this.#home.leftOut) {
      const key = `${device}: ${fields.join(" ")}`;
      if (this.#loggedLeftOut.has(key)) continue;
      this.#loggedLeftOut.add(key);
      this.#ctx.log.warn("left out capabilities of a device: it has too many", { device, fields });
    }
  }

  #scenes(): SceneDescription[] {
    return [...this.#listening.announcements.components].flatMap(
      ({ handler, identity, component }) => {
        const name = component.fields.get("name");
        const shown = typeof name === "string" && name !== "" ? name : component.objectId;
        return handler.scene ? [{ nativeId: nativeId(identity), name: shown.slice(0, 200) }] : [];
      },
    );
  }
}

function joinedDevices(
  { listening, compositions }: Opened,
  handedOver: State | undefined,
): JoinedDevices {
  const stored = handedOver ? handedOver.compositions : compositions;
  if (stored) return new JoinedDevices({ stored });
  const identities = handedOver ? Object.keys(handedOver.known) : listening.storedIdentities;
  return new JoinedDevices({ published: identities.map(nativeId) });
}

function tooMany(ignored: number): string | undefined {
  const sentence = `more devices announce themselves than a bridge may have; ${ignored} are left out`;
  return ignored > 0 ? sentence : undefined;
}
