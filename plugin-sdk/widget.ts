import type { ReadonlySignal } from "@preact/signals-core";
import type { CalendarWindow } from "./calendar.ts";
import type { Device, DeviceCommand } from "./device.ts";
import type { SystemSample } from "./metrics.ts";
import type { ModuleState } from "./module-state.ts";
import type { Scene } from "./scene.ts";
import type { Speech, Texts } from "./speech.ts";
import type { WeatherForecast } from "./weather.ts";

export type { CalendarWindow, Device, DeviceCommand, Scene, SystemSample, WeatherForecast };
export type Signal<T> = ReadonlySignal<T>;

/** The JSON Schema of one setting. `format` says which input the form shows. */
export interface SettingSchema {
  readonly type: "string" | "number" | "boolean" | "array";
  readonly title?: string;
  readonly default?: unknown;
  readonly format?: "device" | "room" | "color" | "icon" | "lines";
  readonly deviceKind?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly maxItems?: number;
  readonly items?: SettingSchema;
}

declare const fieldType: unique symbol;

/** A setting of type `T`, made with `s`. */
export interface Field<T> {
  readonly schema: SettingSchema;
  readonly [fieldType]?: T;
}
export type Settings = Readonly<Record<string, Field<unknown>>>;
export type SettingValues<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Field<infer T> ? T : never;
};

const field = <T>(schema: SettingSchema): Field<T> => ({ schema });

interface Titled<T> {
  readonly title?: string;
  readonly default?: T;
}

/** Builds settings: the form, the check and the type of `ctx.settings` in one. */
export const s = {
  text: (o: Titled<string> = {}) => field<string>({ type: "string", default: "", ...o }),
  /** Text of several lines. */
  lines: (o: Titled<string> = {}) =>
    field<string>({ type: "string", format: "lines", default: "", ...o }),
  number: ({
    min,
    max,
    step,
    ...o
  }: Titled<number> & { min?: number; max?: number; step?: number } = {}) =>
    field<number>({
      type: "number",
      default: min ?? 0,
      ...o,
      ...(min === undefined ? {} : { minimum: min }),
      ...(max === undefined ? {} : { maximum: max }),
      ...(step === undefined ? {} : { multipleOf: step }),
    }),
  bool: (o: Titled<boolean> = {}) => field<boolean>({ type: "boolean", default: false, ...o }),
  choice: <const T extends string>(values: readonly T[], o: Titled<T> = {}) =>
    field<T>({ type: "string", enum: values, default: values[0], ...o }),
  device: ({ kind, ...o }: { kind?: string; title?: string } = {}) =>
    field<string>({
      type: "string",
      format: "device",
      default: "",
      ...o,
      ...(kind === undefined ? {} : { deviceKind: kind }),
    }),
  room: (o: { title?: string } = {}) =>
    field<string>({ type: "string", format: "room", default: "", ...o }),
  color: (o: Titled<string> = {}) =>
    field<string>({ type: "string", format: "color", default: "", ...o }),
  icon: (o: Titled<`mdi:${string}`> = {}) =>
    field<string>({ type: "string", format: "icon", default: "", ...o }),
  list: <T>(of: Field<T>, { max }: { max?: number } = {}) =>
    field<readonly T[]>({
      type: "array",
      items: of.schema,
      default: [],
      ...(max === undefined ? {} : { maxItems: max }),
    }),
} as const;

/** How a command ended. `device` is the device after it. */
export interface CommandResult {
  readonly ok: boolean;
  readonly device?: Device;
  readonly error?: { readonly code: string; readonly message: string };
}

/**
 * How large the tile is, in cells, and in CSS pixels at the usual text size: where people have set larger
 * text, a tile has less room for it, and says so by being smaller.
 */
export interface TileSize {
  readonly cols: number;
  readonly rows: number;
  readonly width: number;
  readonly height: number;
  readonly shape: "icon" | "row" | "card" | "panel";
}

/** A module of the house, as far as screens show it. */
export interface ModuleStatus {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly state: ModuleState;
  readonly generation: number;
  readonly restarts: number;
  /** Null without a process. */
  readonly resources: { readonly cpuPercent: number | null; readonly memoryBytes: number | null };
  /** What takes long now, for people. */
  readonly progress: string | null;
  /** Why it is not well, for people. */
  readonly error: { readonly message: string } | null;
}

/** Live data beyond devices, by name. `undefined` until the first value has come. */
export interface Channels {
  readonly system: SystemSample;
  /** Events from the start of today, in the house's time zone, over `calendar.defaultDays`. */
  readonly calendar: CalendarWindow;
  readonly scenes: readonly Scene[];
  /** Stays `undefined` while no module has a forecast; the modules say why. */
  readonly weather: WeatherForecast;
  readonly modules: readonly ModuleStatus[];
}

/** What a mounted widget gets. Everything it opens through it ends when it is unmounted. */
export interface WidgetContext<S extends Settings, Kept> extends Speech {
  /** The id of the tile in the layout. */
  readonly instance: string;
  /** The content hash of the widget's code. */
  readonly version: string;
  /** Live: a change of settings never mounts again. */
  readonly settings: Signal<SettingValues<S>>;
  readonly size: Signal<TileSize>;
  /** False when the tile is off the page, the tab hidden or the screen dimmed; timers pause then. */
  readonly visible: Signal<boolean>;
  readonly theme: Signal<"dark" | "light" | "night">;
  /** False while the event stream is away; values are the last known then. */
  readonly online: Signal<boolean>;
  readonly locale: Signal<string>;
  readonly timeZone: Signal<string>;
  /** What `keep` of the code before gave, when this mount replaces it. */
  readonly kept: Kept | undefined;
  /** Aborted on unmount. */
  readonly signal: AbortSignal;
  /** One device, with values that were asked for and are not confirmed yet under `pending`. */
  device(id: string): Signal<Device | undefined>;
  devices(query?: { kind?: string; room?: string }): Signal<readonly Device[]>;
  channel<N extends keyof Channels>(name: N): Signal<Channels[N] | undefined>;
  /** Coalesced (one on its way, then the last value), shown at once, backs off on 409. Never rejects. */
  command(id: string, command: DeviceCommand): Promise<CommandResult>;
  /** Activates a scene. Never rejects. */
  scene(id: string): Promise<CommandResult>;
  /**
   * Reads from the HTTP API with the rights of this screen, such as `/calendar/events?start=…`: a path
   * below the prefix. Ends on unmount. Rejects with a sentence for people when the host refuses.
   */
  read(path: string): Promise<Response>;
  /** Runs `draw` now and whenever a signal it read changes; what it returns runs before the next. */
  effect(draw: () => void | (() => void)): void;
  /** Every `ms` milliseconds, on the second when it is whole seconds; paused while not visible. */
  every(ms: number, run: () => void, options?: { whenHidden?: boolean }): void;
  on<E extends Event>(target: EventTarget, type: string, run: (event: E) => void): void;
  onCleanup(release: () => void): void;
  readonly log: {
    info(...parts: unknown[]): void;
    warn(...parts: unknown[]): void;
    error(error: unknown): void;
  };
  /** Says a sentence to people who cannot see the screen. */
  announce(text: string): void;
}

/** What a mounted widget answers to. `keep` gives plain data for the code that replaces it. */
export interface WidgetHandle<Kept> {
  keep?(): Kept;
  unmount?(): void;
}

export interface WidgetDefinition<S extends Settings, Kept> {
  /** The name shown to people. */
  readonly name: string;
  readonly icon?: `mdi:${string}`;
  /** Translations of all it says: its name, the titles of its settings, and what it gives to `t`. */
  readonly texts?: Texts;
  readonly settings?: S;
  /**
   * Cells of the wall, `[columns, rows]`: what a new tile takes, and between what the editor lets it be
   * resized. On a phone `min` counts three times and only across. A layout may say otherwise.
   */
  readonly size: {
    readonly default: readonly [number, number];
    readonly min?: readonly [number, number];
    readonly max?: readonly [number, number];
  };
  /** CSS for the widget's own shadow root. Colours, space and type come from `--mantel-*`. */
  readonly styles?: string;
  /** Grows when the shape of the kept state changes; another version is not handed over. */
  readonly stateVersion?: number;
  /** Draws at once, and again through `ctx.effect`. What it throws becomes an error tile. */
  mount(root: ShadowRoot, ctx: WidgetContext<S, Kept>): void | WidgetHandle<Kept>;
}

/** Defines a widget. Make it the default export of the widget entry. */
export function defineWidget<S extends Settings = Record<never, never>, Kept = unknown>(
  definition: WidgetDefinition<S, Kept>,
): WidgetDefinition<S, Kept> {
  return definition;
}
