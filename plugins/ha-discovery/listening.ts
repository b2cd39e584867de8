import { Health, type PluginContext, topicMatcher } from "@mantel/plugin-sdk";
import {
  HandoverBuffer,
  type BufferedMessage,
  PreconnectedClient,
  type Mark,
} from "@mantel/plugin-sdk/mqtt";
import { Announcements, type StoredAnnouncements } from "./announcements.ts";
import { Debounce } from "./debounce.ts";
import { discoveryFilters } from "./discovery.ts";
import { type BridgeHealth, REASONS, TOLERATED_MESSAGES } from "./health.ts";
import { Pictures } from "./pictures.ts";
import { Subscribed } from "./subscribed.ts";
import { TASMOTA_FILTERS } from "./tasmota/components.ts";

/** Announcements come many at once: what follows from them waits until they pause. */
const PAUSE = { quietMs: 200, longestMs: 1_000 };
/** A broker sends all that it keeps at once; when that pauses, it is there. */
const FIRST = { quietMs: 300, longestMs: 3_000 };
/** Maximum wait of a start for retained messages and for the topics that they announce. */
const SETTLED_WITHIN_MS = 2_000;
const SUBSCRIBED_WITHIN_MS = 500;
const ANNOUNCEMENT_BYTES = 256 * 1024;

/** Receives the messages. */
export interface Listener {
  /** The announcements have changed, and have paused. */
  announced(): void;
  /** All that the broker keeps has come. */
  settled(): void;
  /** Called when a device has sent a message. */
  told(topic: string, payload: Buffer, retained: boolean): void;
}

export type Options = ConstructorParameters<typeof PreconnectedClient>[0]["config"] & {
  readonly prefix: string;
  readonly tasmota: boolean;
  readonly refusedTopics: readonly string[];
};

/** Announcements and device messages of a broker, buffered until the bridge has started. */
export class Listening {
  readonly mqtt: PreconnectedClient;
  readonly health: BridgeHealth;
  readonly announcements: Announcements;
  readonly pictures = new Pictures();
  readonly #filters: readonly string[];
  readonly #isAnnouncement: (topic: string) => boolean;
  readonly #states: Subscribed;
  readonly #held = new HandoverBuffer();
  readonly #pause = new Debounce(PAUSE, () => this.#changed());
  readonly #first = new Debounce(FIRST, () => this.#listener?.settled());
  /** Topics whose announcement the broker has sent and that is kept. */
  readonly #heard = new Set<string>();
  #hasHeard = false;
  #storedRevision = 0;
  #storedIdentities: readonly string[] = [];
  #listener: Listener | undefined;
  #stateTopics: ReadonlySet<string> = new Set();
  #pictureTopics: ReadonlySet<string> = new Set();

  private constructor(ctx: PluginContext<Options, unknown>) {
    const { config, home } = ctx;
    this.#filters = [
      ...discoveryFilters(config.prefix),
      ...(config.tasmota ? TASMOTA_FILTERS : []),
    ];
    const matchers = this.#filters.map(topicMatcher);
    this.#isAnnouncement = (topic) => matchers.some((matches) => matches(topic));
    this.health = new Health(ctx, REASONS, TOLERATED_MESSAGES);
    this.announcements = new Announcements({
      prefix: config.prefix,
      hasTasmota: config.tasmota,
      health: this.health,
      environment: {
        clock: { now: () => Date.now() / 1_000, zone: home.timeZone },
        mayPublish: publishableTo(config.prefix, config.refusedTopics),
      },
    });
    this.mqtt = new PreconnectedClient(ctx);
    this.#states = new Subscribed(this.mqtt.client, this.health, (...message) =>
      this.#hearState(...message),
    );
    ctx.onDispose(() => {
      this.#pause.stop();
      this.#first.stop();
      this.health.close();
    });
  }

  /** Connects, and waits a moment for what the broker keeps; `kept` is from the start before. */
  static async open(
    ctx: PluginContext<Options, unknown>,
    kept: StoredAnnouncements,
  ): Promise<Listening> {
    const listening = new Listening(ctx);
    listening.#listen(kept);
    const { mqtt } = listening;
    if (!(await mqtt.open())) return listening;
    listening.expectAll();
    await mqtt.until(() => !listening.#first.isWaiting, SETTLED_WITHIN_MS);
    listening.follow();
    // The previous generation listens until all its topics are subscribed here too.
    await mqtt.until(() => mqtt.client.isSubscribed, SUBSCRIBED_WITHIN_MS);
    return listening;
  }

  /** True when the broker has announced anything at all. */
  get hasHeard(): boolean {
    return this.#hasHeard;
  }

  /** Revision of the announcements when they had been read from storage. */
  get storedRevision(): number {
    return this.#storedRevision;
  }

  /** The components that were read from storage, by their identities. */
  get storedIdentities(): readonly string[] {
    return this.#storedIdentities;
  }

  hasAnnounced(topic: string): boolean {
    return this.#heard.has(topic);
  }

  /** The broker sends what it keeps now: `settled` follows. */
  expectAll(): void {
    this.#first.ask();
  }

  /** Takes over what the generation before knew; what the broker keeps has come to this one too. */
  takeOver(kept: StoredAnnouncements): void {
    for (const [topic, { text, retained }] of Object.entries(kept)) {
      if (!retained || !this.#heard.has(topic)) this.announcements.take(topic, text, retained);
    }
    this.announcements.forget((topic) => !this.#heard.has(topic) && !Object.hasOwn(kept, topic));
  }

  /** Listens to the topics of all that is announced. */
  follow(): void {
    const components = [...this.announcements.components];
    this.#stateTopics = new Set(components.flatMap(({ topics }) => topics));
    this.#pictureTopics = new Set(
      components.flatMap(({ handler }) => (handler.picture ? [handler.picture.topic] : [])),
    );
    this.pictures.keep(this.#pictureTopics);
    const all = new Set([...this.#stateTopics, ...this.#pictureTopics]);
    this.#states.follow(all, this.#pictureTopics);
  }

  /** Lets `listener` hear what comes, and what has come since the marks that `leave` of the one before gave. */
  hear(listener: Listener, heard: readonly Mark[]): void {
    this.#listener = listener;
    for (const { topic, payload, retained } of this.#held.takeAfter(heard)) {
      if (this.#isAnnouncement(topic)) this.#hearAnnouncement(topic, payload, retained);
      else this.#hearState(topic, payload, retained);
    }
  }

  /** Stops passing messages. Returns the marks of the last processed ones. */
  leave(): Mark[] {
    this.#listener = undefined;
    this.#pause.stop();
    return this.#held.lastReceived();
  }

  #listen(kept: StoredAnnouncements): void {
    for (const [topic, { text, retained }] of Object.entries(kept)) {
      this.announcements.take(topic, text, retained);
    }
    this.#storedRevision = this.announcements.revision;
    this.#storedIdentities = [...this.announcements.components].map(({ identity }) => identity);
    this.follow();
    for (const filter of this.#filters) {
      this.mqtt.client.subscribe(filter, (...message) => this.#hearAnnouncement(...message), {
        maxBytes: ANNOUNCEMENT_BYTES,
        onTooLong: (where) =>
          this.health.countIgnored({ what: "an announcement", why: "it is too long", where }),
      });
    }
  }

  /** Announcements are read at once, also ahead of the start: a reload need not wait for that. */
  #hearAnnouncement(topic: string, payload: Buffer, retained: boolean): void {
    if (this.#first.isWaiting) this.#first.ask();
    this.#hasHeard = true;
    this.#place({ topic, payload, retained, at: Date.now() }, !retained);
    if (this.announcements.take(topic, payload.toString(), retained)) this.#pause.ask();
    if (this.announcements.has(topic)) this.#heard.add(topic);
    else this.#heard.delete(topic);
  }

  #hearState(topic: string, payload: Buffer, retained: boolean): void {
    if (this.#pictureTopics.has(topic)) this.pictures.take(topic, payload);
    if (!this.#stateTopics.has(topic)) return;
    const isNew = this.#place({ topic, payload, retained, at: Date.now() }, true);
    if (isNew) this.#listener?.told(topic, payload, retained);
  }

  /**
   * Buffers a message until there is a listener; false if the previous listener has processed it.
   */
  #place(message: BufferedMessage, isWanted: boolean): boolean {
    if (this.#listener) return this.#held.accept(message);
    this.#held.add(message, isWanted);
    return true;
  }

  #changed(): void {
    if (this.#listener) this.#listener.announced();
    else this.follow();
  }
}

/**
 * Tells which topics may be published to. A device's announcement chooses the topics that its commands go to: topics
 * that the home refuses are left out, and so are announcements, and topics that start with `$`, which belong to the
 * broker (MQTT 5, 4.7.2).
 */
export function publishableTo(
  prefix: string,
  refused: readonly string[],
): (topic: string) => boolean {
  const announced = [...discoveryFilters(prefix), ...TASMOTA_FILTERS];
  const filters = [...refused, ...announced].map(topicMatcher);
  return (topic) => !topic.startsWith("$") && !filters.some((matches) => matches(topic));
}
