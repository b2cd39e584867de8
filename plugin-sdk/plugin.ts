import type { TObject, TSchema } from "typebox";
import type { ChannelDefinitions } from "./channel.ts";
import type { PluginContext } from "./context.ts";
import type { DeviceImage } from "./device-image.ts";
import type { CommandBeyond, DeviceCommand } from "./device.ts";
import type { HandledRoute } from "./route.ts";
import type { ValueOf } from "./schema.ts";
import type { ProvidedService } from "./service.ts";
import type { OptionsPatch, SetupContext, TrialContext } from "./trial.ts";

/** The functions of a started plugin that the host calls. All members are optional. */
export interface RunningPlugin<State> {
  /**
   * Sends a command to a device. Resolve when the device has confirmed it. The host has already validated the
   * command against the device's capabilities. Each command has its own `commandId`. `command` is empty if all of it is
   * for parts and extras, which are in `beyond`.
   * @throws MantelError `bridge_rate_limited` with `retryAfterMs` while the bridge accepts no commands
   */
  command?(
    nativeId: string,
    command: DeviceCommand,
    commandId: string,
    beyond: CommandBeyond,
  ): Promise<void>;
  /** Activates a scene that the plugin published. Each activation has its own `activationId`. */
  activateScene?(nativeId: string, activationId: string): Promise<void>;
  /**
   * Returns the current picture of a device that was published with `image: true`; `undefined` while it has no picture.
   * Requests within one second share one call.
   */
  image?(nativeId: string): Promise<DeviceImage | undefined>;
  /**
   * Follows the live picture of a device that was published with `frames` in `live`. All viewers share one call, and
   * each of them gets the newest picture, so that slow ones skip some. Aborted when nobody has watched for a few
   * seconds. Pictures that come as motion JPEG are read with `readMotionJpeg`.
   */
  frames?(nativeId: string, signal: AbortSignal): AsyncIterable<DeviceImage>;
  /**
   * Connects a viewer to a device that was published with `video` in `live`: returns the answer to the viewer's offer,
   * both session descriptions (SDP, RFC 8866) with all their candidates. The video does not pass through Mantel.
   * @throws MantelError `bridge_down`, `not_found`
   */
  video?(nativeId: string, offer: string): Promise<string>;
  /** The services that the manifest lists under `provides`, each as `provide(definition, handler)`. */
  readonly services?: readonly ProvidedService[];
  /** The HTTP routes of the plugin, each as `handle(route, handler)`. */
  readonly routes?: readonly HandledRoute[];
  /**
   * Returns the state for the next generation as plain data (JSON). Called once, after the last accepted call
   * has ended and before anything is disposed. Be quick: callers wait until the returned promise resolves.
   */
  handOver?(): State | Promise<State>;
  /**
   * True while the plugin waits for nothing but calls of the host and changes in its folders. After two minutes without
   * either, its process ends as in a reload, and gives its memory back. The next call waits for a new process, which
   * gets what `handOver` returned. A change in one of its folders or of the home's settings starts one too, and so does
   * whatever reads or follows one of its channels. A plugin does not rest while one of its channels is followed, while it
   * has timers of `ctx.schedule`, or while it follows the home, channels or sources. Bridges do not rest.
   */
  canRest?(): boolean;
}

/** The argument of `definePlugin`. Its two schemas define the validation and the types in `start`. */
export interface PluginDefinition<
  Options extends TObject | undefined,
  State extends TSchema | undefined,
  Connected = undefined,
  Channels extends ChannelDefinitions = Record<never, never>,
> {
  /** The plugin's channels, as `defineChannels` returns them; `ctx.channels` publishes their values. */
  readonly channels?: Channels;
  /**
   * The schema of the plugin's options. It defines validation, defaults, the settings form and the type of
   * `ctx.config`. A field with `writeOnly: true` is a secret: it is stored separately and never shown.
   */
  readonly options?: Options;
  /**
   * The schema of the state that one generation hands over to the next, as plain data. A state that does not
   * match the schema of the new code is dropped with a log line, and the new generation starts without it.
   */
  readonly state?: State;
  /**
   * Opens connections before `start` and passes its result to `start`. During a reload it runs while the previous
   * generation still works, so that no message is lost: subscribe here, and buffer the messages for `start`.
   * Before `start`, publishing throws, updates and events are dropped with a log line, and `ctx.status` takes effect
   * only at the start. The time limit is 5 s. If `connect` fails, it is called again at the start.
   * `ctx.handedOver` is not set yet.
   */
  connect?(
    ctx: PluginContext<ValueOf<Options>, undefined, Channels>,
  ): Connected | Promise<Connected>;
  /**
   * Starts the plugin and returns the functions that the host may call. Do not wait for devices here: publish what
   * is known and return. If `start` throws during a reload, the previous generation keeps running.
   */
  start(
    ctx: PluginContext<ValueOf<Options>, ValueOf<State>, Channels>,
    connected: Connected,
  ): void | RunningPlugin<ValueOf<State>> | Promise<void | RunningPlugin<ValueOf<State>>>;
  /**
   * Tests options before they are saved. `ctx.config` contains them, validated and with defaults. Resolve with a
   * user-facing sentence about the result, such as the name of the device that answered. Reject with a MantelError
   * whose message names the problem. The time limit is 15 s. The test runs in a separate process with the
   * manifest's permissions, also while the plugin runs or is not configured yet.
   */
  readonly test?: (ctx: TrialContext<ValueOf<Options>>) => Promise<string>;
  /**
   * Guides the user through a one-time setup, such as pairing: shows steps and asks questions. Resolve with the
   * options to store, including secrets; the plugin then starts with them. Runs in a separate process like `test`,
   * for at most ten minutes. When the user cancels, the process ends immediately.
   */
  readonly setup?: (ctx: SetupContext<ValueOf<Options>>) => Promise<OptionsPatch<ValueOf<Options>>>;
}

/** A defined plugin: the default export of the server entry. */
export interface Plugin {
  readonly mantelPlugin: 1;
  readonly options: TObject | undefined;
  readonly state: TSchema | undefined;
  readonly channels: ChannelDefinitions | undefined;
  readonly connect: ((ctx: PluginContext<unknown, undefined>) => unknown) | undefined;
  start(ctx: PluginContext<unknown, unknown>, connected?: unknown): unknown;
  readonly test: ((ctx: TrialContext<unknown>) => Promise<string>) | undefined;
  readonly setup: ((ctx: SetupContext<unknown>) => Promise<unknown>) | undefined;
}

/** Defines a plugin. Make it the default export of the server entry, and run no other code at the top level. */
export function definePlugin<
  Options extends TObject | undefined = undefined,
  State extends TSchema | undefined = undefined,
  Connected = undefined,
  Channels extends ChannelDefinitions = Record<never, never>,
>(definition: PluginDefinition<Options, State, Connected, Channels>): Plugin {
  return {
    mantelPlugin: 1,
    options: definition.options,
    state: definition.state,
    channels: definition.channels,
    connect: definition.connect?.bind(definition) as Plugin["connect"],
    start: (ctx, connected) =>
      definition.start(ctx as Parameters<typeof definition.start>[0], connected as Connected),
    test: definition.test as Plugin["test"],
    setup: definition.setup,
  };
}
