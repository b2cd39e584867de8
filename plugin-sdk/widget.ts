// oxlint-disable-next-line typescript/triple-slash-reference -- a module cannot declare files by their endings
/// <reference path="./assets.d.ts" preserve="true" />
import type { ReadonlySignal } from "@preact/signals-core";
import type { CalendarWindow } from "./calendar.ts";
import type { ChannelDefinitions, ChannelNames, ChannelValue } from "./channel.ts";
import type { Device, DeviceCommand, DeviceKind, CommandBody } from "./device.ts";
import type { I18n, Texts } from "./i18n.ts";
import type { ModuleState } from "./module-state.ts";
import type { Scene } from "./scene.ts";
import type { ServiceDefinition, ServiceInput, ServiceOutput } from "./service.ts";
import type { Settings, SettingValues } from "./widget-settings.ts";

export type { CalendarWindow, Device, DeviceCommand, CommandBody, Scene };
export type { ChannelValue } from "./channel.ts";
export { s, type Setting, type Settings, type SettingValues } from "./widget-settings.ts";
export type Signal<T> = ReadonlySignal<T>;

/** The result of a command. `device` is the device after the command. */
export interface CommandResult {
  readonly ok: boolean;
  readonly device?: Device;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * The tile's size in cells, and in CSS pixels at the default text size. With a larger text size the width and
 * height are smaller than on the screen, because less text fits into the tile.
 */
export interface TileSize {
  readonly cols: number;
  readonly rows: number;
  readonly width: number;
  readonly height: number;
  readonly shape: "icon" | "row" | "card" | "panel";
}

/** The user-facing status of a module. */
export interface ModuleStatus {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly state: ModuleState;
  readonly generation: number;
  readonly restarts: number;
  /** Values are null while the module has no process. */
  readonly resources: { readonly cpuPercent: number | null; readonly memoryBytes: number | null };
  /** A user-facing sentence about a slow operation in progress, such as an install. */
  readonly progress: string | null;
  /** The module's current problem, as a user-facing sentence. */
  readonly error: { readonly message: string } | null;
}

/** The host's own live data besides devices, by name. Each is `undefined` until its first value arrives. */
export interface Channels {
  /** Events of `calendar.defaultDays` days, from the start of today in the home's time zone. */
  readonly calendar: CalendarWindow;
  readonly scenes: readonly Scene[];
  readonly modules: readonly ModuleStatus[];
}

/** A picture of a camera, refreshed every ten seconds while something reads the signal. */
export interface CameraPicture {
  /** Belongs to the dashboard: draw it, and do not close it. `undefined` until the first picture has arrived. */
  readonly bitmap: ImageBitmap | undefined;
  /** The time of the home at which it arrived, in epoch milliseconds, as `ctx.now()`. */
  readonly takenAt: number | undefined;
  /** True if the last attempt failed. The previous picture stays. */
  readonly failed: boolean;
}

/** The name of a room, `""` for the whole home, or a group of devices that users made. */
export type RoomOrGroup = string | { readonly group: string };

/** The dashboard's API for a mounted widget. Everything opened through it is closed on unmount. */
export interface WidgetContext<S extends Settings, State> extends I18n {
  /** The id of the tile in the layout. */
  readonly instance: string;
  /** The content hash of the widget's code. */
  readonly version: string;
  /** The current settings. A change updates the signal and does not mount the widget again. */
  readonly settings: Signal<SettingValues<S>>;
  readonly size: Signal<TileSize>;
  /** False while the tile is outside the visible page, the tab is hidden or the screen is dimmed; timers then pause. */
  readonly visible: Signal<boolean>;
  readonly theme: Signal<"dark" | "light" | "night">;
  /** False while the event stream is disconnected; all values are then the last known ones. */
  readonly online: Signal<boolean>;
  readonly locale: Signal<string>;
  readonly timeZone: Signal<string>;
  /**
   * Returns the time of the home in epoch milliseconds, also on a screen whose clock is wrong. An effect that calls it
   * runs again when the time is corrected, but not as time passes: use `every` for that.
   */
  readonly now: () => number;
  /** The state that the previous code's `handOver` returned, when this mount replaces it after a reload. */
  readonly handedOver: State | undefined;
  /** Aborted on unmount. */
  readonly signal: AbortSignal;
  /** Returns one device. Its `pending` contains requested values that are not confirmed yet. */
  device(id: string): Signal<Device | undefined>;
  /** Returns all devices that match the query, or every device without one. */
  devices(query?: { kind?: string; room?: string; group?: string }): Signal<readonly Device[]>;
  /** Returns the host's own live data, such as `channel("calendar")`. */
  channel<N extends keyof Channels>(name: N): Signal<Channels[N] | undefined>;
  /** Returns the picture of a device whose `image` is true. Read it only while `visible` is true. */
  picture(id: string): Signal<CameraPicture>;
  /**
   * Returns a channel of a plugin: `channel<typeof channels>("headlines")` of the own one, `"news/headlines"` of
   * another one. `undefined` before the first value and while no plugin provides it. The manifest names it under
   * `needs`. With several channels, the type of one of them is `channel<typeof channels, "headlines">("headlines")`.
   */
  channel<C extends ChannelDefinitions, N extends ChannelNames<C> = ChannelNames<C>>(
    name: NoInfer<N> | `${string}/${NoInfer<N>}`,
  ): Signal<ChannelValue<C[N]> | undefined>;
  /**
   * Sends a command. The new value is shown immediately as pending. Commands to one device are coalesced: while one is
   * in flight, only the latest is kept. On status 409 it waits and retries. Never rejects.
   */
  command(id: string, command: CommandBody): Promise<CommandResult>;
  /**
   * Sends a command to all devices of a kind in a room or a group, or in the whole home if the room is `""`, and offers
   * to undo it. Never rejects.
   */
  commandRoom(room: RoomOrGroup, kind: DeviceKind, command: CommandBody): Promise<CommandResult>;
  /** Activates a scene. Never rejects. */
  scene(id: string): Promise<CommandResult>;
  /**
   * Calls a service that its provider opens to widgets, with the permissions of this screen: one of the widget's own
   * plugin, or one that `needs.services` in the manifest names. Rejects with an error whose `code` is one of the
   * service's own or of the host.
   */
  call<D extends ServiceDefinition>(service: D, input: ServiceInput<D>): Promise<ServiceOutput<D>>;
  /**
   * Reads a path of the HTTP API, such as `/calendar/events?start=…`, with the permissions of this screen. Aborted on
   * unmount. Rejects with a user-facing message when the host refuses.
   */
  read(path: string): Promise<Response>;
  /** Runs `draw` now and whenever a signal that it read changes. A returned function runs before the next run. */
  effect(draw: () => void | (() => void)): void;
  /** Calls `run` every `ms` milliseconds, aligned to full seconds if `ms` is whole seconds. Paused while not visible. */
  every(ms: number, run: () => void, options?: { whenHidden?: boolean }): void;
  /** Adds an event listener that is removed on unmount. */
  on<E extends Event>(target: EventTarget, type: string, run: (event: E) => void): void;
  /** Registers a function that runs on unmount. */
  onCleanup(release: () => void): void;
  readonly log: {
    info(...parts: unknown[]): void;
    warn(...parts: unknown[]): void;
    error(error: unknown): void;
  };
  /** Announces a sentence to screen readers. */
  announce(text: string): void;
}

/** The functions of a mounted widget that the dashboard calls. `handOver` returns plain data for the code that replaces it. */
export interface WidgetHandle<State> {
  handOver?(): State;
  unmount?(): void;
}

/** The argument of `defineWidget`. */
export interface WidgetDefinition<S extends Settings, State> {
  /** The user-facing name. */
  readonly name: string;
  readonly icon?: `mdi:${string}`;
  /** Translations of the name, the titles of settings and all texts passed to `t`. */
  readonly texts?: Texts;
  readonly settings?: S;
  /**
   * Sizes in grid cells, `[columns, rows]`: the size of a new tile and the limits for resizing in the editor. On a
   * phone only the minimum width applies, multiplied by three. A layout can override them.
   */
  readonly size: {
    readonly default: readonly [number, number];
    readonly min?: readonly [number, number];
    readonly max?: readonly [number, number];
  };
  /** CSS for the widget's shadow root. Use the `--mantel-*` properties for colours, spacing and fonts. */
  readonly styles?: string;
  /**
   * Returns values of plugins' channels for the preview in the editor, by name as in `ctx.channel`, and JSON answers of
   * `ctx.read`, by path. They may depend on the time, and on nothing else.
   */
  readonly preview?: () => Readonly<Record<string, unknown>>;
  /** Increase it when the shape of the handed-over state changes. State of another version is not handed over. */
  readonly stateVersion?: number;
  /** Renders the widget. Use `ctx.effect` to render again on changes. If it throws, an error tile is shown. */
  mount(root: ShadowRoot, ctx: WidgetContext<S, State>): void | WidgetHandle<State>;
}

/** Defines a widget. Make it the default export of the widget entry. */
export function defineWidget<S extends Settings = Record<never, never>, State = unknown>(
  definition: WidgetDefinition<S, State>,
): WidgetDefinition<S, State> {
  return definition;
}
