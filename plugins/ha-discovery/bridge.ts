import {
  type DeviceUpdate,
  MantelError,
  type PluginContext,
  type SceneDescription,
} from "@mantel/plugin-sdk";
import type { ConnectionListener } from "@mantel/plugin-sdk/mqtt";
import { Commands } from "./commands.ts";
import { DeviceStore } from "./device-store.ts";
import type { Listener, Listening } from "./listening.ts";
import { nativeId } from "./names.ts";
import { Payload } from "./payload.ts";
import type { State } from "./state.ts";

interface BridgeConfig {
  readonly prefix: string;
}

type Ctx = Pick<PluginContext<BridgeConfig, State>, "config" | "devices" | "scenes" | "log">;

const SWEEP_MS = 1_000;

/** Devices that announce themselves on a broker: what they are and what they tell. */
export class Bridge implements Listener, ConnectionListener {
  readonly commands: Commands;
  readonly #ctx: Ctx;
  readonly #listening: Listening;
  readonly #home = new DeviceStore();
  #sweep: NodeJS.Timeout | undefined;
  /** True while the broker is away, and until all that it keeps is there. */
  #isAway = true;
  #hasSettled = false;
  #isBrokerAway = false;
  #shownScenes = "[]";

  constructor(ctx: Ctx, listening: Listening) {
    this.#ctx = ctx;
    this.#listening = listening;
    const update = (change: DeviceUpdate) => ctx.devices.update(change);
    this.commands = new Commands({ home: this.#home, mqtt: listening.mqtt.client, update });
  }

  /** Publishes what is known from before, and takes what has come since. */
  async start(handedOver: State | undefined): Promise<void> {
    const { announcements, mqtt, health } = this.#listening;
    health.startReporting();
    if (handedOver) this.#recall(handedOver);
    this.#hasSettled = handedOver !== undefined;
    this.#isAway = !handedOver || handedOver.isAway;
    // The host already knows handed-over devices, so the reload does not wait for them.
    if (handedOver) void this.#publish();
    else if (Object.keys(announcements.kept).length > 0) await this.#publish();
    this.#listening.hear(this, handedOver?.heard ?? []);
    mqtt.attach(this);
    this.#sweep = setInterval(() => this.#expire(), SWEEP_MS);
  }

  stop(): void {
    clearInterval(this.#sweep);
  }

  /** Stops processing; the next generation receives new messages. */
  handOver(): State {
    const { announcements } = this.#listening;
    const heard = this.#listening.leave();
    const known = [...announcements.components].map(
      ({ identity, state, availability: { told } }) => [identity, { state, told }] as const,
    );
    return {
      ...{ version: 2, isAway: this.#isAway, heard, kept: announcements.kept },
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
    if (this.#hasSettled) void this.#publish();
  }

  told(topic: string, payload: Buffer, retained: boolean): void {
    const { devices } = this.#ctx;
    const now = performance.now() / 1_000;
    const { told, updates, happenings } = this.#home.receive(
      topic,
      new Payload(payload.toString(), retained),
      now,
    );
    if (updates.length > 0) devices.update(...updates.map((update) => this.#shown(update)));
    for (const { nativeId: id, event } of happenings) devices.event(id, event);
    for (const { nativeId: id, state } of told) this.commands.told(id, state);
  }

  /** Without the broker nothing is available, whatever was reported last. */
  #shown<U extends { readonly available?: boolean }>(update: U): U {
    return this.#isAway && update.available ? { ...update, available: false } : update;
  }

  #expire(): void {
    const updates = this.#home.expire(performance.now() / 1_000);
    if (updates.length > 0) this.#ctx.devices.update(...updates);
  }

  settled(): void {
    this.#tellBirth();
    if (this.#hasSettled) return;
    this.#hasSettled = true;
    // Announcements that the broker no longer retains were removed in the meantime, unless it lost
    // all of them.
    const { announcements, hasHeard } = this.#listening;
    if (hasHeard) {
      announcements.forget((topic, retained) => retained && !this.#listening.hasAnnounced(topic));
    }
    this.#isAway = this.#isBrokerAway;
    void this.#publish();
  }

  /** Many devices that hear it tell what they are and how they are. */
  #tellBirth(): void {
    const { config, log } = this.#ctx;
    const topic = `${config.prefix}/status`;
    this.#listening.mqtt.client
      .publish({ topic, payload: "online", qos: 0, retain: false })
      .catch((error: Error) => {
        log.debug("the birth message was not sent", { reason: error.message });
      });
  }

  #setAway(isAway: boolean): void {
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    this.#ctx.devices.update(...this.#home.availabilities(isAway));
  }

  async #publish(): Promise<void> {
    const { devices, scenes, log } = this.#ctx;
    const { health, announcements } = this.#listening;
    health.set("devices", tooMany(this.#home.arrange(announcements.components)));
    this.#listening.follow();
    const shown = this.#scenes();
    try {
      await devices.publish(this.#home.describe(this.#isAway));
      if (JSON.stringify(shown) !== this.#shownScenes) await scenes.publish(shown);
      this.#shownScenes = JSON.stringify(shown);
      health.set("host", undefined);
    } catch (error) {
      health.set("host", "the host did not take the list of devices; the log says why");
      log.error("the devices could not be published", { error });
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
