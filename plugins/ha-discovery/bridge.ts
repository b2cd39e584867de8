import {
  type DeviceCache,
  type DeviceImage,
  MantelError,
  type PluginContext,
  PublishedDevices,
  type SceneDescription,
} from "@mantel/plugin-sdk";
import type { ConnectionListener } from "@mantel/plugin-sdk/mqtt";
import type { StoredAnnouncements } from "./announcements.ts";
import { Commands } from "./commands.ts";
import { DeviceStore, pictureOf } from "./device-store.ts";
import type { Listener, Listening, Options } from "./listening.ts";
import { nativeId } from "./names.ts";
import { type Message, Payload } from "./payload.ts";
import { Polls } from "./polls.ts";
import type { State } from "./state.ts";

const SWEEP_MS = 1_000;

/** Devices that announce themselves on a broker: what they are and what they tell. */
export class Bridge implements Listener, ConnectionListener {
  readonly commands: Commands;
  readonly #ctx: PluginContext<Options, State>;
  readonly #listening: Listening;
  readonly #cache: DeviceCache<StoredAnnouncements>;
  readonly #home = new DeviceStore();
  readonly #published: PublishedDevices;
  readonly #polls: Polls;
  /** Revision of the announcements that are stored, or will be soon. */
  #storedRevision = 0;
  /** True while the broker is away, and until all that it keeps is there. */
  #isAway = true;
  #hasSettled = false;
  #isBrokerAway = false;

  constructor(
    ctx: PluginContext<Options, State>,
    listening: Listening,
    cache: DeviceCache<StoredAnnouncements>,
  ) {
    this.#ctx = ctx;
    this.#listening = listening;
    this.#cache = cache;
    this.commands = new Commands(this.#home, listening.mqtt.client, (update) =>
      this.#published.update(update),
    );
    this.#polls = new Polls(this.#home, (message) => this.#send(message));
    this.#published = new PublishedDevices(ctx, () => ({
      devices: this.#home.describe(this.#isAway),
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
    const sweep = setInterval(() => this.#expire(), SWEEP_MS);
    onDispose(() => {
      clearInterval(sweep);
      this.#storeLater();
    });
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
    };
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
    await this.commands.send(scene());
  }

  /** The last picture of a camera. @throws MantelError `not_found` for one that cannot be shown */
  image(id: string): DeviceImage | undefined {
    const device = this.#home.find(id);
    const picture = device && pictureOf(device);
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
    this.#published.update(...updates.map((update) => this.#shown(update)));
    const turned = updates.filter(({ available }) => available !== undefined);
    if (this.#hasSettled) this.#polls.follow(turned.map(({ nativeId: id }) => id));
    for (const { nativeId: id, event } of happenings) this.#published.event(id, event);
    for (const { nativeId: id, state } of told) this.commands.told(id, state);
  }

  /** Without the broker nothing is available, whatever was reported last. */
  #shown<U extends { readonly available?: boolean }>(update: U): U {
    return this.#isAway && update.available ? { ...update, available: false } : update;
  }

  #expire(): void {
    this.#published.update(...this.#home.expire(performance.now() / 1_000));
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
    this.#published.update(...this.#home.availabilities(isAway));
  }

  /** Stores the announcements if they have changed. */
  #storeLater(): void {
    const { announcements } = this.#listening;
    if (announcements.revision === this.#storedRevision) return;
    this.#storedRevision = announcements.revision;
    this.#cache.changed(() => announcements.kept);
  }

  async #publish(): Promise<void> {
    const { health, announcements } = this.#listening;
    health.set("devices", tooMany(this.#home.arrange(announcements.components)));
    this.#listening.follow();
    try {
      await this.#published.publish();
      if (this.#hasSettled) this.#polls.follow(this.#home.nativeIds);
      health.set("host", undefined);
    } catch (error) {
      health.set("host", "the host did not take the list of devices; the log says why");
      this.#ctx.log.error("the devices could not be published", { error });
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

function tooMany(ignored: number): string | undefined {
  const sentence = `more devices announce themselves than a bridge may have; ${ignored} are left out`;
  return ignored > 0 ? sentence : undefined;
}
