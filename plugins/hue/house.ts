import { setTimeout as delay } from "node:timers/promises";
import {
  type DeviceCommand,
  MantelError,
  type PluginContext,
  type RunningPlugin,
} from "@mantel/plugin-sdk";
import { HueBridge } from "./bridge.ts";
import { findBridges } from "./discovery.ts";
import { type FeedParts, TIMES } from "./feed.ts";
import { merge, type Place } from "./merge.ts";
import type { Kept, Options, State } from "./options.ts";
import { Publisher } from "./publisher.ts";
import { at } from "./resources.ts";

/** What the bridges had is stored, so that nothing vanishes when one is away at the next start. */
const STORED = "bridges";
const STORE_AFTER_MS = 5_000;
/** After a start without hand-over the first answer is waited for, so that nothing flaps. */
const FIRST_ANSWER_MS = 1_000;
const POLL_MS = 20;
/** However much a bridge tells, what it has is looked through no more often than this. */
const SHOW_EVERY_MS = 20;

type Context = PluginContext<Options, State>;

/** What a test may put others in the place of. */
type Outside = Pick<FeedParts, "times" | "find">;

/** Starts the bridges of a house, and gives what the plugin answers to. */
export async function startHouse(
  ctx: Context,
  outside: Outside = { times: TIMES, find: findBridges },
): Promise<RunningPlugin<State>> {
  const stored = ctx.handedOver ? undefined : await ctx.storage.get(STORED);
  const known = (id: string) => ctx.handedOver?.bridges[id] ?? storedOf(stored, id);
  const house = new House(ctx, outside, known);
  await house.run();
  return {
    command: (nativeId, command) => house.command(nativeId, command),
    activateScene: (nativeId) => house.activate(nativeId),
    handOver: () => house.handOver(),
  };
}

/** All bridges of a house as one: what they have is shown, and what is asked goes to the right one. */
class House {
  readonly #ctx: Context;
  readonly #bridges: readonly HueBridge[];
  readonly #publisher: Publisher;
  /** Who serves a device or a scene, by native id. */
  #places: ReadonlyMap<string, Place> = new Map();
  #storeTimer: NodeJS.Timeout | undefined;
  #stored: Promise<void> = Promise.resolve();
  #isOpen = false;
  #showTimer: NodeJS.Timeout | undefined;
  #shownAt = -Infinity;
  #degraded: string | undefined;

  constructor(ctx: Context, outside: Outside, known: (id: string) => Kept | undefined) {
    this.#ctx = ctx;
    this.#publisher = new Publisher(ctx);
    this.#bridges = Object.entries(ctx.config.bridges).map(
      ([id, options]) =>
        new HueBridge({
          ...{ id, options, log: ctx.log, kept: known(id), ...outside },
          onChange: () => this.#showSoon(),
          onAction: (nativeId, { name, data }) => ctx.devices.event(nativeId, name, data),
        }),
    );
  }

  /** Follows the bridges until the generation ends. Resolves when the host has what they have. */
  async run(): Promise<void> {
    const { signal, onDispose, handedOver } = this.#ctx;
    const running = this.#bridges.map((bridge) => bridge.run(signal));
    onDispose(async () => {
      await Promise.all(running);
      if (this.#showTimer) this.#show();
      clearTimeout(this.#storeTimer);
      if (this.#storeTimer) this.#store();
      await this.#stored;
    });
    if (!handedOver) await this.#firstAnswers();
    this.#isOpen = true;
    this.#show();
    await this.#publisher.taken();
  }

  /** @throws MantelError `device_unknown`, and as the bridge's `command` does */
  async command(nativeId: string, command: DeviceCommand): Promise<void> {
    const { bridge, resource } = this.#placeOf(nativeId);
    await bridge.command(resource, command);
    this.#show(); // before the answer
  }

  /** @throws MantelError `device_unknown`, and as the bridge's `activate` does */
  async activate(nativeId: string): Promise<void> {
    const { bridge, resource } = this.#placeOf(nativeId);
    await bridge.activate(resource);
  }

  handOver(): State {
    const bridges = this.#bridges.map((bridge) => [bridge.id, bridge.kept()] as const);
    return { version: 1, bridges: Object.fromEntries(bridges) };
  }

  async #firstAnswers(): Promise<void> {
    const endsAt = performance.now() + FIRST_ANSWER_MS;
    const isAwaited = () => this.#bridges.some(({ hasBeenTried }) => !hasBeenTried);
    while (isAwaited() && performance.now() < endsAt) await delay(POLL_MS);
  }

  /** At once, unless that was done just now. */
  #showSoon(): void {
    if (!this.#isOpen || this.#showTimer) return;
    const leftMs = this.#shownAt + SHOW_EVERY_MS - performance.now();
    if (leftMs <= 0) this.#show();
    else this.#showTimer = setTimeout(() => this.#show(), leftMs);
  }

  #show(): void {
    clearTimeout(this.#showTimer);
    this.#showTimer = undefined;
    this.#shownAt = performance.now();
    const known = this.#bridges.filter(({ isKnown }) => isKnown);
    const { devices, scenes, places, left } = merge(known);
    this.#tellProblems(left);
    if (known.length === 0 && this.#bridges.length > 0) return; // that is not to say that there is nothing
    this.#places = places;
    if (this.#publisher.show(devices, scenes)) this.#storeSoon();
  }

  #tellProblems(left: number): void {
    const problems = this.#bridges.flatMap(({ id, problem }) =>
      problem === undefined ? [] : [`bridge ${id}: ${problem}`],
    );
    const none = this.#bridges.length === 0 ? ["no bridge is paired yet"] : [];
    const full = left > 0 ? [`there is no room for ${left} of the devices and scenes`] : [];
    const degraded = [...problems, ...none, ...full].join("; ") || undefined;
    if (degraded === this.#degraded) return;
    this.#degraded = degraded;
    this.#ctx.reportDegraded(degraded);
  }

  #placeOf(nativeId: string): Place {
    const place = this.#places.get(nativeId);
    if (place) return place;
    throw new MantelError("device_unknown", `no bridge has ${nativeId} and lets it be changed`);
  }

  #storeSoon(): void {
    this.#storeTimer ??= setTimeout(() => this.#store(), STORE_AFTER_MS);
  }

  #store(): void {
    this.#storeTimer = undefined;
    const known = this.#bridges.filter(({ isKnown }) => isKnown);
    const bridges = known.map((bridge) => [bridge.id, bridge.kept().resources] as const);
    this.#stored = this.#ctx.storage
      .set(STORED, Object.fromEntries(bridges))
      .catch((error: unknown) => {
        this.#ctx.log.warn("what the bridges have was not stored", { error });
      });
  }
}

function storedOf(stored: unknown, id: string): Kept | undefined {
  const resources = at(stored, id);
  return Array.isArray(resources) ? { resources: resources as Kept["resources"] } : undefined;
}
