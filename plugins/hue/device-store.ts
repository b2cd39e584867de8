import { setTimeout as delay } from "node:timers/promises";
import {
  type DeviceCommand,
  MantelError,
  type PluginContext,
  type RunningPlugin,
} from "@mantel/plugin-sdk";
import { HueBridge } from "./bridge.ts";
import { findBridges } from "./discovery.ts";
import { type FeedDependencies, TIMES } from "./feed.ts";
import { merge, type Place } from "./merge.ts";
import type { BridgeState, Options, State } from "./options.ts";
import { Publisher } from "./publisher.ts";
import { at } from "./resources.ts";

/**
 * Storage key of the bridges' devices, so that they stay known when a bridge is unreachable at the
 * next start.
 */
const STORED = "bridges";
const STORE_AFTER_MS = 5_000;
/**
 * Time to wait for the first answer after a start without handover, so that devices do not flap.
 */
const FIRST_ANSWER_MS = 1_000;
const POLL_MS = 20;
/** Minimum interval between updates, however many events arrive. */
const SHOW_EVERY_MS = 20;

type Context = PluginContext<Options, State>;

/** Dependencies that a test may replace. */
type Outside = Pick<FeedDependencies, "times" | "find">;

/** Starts the bridges of a home, and returns the handlers of the plugin. */
export async function startDeviceStore(
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

/** All bridges of a home combined: publishes their devices and routes commands. */
class House {
  readonly #ctx: Context;
  readonly #bridges: readonly HueBridge[];
  readonly #publisher: Publisher;
  /** The bridge of each device or scene, by native id. */
  #places: ReadonlyMap<string, Place> = new Map();
  #storeTimer: NodeJS.Timeout | undefined;
  #stored: Promise<void> = Promise.resolve();
  #isOpen = false;
  #showTimer: NodeJS.Timeout | undefined;
  #shownAt = -Infinity;
  #degraded: string | undefined;

  constructor(ctx: Context, outside: Outside, known: (id: string) => BridgeState | undefined) {
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

  /** Follows the bridges until the generation ends. Resolves when the host has their devices. */
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

  /** @throws MantelError `device_unknown`, and as the bridge's `command` */
  async command(nativeId: string, command: DeviceCommand): Promise<void> {
    const { bridge, resource } = this.#placeOf(nativeId);
    await bridge.command(resource, command);
    this.#show(); // before the answer
  }

  /** @throws MantelError `device_unknown`, and as the bridge's `activate` */
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

  /** Publishes immediately, or after the minimum interval. */
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
    if (known.length === 0 && this.#bridges.length > 0) return; // the content is still unknown, which is not the same as empty
    this.#places = places;
    if (this.#publisher.show(devices, scenes)) this.#storeSoon();
  }

  #tellProblems(left: number): void {
    const problems = this.#bridges.flatMap(({ id, problem }) =>
      problem === undefined ? [] : [`bridge ${id}: ${problem}`],
    );
    const none = this.#bridges.length === 0 ? ["no bridge is paired yet"] : [];
    const full = left > 0 ? [`${left} devices and scenes exceed the limit`] : [];
    const degraded = [...problems, ...none, ...full].join("; ") || undefined;
    if (degraded === this.#degraded) return;
    this.#degraded = degraded;
    if (degraded === undefined) this.#ctx.status.ok();
    else this.#ctx.status.degraded(degraded);
  }

  #placeOf(nativeId: string): Place {
    const place = this.#places.get(nativeId);
    if (place) return place;
    throw new MantelError("device_unknown", `no bridge has a controllable device ${nativeId}`);
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
        this.#ctx.log.warn("could not store the devices of the bridges", { error });
      });
  }
}

function storedOf(stored: unknown, id: string): BridgeState | undefined {
  const resources = at(stored, id);
  return Array.isArray(resources)
    ? { resources: resources as BridgeState["resources"] }
    : undefined;
}
