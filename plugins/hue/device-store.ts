import { setTimeout as delay } from "node:timers/promises";
import {
  DeviceCache,
  type DeviceCommand,
  MantelError,
  type PluginContext,
  type RunningPlugin,
  Throttle,
} from "@mantel/plugin-sdk";
import { HueBridge } from "./bridge.ts";
import { bridgesOf } from "./discovery.ts";
import { type FeedDependencies, TIMES } from "./feed.ts";
import { merge, type Place } from "./merge.ts";
import type { BridgeState, Options, State } from "./options.ts";
import { Publisher } from "./publisher.ts";
import { at } from "./resources.ts";

const STORE_AFTER_MS = 5_000;
/**
 * Time to wait for the first answer after a start without handover, so that devices do not flap.
 */
const FIRST_ANSWER_MS = 1_000;
const POLL_MS = 20;
/** Minimum interval between updates, however many events arrive. */
const SHOW_EVERY_MS = 20;

type Context = PluginContext<Options, State>;

/** The resources of each bridge, by its id. */
type StoredResources = Readonly<Record<string, BridgeState["resources"]>>;

/** Dependencies that a test may replace. */
type Outside = Pick<FeedDependencies, "times" | "find">;

/** Starts the bridges of a home, and returns the handlers of the plugin. */
export async function startDeviceStore(
  ctx: Context,
  outside: Outside = { times: TIMES, find: bridgesOf(ctx.discover) },
): Promise<RunningPlugin<State>> {
  const cache = new DeviceCache<StoredResources>(ctx, "bridges", STORE_AFTER_MS);
  const stored = ctx.handedOver ? undefined : await cache.read();
  const known = (id: string) => ctx.handedOver?.bridges[id] ?? storedOf(stored, id);
  const home = new Home(ctx, cache, known, outside);
  await home.run();
  return {
    command: (nativeId, command, _commandId, { extra }) =>
      home.command(nativeId, { ...command, ...extra }),
    activateScene: (nativeId) => home.activate(nativeId),
    handOver: () => home.handOver(),
  };
}

/** All bridges of a home combined: publishes their devices and routes commands. */
class Home {
  readonly #ctx: Context;
  readonly #bridges: readonly HueBridge[];
  readonly #publisher: Publisher;
  /** The bridge of each device or scene, by native id. */
  #places: ReadonlyMap<string, Place> = new Map();
  readonly #cache: DeviceCache<StoredResources>;
  readonly #shows = new Throttle(SHOW_EVERY_MS, () => this.#show());
  #isOpen = false;
  #degraded: string | undefined;

  constructor(
    ctx: Context,
    cache: DeviceCache<StoredResources>,
    known: (id: string) => BridgeState | undefined,
    outside: Outside,
  ) {
    this.#ctx = ctx;
    this.#cache = cache;
    this.#publisher = new Publisher(ctx);
    this.#bridges = Object.entries(ctx.config.bridges).map(
      ([id, options]) =>
        new HueBridge({
          id,
          options,
          log: ctx.log,
          kept: known(id),
          ...outside,
          onChange: () => void (this.#isOpen && this.#shows.request()),
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
      this.#shows.flush();
    });
    if (!handedOver) await this.#firstAnswers();
    this.#isOpen = true;
    this.#shows.run();
    await this.#publisher.taken();
  }

  /** @throws MantelError `device_unknown`, and as the bridge's `command` */
  async command(nativeId: string, command: DeviceCommand): Promise<void> {
    const { bridge, resource } = this.#placeOf(nativeId);
    await bridge.command(resource, command);
    this.#shows.run(); // before the answer
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

  /** Publishes the devices of all bridges and their problems. */
  #show(): void {
    const known = this.#bridges.filter(({ isKnown }) => isKnown);
    const { devices, scenes, places, left } = merge(known);
    this.#tellProblems(left);
    if (known.length === 0 && this.#bridges.length > 0) return; // the content is still unknown, which is not the same as empty
    this.#places = places;
    if (this.#publisher.show(devices, scenes)) this.#cache.changed(() => this.#resources());
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

  #resources(): StoredResources {
    const known = this.#bridges.filter(({ isKnown }) => isKnown);
    return Object.fromEntries(known.map((bridge) => [bridge.id, bridge.kept().resources]));
  }
}

function storedOf(stored: unknown, id: string): BridgeState | undefined {
  const resources = at(stored, id);
  return Array.isArray(resources)
    ? { resources: resources as BridgeState["resources"] }
    : undefined;
}
