import type { Static, TObject, TSchema } from "typebox";
import type { PluginContext } from "./context.ts";
import type { DeviceCommand } from "./device.ts";
import type { Services } from "./service.ts";
import type { OptionsPatch, SetupContext, TrialContext } from "./trial.ts";

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
   * still works, so that nothing is missed between the two: it listens and keeps what it hears for `start`.
   * Until then publishing fails, and updates and events are left out with a line in the log; what
   * `reportDegraded` says is shown from the start on. It has 5 s; when it fails then, it is called again at
   * the start. `ctx.handedOver` is not there yet.
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
