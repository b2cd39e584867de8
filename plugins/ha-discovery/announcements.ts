import { ComponentStates } from "./component-state.ts";
import { DiscoveryError, UnknownKind } from "./discovery-error.ts";
import { type Announcement, type Component, placeOf, readAnnouncement } from "./discovery.ts";
import type { BridgeHealth } from "./health.ts";
import type { Environment } from "./options.ts";
import { checkSensors, readTasmota, tasmotaPlaceOf } from "./tasmota/components.ts";

/** The announcements and components that a home may have. */
const MOST_ANNOUNCEMENTS = 10_000;
const MOST_COMPONENTS = 20_000;
/** Bytes of all announcements together: a reload hands them over in one message, which has a limit. */
const MOST_BYTES = 5 * 2 ** 20;
const FULL = "more announcements are on the broker than are taken; some are left out";

/** The stored announcements: payloads by topic, and true if the broker retains them. */
export type StoredAnnouncements = Readonly<
  Record<string, { readonly text: string; readonly retained: boolean }>
>;

/** True if a value from storage has the shape of stored announcements. */
export function isStored(value: unknown): value is StoredAnnouncements {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (each: unknown) =>
        typeof each === "object" &&
        each !== null &&
        typeof (each as { text?: unknown }).text === "string" &&
        typeof (each as { retained?: unknown }).retained === "boolean",
    )
  );
}

interface Entry {
  readonly text: string;
  readonly bytes: number;
  readonly retained: boolean;
  readonly keys: readonly string[];
  /** True when its components are about to be announced elsewhere. */
  readonly migrates: boolean;
}

interface Parts {
  readonly prefix: string;
  /** True if the announcements of Tasmota are read, too. */
  readonly hasTasmota?: boolean;
  readonly environment: Pick<Environment, "clock" | "mayPublish">;
  readonly health: BridgeHealth;
}

/** All that has announced itself, and the components that are made of it. */
export class Announcements {
  readonly #parts: Parts;
  readonly #entries = new Map<string, Entry>();
  readonly #components = new Map<string, ComponentStates>();
  /** The component of each identity; a second one with it is left out. */
  readonly #keys = new Map<string, string>();
  #bytes = 0;
  #revision = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get components(): Iterable<ComponentStates> {
    return this.#components.values();
  }

  /** Grows with each change of what is kept. */
  get revision(): number {
    return this.#revision;
  }

  has(topic: string): boolean {
    return this.#entries.has(topic);
  }

  get kept(): StoredAnnouncements {
    const entries = [...this.#entries].map(([topic, { text, retained }]) => [
      topic,
      { text, retained },
    ]);
    return Object.fromEntries(entries) as StoredAnnouncements;
  }

  /** Takes what has come on a discovery topic; true when the components have changed by it. */
  take(topic: string, text: string, retained: boolean): boolean {
    const read = this.#readerOf(topic);
    if (!read) return this.#ignore("its topic is not a discovery topic", topic);
    if (text === "") return this.#remove(topic);
    const before = this.#entries.get(topic);
    if (before?.text === text && !before.migrates) return this.#again(topic, before, retained);
    const bytes = Buffer.byteLength(JSON.stringify(text));
    try {
      const announcement = read(text);
      if (announcement.migrates) return this.#release(topic);
      if (!this.#hasRoom(before, bytes, announcement)) return this.#isFull(topic);
      this.#replace(topic, { text, bytes, retained }, announcement);
      this.#readAgain(topic);
      return true;
    } catch (error) {
      return this.#refuse(error, topic);
    }
  }

  /** Forgets what the broker kept and has no longer; true when components went with it. */
  forget(isGone: (topic: string, retained: boolean) => boolean): boolean {
    const gone = [...this.#entries].filter(([topic, { retained }]) => isGone(topic, retained));
    return gone.map(([topic]) => this.#remove(topic)).some(Boolean);
  }

  /** The function that reads the announcements of a topic, or `undefined` for other topics. */
  #readerOf(topic: string): ((text: string) => Announcement) | undefined {
    const tasmota = this.#parts.hasTasmota ? tasmotaPlaceOf(topic) : undefined;
    if (tasmota?.isSensors) return checkSensors;
    if (tasmota) {
      return (text) => readTasmota(tasmota, text, this.#entries.get(tasmota.sensors)?.text);
    }
    const place = placeOf(topic, this.#parts.prefix);
    return place && ((text) => readAnnouncement(topic, place, text));
  }

  /** A Tasmota announces its sensors apart: when they change, the whole device is read again. */
  #readAgain(topic: string): void {
    const place = tasmotaPlaceOf(topic);
    const device = place?.isSensors ? this.#entries.get(place.config) : undefined;
    if (!place || !device) return;
    const announcement = readTasmota(place, device.text, this.#entries.get(topic)?.text);
    if (this.#hasRoom(device, device.bytes, announcement)) {
      this.#replace(place.config, device, announcement);
    } else this.#isFull(place.config);
  }

  /** An announcement that the broker keeps since is one that it keeps. */
  #again(topic: string, before: Entry, retained: boolean): false {
    if (retained && !before.retained) this.#entries.set(topic, { ...before, retained });
    return false;
  }

  #hasRoom(before: Entry | undefined, bytes: number, { components }: Announcement): boolean {
    const had = before?.keys.length ?? 0;
    return (
      this.#bytes - (before?.bytes ?? 0) + bytes <= MOST_BYTES &&
      this.#components.size - had + components.length <= MOST_COMPONENTS &&
      (before !== undefined || this.#entries.size < MOST_ANNOUNCEMENTS)
    );
  }

  #isFull(topic: string): false {
    this.#parts.health.set("announcements", FULL);
    return this.#ignore("there are too many", topic);
  }

  #release(topic: string): boolean {
    const before = this.#entries.get(topic);
    if (before) this.#entries.set(topic, { ...before, migrates: true });
    return false;
  }

  #replace(
    topic: string,
    as: Pick<Entry, "text" | "bytes" | "retained">,
    announcement: Announcement,
  ): void {
    const { components, refused } = announcement;
    for (const refusal of refused) this.#refuse(refusal, topic);
    const before = this.#entries.get(topic);
    const replaced = (before?.keys ?? []).flatMap((key) => this.#drop(key) ?? []);
    const keys = components.flatMap((component) =>
      this.#add(component, replaced) ? component.key : [],
    );
    this.#entries.set(topic, { ...as, keys, migrates: false });
    this.#revision++;
    this.#bytes += as.bytes - (before?.bytes ?? 0);
  }

  /** Makes a component that takes over from the one before, wherever that was announced. */
  #add(component: Component, replaced: readonly ComponentStates[]): boolean {
    // As in Home Assistant, a component that its maker disabled is not shown.
    if (component.fields.get("enabled_by_default") === false) return false;
    try {
      const known = new ComponentStates(component, this.#environment(component));
      const before =
        replaced.find(({ identity }) => identity === known.identity) ?? this.#owner(known);
      if (before === "taken") return this.#ignore("another has its unique_id", component.key);
      if (before) {
        known.recall(before.state);
        known.availability.recall(before.availability.told);
      }
      this.#keys.set(known.identity, component.key);
      this.#components.set(component.key, known);
      return true;
    } catch (error) {
      return this.#refuse(error, component.key);
    }
  }

  #environment({ key }: Component): Environment {
    const { health, environment } = this.#parts;
    return {
      ...environment,
      onGarbage: (why) => health.countIgnored({ what: "a message", why, where: key }),
      onUnusable: (why) => health.count({ what: "a value", why, where: key }),
    };
  }

  /** The current owner of the identity: none, a permanent one, or one that can be replaced. */
  #owner({ identity }: ComponentStates): ComponentStates | "taken" | undefined {
    const key = this.#keys.get(identity);
    if (key === undefined) return undefined;
    const entry = this.#entries.get(key.replace(/#.*$/s, ""));
    return entry?.migrates ? this.#drop(key) : "taken";
  }

  #remove(topic: string): boolean {
    const entry = this.#entries.get(topic);
    if (!entry) return false;
    for (const key of entry.keys) this.#drop(key);
    this.#entries.delete(topic);
    this.#revision++;
    this.#bytes -= entry.bytes;
    this.#parts.health.set("announcements", undefined);
    this.#readAgain(topic);
    return true;
  }

  #drop(key: string): ComponentStates | undefined {
    const known = this.#components.get(key);
    if (known && this.#keys.get(known.identity) === key) this.#keys.delete(known.identity);
    this.#components.delete(key);
    return known;
  }

  /** Kinds of components that are not known are as they should be, and are only counted. */
  #refuse(error: unknown, where: string): false {
    if (!(error instanceof DiscoveryError)) throw error;
    if (!(error instanceof UnknownKind)) return this.#ignore(error.message, where);
    this.#parts.health.count({ what: "an announcement", why: error.message, where });
    return false;
  }

  #ignore(why: string, where: string): false {
    this.#parts.health.countIgnored({ what: "an announcement", why, where });
    return false;
  }
}
