import type { TSchema } from "typebox";
import type { ChannelDefinitions, ChannelPublishers, ChannelReader } from "./channel.ts";
import type { DeviceDescription, DeviceEvent, DeviceUpdate } from "./device.ts";
import type { Discover } from "./discovery.ts";
import type { Home } from "./home.ts";
import type { RouteDefinition } from "./route.ts";
import type { SceneDescription } from "./scene.ts";
import type { Schedule } from "./schedule.ts";
import type { ValueOf } from "./schema.ts";
import type {
  PublicationName,
  Publications,
  ServiceDefinition,
  ServiceInput,
  ServiceOutput,
} from "./service.ts";
import type { Sources } from "./sources.ts";

export type LogFields = Readonly<Record<string, unknown>>;

/**
 * The module's log. A record is a fixed sentence plus fields. Put values into the fields and never into the
 * sentence, so that equal records can be grouped.
 */
export interface Log {
  debug(sentence: string, fields?: LogFields): void;
  info(sentence: string, fields?: LogFields): void;
  warn(sentence: string, fields?: LogFields): void;
  error(sentence: string, fields?: LogFields): void;
}

/** The devices of a bridge. The bridge uses native ids; the host assigns the public ids. */
export interface DevicePublisher {
  /**
   * Publishes the complete list of devices. A device that was published before and is not in the list is removed.
   * @throws MantelError `invalid` with a JSON pointer for each fault; the published devices then stay unchanged
   */
  publish(devices: readonly DeviceDescription[]): Promise<void>;
  /**
   * Changes the state or availability of published devices. Returns immediately. Updates reach the host in
   * order, and before the result of a command that is still running.
   */
  update(...updates: readonly DeviceUpdate[]): void;
  /**
   * Reports a momentary event of a published device, such as a button press. The event reaches the host after
   * all earlier updates. The limit is 50 events per second and bridge; further events are dropped and counted.
   */
  event(nativeId: string, event: string, data?: DeviceEvent["data"]): void;
}

export interface ScenePublisher {
  /** Publishes the complete list of the bridge's own scenes. A scene that is not in the list is removed. */
  publish(scenes: readonly SceneDescription[]): Promise<void>;
}

/** Persistent JSON values of this plugin, stored in its own storage folder. They survive restarts. */
export interface Storage {
  /** Returns the stored value, or `undefined`. A damaged file is renamed and treated as absent. */
  get(key: string): Promise<unknown>;
  /**
   * Resolves when the value is on the disk. Keys match `[a-z0-9-]{1,60}`.
   * @throws MantelError `disk_full`, also when the plugin has reached `limits.storageMiB`
   */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Opens values that change often, such as timers: each change is stored at once, and survives a crash of the process.
   * A power cut loses at most the last half second. One generation at a time may have it open.
   */
  journal(key: string): StorageJournal;
}

/** Plain values by key in one file. Reading them costs memory of their size. */
export interface StorageJournal extends Iterable<[string, unknown]> {
  get(key: string): unknown;
  /**
   * Stores a value. The changes of one turn of the event loop are stored together, or not at all. While the disk is full
   * they are only in memory, with an error in the log.
   */
  set(key: string, value: unknown): void;
  /** Returns false for an absent key. */
  delete(key: string): boolean;
  /** Resolves when everything would survive a power cut. Later changes are ignored. */
  close(): Promise<void>;
}

/** The plugin's status, shown to users. */
export interface PluginStatus {
  /** Reports that the plugin works normally. */
  ok(): void;
  /** Reports that the plugin runs but cannot do its work, for example because a device cannot be reached. `reason` is one user-facing sentence. */
  degraded(reason: string): void;
}

/** The plugin's HTTP routes. */
export interface PluginRoutes {
  /**
   * Resolves with the path of a route with `secretInPath`, to be appended to the address at which the home is reached.
   * It stays the same over reloads and restarts. Never log it.
   */
  url(route: Pick<RouteDefinition, "path">): Promise<string>;
}

/** The host's API for one generation of a plugin: the argument of `connect` and `start`. */
export interface PluginContext<
  Options,
  State,
  Channels extends ChannelDefinitions = Record<never, never>,
> {
  /** The module's id. */
  readonly id: string;
  /** The plugin's section of the config, validated against `options`, with defaults filled in. */
  readonly config: Options;
  readonly home: Home;
  readonly schedule: Schedule;
  /** Finds devices in the home's network. */
  readonly discover: Discover;
  readonly log: Log;
  readonly devices: DevicePublisher;
  readonly scenes: ScenePublisher;
  readonly storage: Storage;
  /** The state that the previous generation handed over, or `undefined` at a fresh start. */
  readonly handedOver: State | undefined;
  /** Aborted when the generation begins to stop. Pass it to `fetch` and to timers that accept a signal. */
  readonly signal: AbortSignal;
  /** Registers a function that closes a resource. The functions run in reverse order when the generation ends. */
  readonly onDispose: (release: () => void | Promise<void>) => void;
  /** Returns the path of a folder below the data folder. The manifest must name the folder under `permissions.folders`. */
  readonly folder: (name: string) => string;
  /**
   * Calls a service that another plugin provides. The manifest must name the service under `uses`.
   * @throws ServiceError with one of the codes in the definition
   * @throws MantelError `service_unavailable` when no plugin provides it, `invalid` for input that does not fit,
   * `service_cycle` when services call each other in a circle, `deadline_passed`, or `outcome_unknown`
   */
  readonly call: <D extends ServiceDefinition>(
    service: D,
    input: ServiceInput<D>,
  ) => Promise<ServiceOutput<D>>;
  readonly routes: PluginRoutes;
  /** The files in the folder that the manifest names under `sources`. */
  readonly sources: Sources;
  /** Replaces the value that the host serves under `name`. The manifest must list the name under `provides`. */
  readonly publish: <N extends PublicationName>(name: N, value: Publications[N]) => Promise<void>;
  /** Publishes the values of the plugin's channels, by name. */
  readonly channels: ChannelPublishers<Channels>;
  /**
   * Follows a channel of another plugin, such as `news/headlines`. The manifest must name it under `uses`. Values that
   * do not fit `schema` are not shown; the log says so.
   */
  readonly channel: <S extends TSchema>(
    name: `${string}/${string}`,
    schema: S,
  ) => ChannelReader<ValueOf<S>>;
  readonly status: PluginStatus;
}
