import { EventEmitter, once } from "node:events";
import { type DeviceCommand, MantelError } from "@mantel/plugin-sdk";
import { type Action, actionOf } from "./convert-button.ts";
import { describe, type Described } from "./convert.ts";
import { Feed, type FeedDependencies } from "./feed.ts";
import { FollowedCommands } from "./followed-commands.ts";
import type { BridgeState } from "./options.ts";
import type { Change, Resource } from "./resources.ts";

/** A bridge sends events once a second; a command that cannot wait reads the state after this. */
const FIRST_LOOK_MS = 200;
const LONGEST_LOOK_MS = 1_000;

export interface BridgeDependencies extends Omit<FeedDependencies, "onChange"> {
  /** Called when something about the bridge has changed. */
  readonly onChange: () => void;
  readonly onAction: (nativeId: string, action: Action) => void;
}

/** One bridge: its devices and scenes, and its commands. */
export class HueBridge {
  readonly id: string;
  readonly #parts: BridgeDependencies;
  readonly #feed: Feed;
  readonly #changes = new EventEmitter<{ change: [] }>().setMaxListeners(0);
  #described: Described | undefined;
  /** The latest described buttons; they seldom change. */
  #buttons: Described["buttons"] = new Map();
  readonly #commands: FollowedCommands;

  constructor(parts: BridgeDependencies) {
    this.id = parts.id;
    this.#parts = parts;
    this.#feed = new Feed({ ...parts, onChange: (changes) => this.#changed(changes) });
    this.#commands = new FollowedCommands(this.#feed.resources);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#feed.run(signal);
  }

  get problem(): string | undefined {
    return this.#feed.problem;
  }

  /** False until the first attempt to reach the bridge has ended. */
  get hasBeenTried(): boolean {
    return this.#feed.hasBeenTried;
  }

  /** True once the resources of the bridge are known. */
  get isKnown(): boolean {
    return this.#feed.resources.size > 0;
  }

  get described(): Described {
    this.#described ??= describe(this.id, this.#feed.resources);
    this.#buttons = this.#described.buttons;
    return this.#described;
  }

  kept(): BridgeState {
    return this.#feed.kept();
  }

  /**
   * Resolves when the light reports the new state; for a group, when one of its lights does.
   * @throws MantelError `bridge_down`, `bridge_rate_limited`, `deadline_passed`, `device_unknown`
   */
  async command(target: Resource, command: DeviceCommand): Promise<void> {
    const path = `${target.type}/${target.id}`;
    const isGroup = target.type === "grouped_light";
    const members = isGroup ? (this.described.members.get(target.id) ?? []) : [];
    const followed = this.#commands.begin(target, members, command);
    await this.#put(path, followed.body);
    const endsAt = performance.now() + this.#parts.times.confirmed;
    for (let waitMs = FIRST_LOOK_MS; !followed.isFollowed(); waitMs *= 2) {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) {
        throw new MantelError(
          "deadline_passed",
          `the light did not confirm the command within ${this.#parts.times.confirmed} ms`,
        );
      }
      const isNews = await this.#hears(Math.min(waitMs, LONGEST_LOOK_MS, leftMs));
      if (!isNews) for (const each of isGroup ? [path, "light"] : [path]) await this.#look(each);
    }
    followed.remember();
  }

  /**
   * Resolves when the bridge has accepted the request; the bridge sends it to the lights.
   * @throws as `command`
   */
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

  /** True if a change arrived within the time. */
  async #hears(withinMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(Math.ceil(withinMs));
    return once(this.#changes, "change", { signal }).then(
      () => true,
      () => false,
    );
  }

  /** Reads one resource, or all of a type. After a failure the event may still arrive. */
  async #look(path: string): Promise<void> {
    try {
      const take = this.#feed.resources.beginReading();
      const changes = take(await this.#feed.client.get(path));
      if (changes.length > 0) this.#changed([]);
    } catch {
      // retried until the deadline
    }
  }

  #changed(changes: readonly Change[]): void {
    this.#described = undefined;
    this.#parts.onChange();
    for (const change of changes) this.#tellAction(change);
    this.#changes.emit("change");
  }

  /** Reports a press only from an event: a press in a full read may be old. */
  #tellAction({ type, told, before }: Change): void {
    const action =
      type === "update" && actionOf(told) && actionOf(this.#feed.resources.get(told.id));
    if (!action || (action.at !== undefined && action.at <= (actionOf(before)?.at ?? ""))) return;
    const nativeId = this.#buttons.get(told.id) ?? this.described.buttons.get(told.id);
    if (nativeId !== undefined) this.#parts.onAction(nativeId, action);
  }
}

/** True if the bridge itself did not answer, so the event stream may be dead too. */
function isAway(error: unknown): boolean {
  const isExpected = error instanceof MantelError && error.cause === undefined;
  return !isExpected;
}
