import {
  type DeviceUpdate,
  MantelError,
  type PluginContext,
  type SceneDescription,
} from "@mantel/plugin-sdk";
import type { MqttLink } from "@mantel/plugin-sdk/mqtt";
import { Announcements, type Kept, MOST_ANNOUNCEMENTS } from "./announcements.ts";
import { Commands } from "./commands.ts";
import { discoveryFilters } from "./discovery.ts";
import { Payload } from "./facet.ts";
import { Held } from "./held.ts";
import { Home } from "./home.ts";
import { nativeId } from "./names.ts";
import { publishableTo } from "./publishable.ts";
import { Refusals } from "./refusals.ts";
import { Settled } from "./settled.ts";
import type { State } from "./state.ts";
import { Subscribed } from "./subscribed.ts";

interface BridgeConfig {
  readonly prefix: string;
  readonly refusedTopics: readonly string[];
}

type Ctx = Pick<
  PluginContext<BridgeConfig, State>,
  "config" | "devices" | "scenes" | "log" | "house" | "reportDegraded"
>;

/** Announcements come many at once: the devices are made when they pause. */
const ARRANGE = { quietMs: 200, longestMs: 1_000 };
/** A broker sends all that it keeps at once; when that pauses, it is there. */
const FIRST = { quietMs: 300, longestMs: 3_000 };
const SWEEP_MS = 1_000;
const ANNOUNCEMENT_BYTES = 256 * 1024;

/** Devices that announce themselves on a broker: what they are and what they tell. */
export class Bridge {
  readonly commands: Commands;
  readonly #ctx: Ctx;
  readonly #link: MqttLink;
  readonly #refusals: Refusals;
  readonly #announcements: Announcements;
  readonly #home = new Home();
  readonly #states: Subscribed;
  readonly #held = new Held();
  readonly #arrange = new Settled(ARRANGE, () => void this.#publish());
  readonly #first = new Settled(FIRST, () => this.#settle());
  /** Topics whose announcement the broker has sent since the start. */
  readonly #heard = new Set<string>();
  #sweep: NodeJS.Timeout | undefined;
  /** True while the broker is away, and until all that it keeps is there. */
  #isAway = true;
  #hasSettled = false;
  #isConnected = false;
  #reason: string | undefined;
  #shownScenes = "[]";

  constructor(ctx: Ctx, link: MqttLink) {
    const { config, log, house, devices } = ctx;
    this.#ctx = ctx;
    this.#link = link;
    this.#refusals = new Refusals(log);
    this.#announcements = new Announcements({
      prefix: config.prefix,
      refusals: this.#refusals,
      around: {
        clock: { now: () => Date.now() / 1_000, zone: house.timeZone },
        mayPublish: publishableTo(config.prefix, config.refusedTopics),
        onFault: ({ message }) =>
          this.#refusals.count("a template failed on a payload", message, config.prefix),
      },
    });
    const update = (change: DeviceUpdate) => devices.update(change);
    this.commands = new Commands({ home: this.#home, link, update });
    const hear = this.#held.until((...message) => this.#hear(...message));
    this.#states = new Subscribed(link, hear);
  }

  /** All announcements, for the next start. */
  get announced(): { readonly revision: number; readonly kept: Kept } {
    return this.#announcements;
  }

  get state(): State {
    const known = [...this.#announcements.components].map(
      ({ identity, state, availability: { told } }) => [identity, { state, told }] as const,
    );
    const topics = [...this.#home.topics];
    return { version: 1, topics, kept: this.#announcements.kept, known: Object.fromEntries(known) };
  }

  /** Listens to announcements and to these topics; what comes is held until the start. */
  listen(topics: readonly string[]): void {
    this.#states.follow(new Set(topics));
    const hear = this.#held.until((...message) => this.#hearAnnouncement(...message));
    for (const filter of discoveryFilters(this.#ctx.config.prefix)) {
      this.#link.subscribe(filter, hear, {
        maxBytes: ANNOUNCEMENT_BYTES,
        onTooLong: (topic) =>
          this.#refusals.count("an announcement was left out", "it is too long", topic),
      });
    }
  }

  /** Publishes what is known from before, and takes what has come since. */
  async start(kept: Kept, handedOver: State | undefined): Promise<void> {
    for (const [topic, { text, retained }] of Object.entries(kept)) {
      this.#announcements.take(topic, text, retained);
    }
    this.#recall(handedOver?.known ?? {});
    this.#hasSettled = handedOver !== undefined;
    this.#isAway = handedOver === undefined;
    // Devices that are handed over are in the host; whoever waits for the reload need not wait for them.
    if (handedOver) void this.#publish();
    else if (Object.keys(kept).length > 0) await this.#publish();
    this.#held.release();
    if (this.#isConnected) this.connected();
    this.#sweep = setInterval(() => this.#expire(), SWEEP_MS);
  }

  stop(): void {
    clearInterval(this.#sweep);
    this.#arrange.stop();
    this.#first.stop();
  }

  /** The broker is there, and begins to send what it keeps. */
  connected(): void {
    this.#isConnected = true;
    if (!this.#held.isReleased) return;
    if (this.#hasSettled) this.#setAway(false);
    this.#first.ask();
  }

  /** Hears why the broker is away, or `undefined` when it is back. */
  report(reason: string | undefined): void {
    this.#reason = reason;
    this.#degraded();
    if (reason !== undefined) this.#setAway(true);
  }

  /** @throws MantelError `scene_unknown`, and what publishing throws */
  async activateScene(id: string): Promise<void> {
    const scene = [...this.#announcements.components].find(
      ({ facet, identity }) => facet.scene && nativeId(identity) === id,
    )?.facet.scene;
    if (!scene) throw new MantelError("scene_unknown", `no scene has announced itself as ${id}`);
    await this.commands.send(scene());
  }

  #recall(known: State["known"]): void {
    for (const component of this.#announcements.components) {
      const before = known[component.identity];
      if (!before) continue;
      component.recall(before.state);
      component.availability.recall(before.told);
    }
  }

  #hearAnnouncement(topic: string, payload: Buffer, retained: boolean): void {
    if (this.#first.isWaiting) this.#first.ask();
    this.#heard.add(topic);
    if (!this.#announcements.take(topic, payload.toString(), retained)) return;
    if (this.#hasSettled) this.#arrange.ask();
  }

  #hear(topic: string, payload: Buffer, retained: boolean): void {
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

  /** While the broker is away nothing can be reached, whatever was told last. */
  #shown<U extends { readonly available?: boolean }>(update: U): U {
    return this.#isAway && update.available ? { ...update, available: false } : update;
  }

  #expire(): void {
    const updates = this.#home.expire(performance.now() / 1_000);
    if (updates.length > 0) this.#ctx.devices.update(...updates);
  }

  /** All that the broker keeps is there. */
  #settle(): void {
    this.#tellBirth();
    if (this.#hasSettled) return;
    this.#hasSettled = true;
    // What it kept before and keeps no longer has gone meanwhile, unless it has lost all that it kept.
    if (this.#heard.size > 0) {
      this.#announcements.forget((topic, retained) => retained && !this.#heard.has(topic));
    }
    this.#isAway = this.#reason !== undefined;
    void this.#publish();
  }

  /** Many devices that hear it tell what they are and how they are. */
  #tellBirth(): void {
    const { config, log } = this.#ctx;
    const topic = `${config.prefix}/status`;
    this.#link
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
    this.#home.arrange(this.#announcements.components);
    this.#states.follow(this.#home.topics);
    this.#degraded();
    const shown = this.#scenes();
    try {
      await devices.publish(this.#home.describe(this.#isAway));
      if (JSON.stringify(shown) !== this.#shownScenes) await scenes.publish(shown);
      this.#shownScenes = JSON.stringify(shown);
    } catch (error) {
      if (!(error instanceof MantelError)) throw error;
      log.warn("the devices could not be published", { error });
    }
  }

  #scenes(): SceneDescription[] {
    return [...this.#announcements.components].flatMap(({ facet, identity, component }) => {
      const name = component.fields.get("name");
      const shown = typeof name === "string" && name !== "" ? name : component.objectId;
      return facet.scene ? [{ nativeId: nativeId(identity), name: shown.slice(0, 200) }] : [];
    });
  }

  #degraded(): void {
    const tooMany = `more than ${MOST_ANNOUNCEMENTS} announcements are on the broker; some are left out`;
    this.#ctx.reportDegraded(this.#reason ?? (this.#announcements.isFull ? tooMany : undefined));
  }
}
