import type { DeviceDescription, DeviceEvent, DeviceUpdate } from "./device.ts";
import type { SceneDescription } from "./scene.ts";
import type { PublicationName, Publications, ServiceName, Services } from "./service.ts";

export type LogFields = Readonly<Record<string, unknown>>;

/** A record is a fixed sentence and fields; the sentence holds no value, so equal records group. */
export interface Log {
  debug(sentence: string, fields?: LogFields): void;
  info(sentence: string, fields?: LogFields): void;
  warn(sentence: string, fields?: LogFields): void;
  error(sentence: string, fields?: LogFields): void;
}

/** A bridge's devices. The bridge names them by their native ids; the host gives the public ids. */
export interface DevicePublisher {
  /**
   * Publishes the whole set of devices. One that was published before and is absent now is removed.
   * @throws MantelError `invalid`, with a JSON pointer for each fault; nothing is changed then
   */
  publish(devices: readonly DeviceDescription[]): Promise<void>;
  /**
   * Changes state or availability of published devices. Returns at once; updates reach the host in
   * the order given, and before the answer of a command that is being carried out.
   */
  update(...updates: readonly DeviceUpdate[]): void;
  /**
   * Tells of something that happened at a published device and is over, such as a press. It comes after
   * the updates before it. More than 50 a second of one bridge are counted and left out.
   */
  event(nativeId: string, event: string, data?: DeviceEvent["data"]): void;
}

export interface ScenePublisher {
  /** Publishes the whole set of the bridge's own scenes. */
  publish(scenes: readonly SceneDescription[]): Promise<void>;
}

/** JSON values of this plugin that outlast restarts. Kept in the plugin's own storage folder. */
export interface Storage {
  /** The stored value, or `undefined`. A damaged value is set aside and counts as absent. */
  get(key: string): Promise<unknown>;
  /** Resolves when the value is on the disk. Keys are `[a-z0-9-]{1,60}`. */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Settings of the house that any plugin may read. */
export interface HouseSettings {
  /** BCP 47, such as `en-GB`. */
  readonly locale: string;
  /** IANA, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

export interface PluginContext<Options, State> {
  /** The module's id. */
  readonly id: string;
  /** The plugin's section of the config, checked against `options`, with defaults filled in. */
  readonly config: Options;
  readonly house: HouseSettings;
  readonly log: Log;
  readonly devices: DevicePublisher;
  readonly scenes: ScenePublisher;
  readonly storage: Storage;
  /** The state of the generation before, or `undefined` at a fresh start. */
  readonly handedOver: State | undefined;
  /** Ends when the generation quiesces; give it to `fetch` and to timers that take a signal. */
  readonly signal: AbortSignal;
  /** Registers what closes the thing just opened; runs in reverse order when the generation ends. */
  readonly onDispose: (release: () => void | Promise<void>) => void;
  /** The path of a folder below the data folder that the manifest names under `permissions.folders`. */
  readonly folder: (name: string) => string;
  /**
   * Calls a service that another plugin provides. The manifest names it under `uses`.
   * @throws MantelError `service_unavailable` when nothing provides it, `deadline_passed`
   */
  readonly call: <N extends ServiceName>(
    name: N,
    input: Parameters<Services[N]>[0],
  ) => Promise<Awaited<ReturnType<Services[N]>>>;
  /** Replaces what the host serves under `name`. The manifest names it under `provides`. */
  readonly publish: <N extends PublicationName>(name: N, value: Publications[N]) => Promise<void>;
  /** Says that the other side cannot be reached (a sentence for people), or with `undefined` that it can. */
  readonly reportDegraded: (reason: string | undefined) => void;
}
