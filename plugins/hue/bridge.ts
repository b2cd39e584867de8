import { EventEmitter, once } from "node:events";
import { type DeviceCommand, MantelError } from "@mantel/plugin-sdk";
import { type Action, actionOf } from "./convert-button.ts";
import { follows, lightBody } from "./convert-light.ts";
import { describe, type Described } from "./convert.ts";
import { Feed, type FeedParts } from "./feed.ts";
import type { Kept } from "./options.ts";
import type { Change, Resource } from "./resources.ts";

/** A bridge sends its events once a second; whoever cannot wait for that asks. */
const FIRST_LOOK_MS = 200;
const LONGEST_LOOK_MS = 1_000;

export interface BridgeParts extends Omit<FeedParts, "onChange"> {
  /** Hears that something of the bridge is not as it was. */
  readonly onChange: () => void;
  readonly onAction: (nativeId: string, action: Action) => void;
}

/** One bridge: what it has, and what it can be asked. */
export class HueBridge {
  readonly id: string;
  readonly #parts: BridgeParts;
  readonly #feed: Feed;
  readonly #news = new EventEmitter<{ change: [] }>().setMaxListeners(0);
  #described: Described | undefined;
  /** As they were described last; they seldom change. */
  #buttons: Described["buttons"] = new Map();

  constructor(parts: BridgeParts) {
    this.id = parts.id;
    this.#parts = parts;
    this.#feed = new Feed({ ...parts, onChange: (changes) => this.#changed(changes) });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#feed.run(signal);
  }

  get problem(): string | undefined {
    return this.#feed.problem;
  }

  /** False until the bridge has answered, or failed to, for the first time. */
  get hasBeenTried(): boolean {
    return this.#feed.hasBeenTried;
  }

  /** True once it is known what the bridge has. */
  get isKnown(): boolean {
    return this.#feed.resources.size > 0;
  }

  get described(): Described {
    this.#described ??= describe(this.id, this.#feed.resources);
    this.#buttons = this.#described.buttons;
    return this.#described;
  }

  kept(): Kept {
    return this.#feed.kept();
  }

  /**
   * Resolves when the light says that it follows; a group, when it says so of being on.
   * @throws MantelError `bridge_down`, `bridge_rate_limited`, `deadline_passed`, `device_unknown`
   */
  async command({ type, id }: Resource, command: DeviceCommand): Promise<void> {
    const body = lightBody(this.#feed.resources.get(id), command);
    const path = `${type}/${id}`;
    await this.#put(path, body);
    const endsAt = performance.now() + this.#parts.times.confirmed;
    for (let waitMs = FIRST_LOOK_MS; !this.#follows(id, body); waitMs *= 2) {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) {
        throw new MantelError(
          "deadline_passed",
          `the bridge took the command, and the light did not say within ${this.#parts.times.confirmed} ms that it follows`,
        );
      }
      const isNews = await this.#hears(Math.min(waitMs, LONGEST_LOOK_MS, leftMs));
      if (!isNews) await this.#look(path);
    }
  }

  /** Resolves when the bridge has taken it over; it tells the lights by itself. @throws as `command` */
  async activate({ type, id }: Resource): Promise<void> {
    const action = type === "smart_scene" ? "activate" : "active";
    await this.#put(`${type}/${id}`, { recall: { action } });
  }

  async #put(path: string, body: object): Promise<void> {
    const { problem, client } = this.#feed;
    if (problem !== undefined) throw new MantelError("bridge_down", `${this.id}: ${problem}`);
    try {
      await client.put(path, body);
    } catch (error) {
      if (isAway(error)) this.#feed.suspect();
      throw error;
    }
  }

  #follows(id: string, body: object): boolean {
    return follows(this.#feed.resources.get(id), body);
  }

  /** True when something has changed within the time. */
  async #hears(withinMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(Math.ceil(withinMs));
    return once(this.#news, "change", { signal }).then(
      () => true,
      () => false,
    );
  }

  /** Asks for one resource. When that fails the event may come all the same. */
  async #look(path: string): Promise<void> {
    try {
      const data = await this.#feed.client.get(path);
      const changes = this.#feed.resources.apply({ type: "update", data });
      if (changes.length > 0) this.#changed([]);
    } catch {
      // it is asked again, until the deadline
    }
  }

  #changed(changes: readonly Change[]): void {
    this.#described = undefined;
    this.#parts.onChange();
    for (const change of changes) this.#tellAction(change);
    this.#news.emit("change");
  }

  /** A press is told when it comes as news; what was read anew may have been pressed long ago. */
  #tellAction({ type, told, before }: Change): void {
    const action =
      type === "update" && actionOf(told) && actionOf(this.#feed.resources.get(told.id));
    if (!action || (action.at !== undefined && action.at <= (actionOf(before)?.at ?? ""))) return;
    const nativeId = this.#buttons.get(told.id) ?? this.described.buttons.get(told.id);
    if (nativeId !== undefined) this.#parts.onAction(nativeId, action);
  }
}

/** True when the bridge itself has not answered, which may be so of the event stream too. */
function isAway(error: unknown): boolean {
  const isExpected = error instanceof MantelError && error.cause === undefined;
  return !isExpected;
}
