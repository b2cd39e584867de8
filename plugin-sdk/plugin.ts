import type { Static, TObject, TSchema } from "typebox";
import type { DeviceCommand, DeviceDescription, DeviceEvent, DeviceUpdate } from "./device.ts";
import type { SceneDescription } from "./scene.ts";
import type { PublicationName, Publications, ServiceName, Services } from "./service.ts";
import type { OptionsPatch, SetupContext, TrialContext } from "./trial.ts";

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

/** What a started plugin answers to. All parts are optional. */
export interface RunningPlugin<State> {
  /**
   * Carries out one command, and resolves when the device has confirmed it. The command was checked
   * against the device's capabilities. `commandId` is unique; the same id never comes twice.
   * @throws MantelError `bridge_rate_limited` with `retryAfterMs` when the bridge refuses for now
   */
  command?(nativeId: string, command: DeviceCommand, commandId: string): Promise<void>;
  activateScene?(nativeId: string, activationId: string): Promise<void>;
  readonly services?: Partial<Services>;
  /**
   * Gives what the next generation needs. Called once, after the last accepted call has ended and
   * before anything is disposed. Must be plain data (JSON). A promise is waited for, and callers with it.
   */
  handOver?(): State | Promise<State>;
}

/** The type a schema describes, or `undefined` where there is no schema. */
type Described<S> = S extends TSchema ? Static<S> : undefined;

/** What `definePlugin` takes: its two schemas give the checks and the types of `start`. */
export interface PluginDefinition<
  Options extends TObject | undefined,
  State extends TSchema | undefined,
  Connected = undefined,
> {
  /**
   * The plugin's options: check, defaults, settings form and the type of `ctx.config` in one. A field
   * with `writeOnly: true` is a secret: it is stored apart and never shown.
   */
  readonly options?: Options;
  /**
   * What one generation hands to the next, as plain data. A state that does not fit, because the
   * shape has changed, is dropped with a line in the log, and the new generation starts fresh.
   */
  readonly state?: State;
  /**
   * Opens connections, and gives `start` what it opened. Within a reload it runs while the generation before
   * still works, so that nothing is missed between the two: it may listen and must not publish. It has 5 s;
   * when it fails then, it is called again at the start. `ctx.handedOver` is not there yet.
   */
  connect?(ctx: PluginContext<Described<Options>, undefined>): Connected | Promise<Connected>;
  start(
    ctx: PluginContext<Described<Options>, Described<State>>,
    connected: Connected,
  ): void | RunningPlugin<Described<State>> | Promise<void | RunningPlugin<Described<State>>>;
  /**
   * Tries whether options lead anywhere, before anybody stores them: `ctx.config` has them, checked and
   * with defaults. Resolves with a sentence on what was found, such as the name of the other side, and
   * rejects with a MantelError whose sentence says what is wrong. It has 15 s, runs in a process of its
   * own with the manifest's permissions, and may run while the plugin works or waits to be set up.
   */
  readonly test?: (ctx: TrialContext<Described<Options>>) => Promise<string>;
  /**
   * Leads a person through what has to happen once, such as pairing: it shows steps and asks questions,
   * and resolves with options that the host stores, secrets too, after which the plugin starts. It runs
   * like `test`, for at most ten minutes; when the person gives up, its process ends at once.
   */
  readonly setup?: (
    ctx: SetupContext<Described<Options>>,
  ) => Promise<OptionsPatch<Described<Options>>>;
}

/** A defined plugin, as the runtime finds it under the default export of the server entry. */
export interface Plugin {
  readonly mantelPlugin: 1;
  readonly options: TObject | undefined;
  readonly state: TSchema | undefined;
  readonly connect: ((ctx: PluginContext<unknown, undefined>) => unknown) | undefined;
  start(ctx: PluginContext<unknown, unknown>, connected?: unknown): unknown;
  readonly test: ((ctx: TrialContext<unknown>) => Promise<string>) | undefined;
  readonly setup: ((ctx: SetupContext<unknown>) => Promise<unknown>) | undefined;
}

/** Defines a plugin. Make it the default export of the server entry; nothing else may run there. */
export function definePlugin<
  Options extends TObject | undefined = undefined,
  State extends TSchema | undefined = undefined,
  Connected = undefined,
>(definition: PluginDefinition<Options, State, Connected>): Plugin {
  return {
    mantelPlugin: 1,
    options: definition.options,
    state: definition.state,
    connect: definition.connect?.bind(definition) as Plugin["connect"],
    start: (ctx, connected) =>
      definition.start(ctx as Parameters<typeof definition.start>[0], connected as Connected),
    test: definition.test as Plugin["test"],
    setup: definition.setup,
  };
}
