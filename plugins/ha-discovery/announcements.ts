import { type Announcement, type Component, placeOf, readAnnouncement } from "./discovery.ts";
import { Known } from "./known.ts";
import type { Surroundings } from "./options.ts";
import { Refusal } from "./refusal.ts";
import type { Refusals } from "./refusals.ts";

/** The announcements that a home may have, and the characters in all of them together. */
export const MOST_ANNOUNCEMENTS = 10_000;
const MOST_CHARACTERS = 16 * 2 ** 20;

const LEFT_OUT = "an announcement was left out";

/** What was announced, as it is kept: payloads by topic, and whether the broker keeps them too. */
export type Kept = Readonly<Record<string, { readonly text: string; readonly retained: boolean }>>;

interface Entry {
  readonly text: string;
  readonly retained: boolean;
  readonly keys: readonly string[];
  /** True when its components are about to be announced elsewhere. */
  readonly migrates: boolean;
}

interface Parts {
  readonly prefix: string;
  readonly around: Surroundings;
  readonly refusals: Refusals;
}

/** All that has announced itself, and the components that are made of it. */
export class Announcements {
  readonly #parts: Parts;
  readonly #entries = new Map<string, Entry>();
  readonly #components = new Map<string, Known>();
  /** Which of the components has an identity; a second one with it is left out. */
  readonly #keys = new Map<string, string>();
  #characters = 0;
  #revision = 0;
  #isFull = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get components(): Iterable<Known> {
    return this.#components.values();
  }

  /** Grows with each change of what is kept. */
  get revision(): number {
    return this.#revision;
  }

  /** True when there was more than is taken. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get kept(): Kept {
    const entries = [...this.#entries].map(([topic, { text, retained }]) => [
      topic,
      { text, retained },
    ]);
    return Object.fromEntries(entries) as Kept;
  }

  /** Takes what has come on a discovery topic; true when the components have changed by it. */
  take(topic: string, text: string, retained: boolean): boolean {
    const place = placeOf(topic, this.#parts.prefix);
    if (!place) return this.#leaveOut("its topic is no discovery topic", topic);
    if (text === "") return this.#remove(topic);
    const before = this.#entries.get(topic);
    if (before?.text === text && !before.migrates) return this.#again(topic, before, retained);
    if (!this.#hasRoom(before, text)) {
      this.#isFull = true;
      return this.#leaveOut("there are too many", topic);
    }
    try {
      const announcement = readAnnouncement(topic, place, text);
      return announcement.migrates
        ? this.#release(topic)
        : this.#replace(topic, { text, retained }, announcement);
    } catch (error) {
      if (error instanceof Refusal) return this.#leaveOut(error.message, topic);
      throw error;
    }
  }

  /** Forgets what the broker kept and has no longer; true when components went with it. */
  forget(isGone: (topic: string, retained: boolean) => boolean): boolean {
    const gone = [...this.#entries].filter(([topic, { retained }]) => isGone(topic, retained));
    return gone.map(([topic]) => this.#remove(topic)).some(Boolean);
  }

  /** An announcement that the broker keeps since is one that it keeps. */
  #again(topic: string, before: Entry, retained: boolean): false {
    if (retained && !before.retained) this.#entries.set(topic, { ...before, retained });
    return false;
  }

  #hasRoom(before: Entry | undefined, text: string): boolean {
    const characters = this.#characters - (before?.text.length ?? 0) + text.length;
    return characters <= MOST_CHARACTERS && (!!before || this.#entries.size < MOST_ANNOUNCEMENTS);
  }

  #release(topic: string): boolean {
    const before = this.#entries.get(topic);
    if (before) this.#entries.set(topic, { ...before, migrates: true });
    return false;
  }

  #replace(
    topic: string,
    as: { text: string; retained: boolean },
    announcement: Announcement,
  ): true {
    const { components, refused } = announcement;
    for (const { message } of refused) this.#leaveOut(message, topic);
    const before = this.#entries.get(topic);
    const replaced = (before?.keys ?? []).flatMap((key) => this.#drop(key) ?? []);
    const keys = components.flatMap((component) =>
      this.#add(component, replaced) ? component.key : [],
    );
    this.#entries.set(topic, { ...as, keys, migrates: false });
    this.#revision++;
    this.#characters += as.text.length - (before?.text.length ?? 0);
    return true;
  }

  /** Makes a component that takes over from the one before, wherever that was announced. */
  #add(component: Component, replaced: readonly Known[]): boolean {
    // As in Home Assistant, what its maker has disabled is not shown.
    if (component.fields.get("enabled_by_default") === false) return false;
    try {
      const known = new Known(component, this.#parts.around);
      const before =
        replaced.find(({ identity }) => identity === known.identity) ?? this.#owner(known);
      if (before === "taken") return this.#leaveOut("another has its unique_id", component.key);
      if (before) {
        known.recall(before.state);
        known.availability.recall(before.availability.told);
      }
      this.#keys.set(known.identity, component.key);
      this.#components.set(component.key, known);
      return true;
    } catch (error) {
      if (error instanceof Refusal) return this.#leaveOut(error.message, component.key);
      throw error;
    }
  }

  /** Who has the identity: nobody, one that is there to stay, or one that makes room. */
  #owner({ identity }: Known): Known | "taken" | undefined {
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
    this.#characters -= entry.text.length;
    this.#isFull = false;
    return true;
  }

  #drop(key: string): Known | undefined {
    const known = this.#components.get(key);
    if (known && this.#keys.get(known.identity) === key) this.#keys.delete(known.identity);
    this.#components.delete(key);
    return known;
  }

  #leaveOut(reason: string, where: string): false {
    this.#parts.refusals.count(LEFT_OUT, reason, where);
    return false;
  }
}
