import { computed, effect, type Signal, signal } from "@preact/signals-core";
import { fullChannelName } from "../channel-names.ts";
import { createFormats } from "../format.ts";
import type { Needs } from "../needs.ts";
import { type ProvidedService, serviceKey } from "../service.ts";
import { valuesOf } from "../setting-values.ts";
import { type FakeDevice, toDevice } from "../testing-device.ts";
import { callFake } from "../testing-service.ts";
import { translate } from "../translate.ts";
import { noAccess, WidgetPermissions } from "../widget-permissions.ts";
import type {
  RoomOrGroup,
  CameraPicture,
  CommandBody,
  CommandResult,
  Device,
  Settings,
  TileSize,
  WidgetContext,
  WidgetDefinition,
} from "../widget.ts";

/** The home and the tile of a widget under test. All fields are optional. */
export interface WidgetTestOptions {
  /** The tile's settings. Absent and invalid ones become their defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly size?: Partial<TileSize>;
  readonly devices?: readonly FakeDevice[];
  /** Values of channels, by name as in `ctx.channel`, such as `headlines`, `weather/forecast` or `calendar`. */
  readonly channels?: Readonly<Record<string, unknown>>;
  /** Fakes of the services that the widget calls, each as `provide(definition, handler)`. */
  readonly services?: readonly ProvidedService[];
  /** The answers of `ctx.read`, by path: JSON, or the `Blob` of a picture. */
  readonly reads?: Readonly<Record<string, unknown>>;
  /** The id of the widget's plugin, with which its own channels begin; absent means `own`. */
  readonly plugin?: string;
  /**
   * The needs of the widget. Absent means those of the plugin's manifest: of the `package.json` in the folder in which the
   * test runs or, in Chromium, above the widget. Without a manifest everything is permitted.
   */
  readonly needs?: Needs;
  readonly theme?: "dark" | "light" | "night";
  /** Absent means `en-GB`. */
  readonly locale?: string;
  /** Absent means UTC. */
  readonly timeZone?: string;
  readonly units?: "metric" | "imperial";
  readonly online?: boolean;
  /** The value of `ctx.now()` at the beginning, which `advance` changes. Absent means the real time. */
  readonly now?: number;
  /** The value of `ctx.handedOver`. */
  readonly handedOver?: unknown;
}

/** A command that the widget sent with `ctx.command`. */
export interface RecordedCommand {
  readonly id: string;
  readonly command: CommandBody;
}

/** A command that the widget sent with `ctx.commandRoom`. */
export interface RecordedRoomCommand {
  readonly room: RoomOrGroup;
  readonly kind: string;
  readonly command: CommandBody;
}

/** The actions of a widget under test: its commands, scenes, announcements and faults. */
export interface Recorded {
  readonly commands: RecordedCommand[];
  readonly roomCommands: RecordedRoomCommand[];
  /** The ids of activated scenes. */
  readonly scenes: string[];
  /** The sentences for screen readers. */
  readonly announced: string[];
  /** Errors in effects, timers and listeners, and those of `ctx.log.error`. */
  readonly faults: unknown[];
}

type Context = WidgetContext<Settings, unknown>;
type Query = Parameters<Context["devices"]>[0];
type AnyWidget = Pick<WidgetDefinition<Settings, unknown>, "settings" | "texts" | "name">;
interface Timer {
  readonly ms: number;
  readonly run: () => void;
  readonly whenHidden: boolean;
  dueAt: number;
}

const SIZE: TileSize = { cols: 4, rows: 4, width: 400, height: 250, shape: "card" };
const NO_PICTURE: CameraPicture = { bitmap: undefined, takenAt: undefined, failed: false };

/** The context of a widget under test. Commands change the device at once. It refuses what a frame would refuse. */
export class FakeContext {
  readonly recorded: Recorded = {
    commands: [],
    roomCommands: [],
    scenes: [],
    announced: [],
    faults: [],
  };
  readonly settings: Signal<Readonly<Record<string, unknown>>>;
  readonly size: Signal<TileSize>;
  readonly visible = signal(true);
  readonly theme: Signal<"dark" | "light" | "night">;
  readonly online: Signal<boolean>;
  readonly locale: Signal<string>;
  readonly timeZone: Signal<string>;
  readonly context: Context;
  readonly #options: WidgetTestOptions;
  readonly #plugin: string;
  /** Absent without needs; then everything is permitted. */
  readonly #permitted: WidgetPermissions | undefined;
  readonly #hinted = new Set<string>();
  readonly #devices = signal<ReadonlyMap<string, Device>>(new Map());
  readonly #channels = new Map<string, Signal<unknown>>();
  readonly #ended = new AbortController();
  readonly #releases: (() => void)[] = [];
  readonly #timers = new Set<Timer>();
  #passedMs = 0;

  constructor(widget: AnyWidget, options: WidgetTestOptions) {
    this.#options = options;
    this.#plugin = options.plugin ?? "own";
    this.#permitted = options.needs && new WidgetPermissions(options.needs, this.#plugin);
    this.settings = signal(options.settings ?? {});
    this.size = signal({ ...SIZE, ...options.size });
    this.theme = signal(options.theme ?? "dark");
    this.online = signal(options.online ?? true);
    this.locale = signal(options.locale ?? "en-GB");
    this.timeZone = signal(options.timeZone ?? "UTC");
    for (const device of options.devices ?? []) this.setDevice(device);
    for (const [name, value] of Object.entries(options.channels ?? {})) {
      this.setChannel(name, value);
    }
    this.context = this.#create(widget);
  }

  /** Adds or replaces a device. */
  setDevice(device: FakeDevice): void {
    this.#devices.value = new Map([...this.#devices.value, [device.id, toDevice(device)]]);
  }

  removeDevice(id: string): void {
    this.#devices.value = new Map([...this.#devices.value].filter(([each]) => each !== id));
  }

  /** Changes a channel; `undefined` means that it is gone. */
  setChannel(name: string, value: unknown): void {
    this.#channel(name).value = value;
  }

  /** Runs what `ctx.every` has set, as if this time had passed. */
  advance(ms: number): void {
    const end = this.#passedMs + ms;
    const next = (): Timer | undefined =>
      [...this.#timers].filter(({ dueAt }) => dueAt <= end).toSorted(byTime)[0];
    for (let timer = next(); timer; timer = next()) {
      this.#passedMs = timer.dueAt;
      timer.dueAt += timer.ms;
      if (this.visible.peek() || timer.whenHidden) timer.run();
    }
    this.#passedMs = end;
  }

  /** Registers a function that runs at the end. */
  onEnd(release: () => void): void {
    this.#releases.push(release);
  }

  end(): void {
    this.#ended.abort();
    this.#timers.clear();
    for (const release of this.#releases.splice(0).toReversed()) release();
  }

  #create(widget: AnyWidget): Context {
    const { size, visible, theme, online, locale, timeZone, recorded } = this;
    const { now: startedAt } = this.#options;
    const now = (): number => (startedAt === undefined ? Date.now() : startedAt + this.#passedMs);
    const formats = computed(() =>
      createFormats({
        locale: locale.value,
        timeZone: timeZone.value,
        units: this.#options.units ?? "metric",
        now,
      }),
    );
    return {
      instance: "tile",
      version: "test",
      settings: computed(() => valuesOf(widget.settings ?? {}, this.settings.value)) as never,
      size,
      visible,
      theme,
      online,
      locale,
      timeZone,
      now,
      handedOver: this.#options.handedOver,
      signal: this.#ended.signal,
      device: (id) => computed(() => this.#seen().find((device) => device.id === id)),
      devices: (query) => computed(() => this.#matching(query)),
      channel: (name: string) => this.#readable(name) as never,
      picture: () => signal(NO_PICTURE),
      command: async (id, command) => answered(() => this.#command(id, command)),
      commandRoom: async (room, kind, command) =>
        answered(() => {
          this.#permitted?.requireRoom(room, kind);
          recorded.roomCommands.push({ room, kind, command });
          return { ok: true };
        }),
      scene: async (id) =>
        answered(() => {
          this.#permitted?.requireScenes();
          recorded.scenes.push(id);
          return { ok: true };
        }),
      call: async (service, input) => {
        this.#permitted?.requireService(serviceKey(service));
        return callFake(this.#options.services ?? [], serviceKey(service), input) as never;
      },
      read: async (path) => this.#read(path),
      t: (text, values) => translate(text, { ...widget, values, locale: locale.value }),
      get fmt() {
        return formats.value;
      },
      effect: (draw) => this.onEnd(this.#effect(draw)),
      every: (ms, run, { whenHidden = false } = {}) => {
        this.#timers.add({ ms, run: this.#guarded(run), whenHidden, dueAt: this.#passedMs + ms });
      },
      on: (target, type, run) =>
        target.addEventListener(type, this.#guarded(run as EventListener), {
          signal: this.#ended.signal,
        }),
      onCleanup: (release) => this.onEnd(release),
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (error) => recorded.faults.push(error),
      },
      announce: (text) => recorded.announced.push(text),
    };
  }

  #channel(name: string): Signal<unknown> {
    const full = fullChannelName(name, this.#plugin);
    const known = this.#channels.get(full) ?? signal<unknown>(undefined);
    this.#channels.set(full, known);
    return known;
  }

  /** The channel of the widget, which has no value if it is not among its needs. */
  #readable(name: string): Signal<unknown> {
    const full = fullChannelName(name, this.#plugin);
    const channels = this.#permitted?.channels.map((each) => fullChannelName(each, this.#plugin));
    if (!channels || channels.includes(full)) return this.#channel(name);
    const own = `${this.#plugin}/`;
    const toDeclare = full.startsWith(own) ? full.slice(own.length) : full;
    this.#hint(`the channel ${toDeclare}`, { channels: [toDeclare] });
    return signal(undefined);
  }

  /** The devices that the widget may see. */
  #seen(): readonly Device[] {
    const all = [...this.#devices.value.values()];
    if (!this.#permitted) return all;
    if (!this.#options.needs?.devices?.includes("read"))
      this.#hint("devices", { devices: ["read"] });
    return this.#permitted.seen(all);
  }

  #hint(what: string, needs: Needs): void {
    if (this.#hinted.has(what)) return;
    this.#hinted.add(what);
    console.warn(noAccess(what, needs));
  }

  #matching({ kind, room, group }: Query = {}): readonly Device[] {
    return this.#seen().filter(
      (device) =>
        (kind === undefined || device.kind === kind) &&
        (room === undefined || device.room === room) &&
        (group === undefined || device.groups.includes(group)),
    );
  }

  #command(id: string, command: CommandBody): CommandResult {
    const device = this.#devices.peek().get(id);
    this.#permitted?.requireCommand(id, device);
    this.recorded.commands.push({ id, command });
    if (!device) {
      const message = `no device has the id ${id}`;
      return { ok: false, error: { code: "device_unknown", message } };
    }
    const { parts: _parts, extra: _extra, ...own } = command;
    const changed = { ...device, state: { ...device.state, ...(own as Device["state"]) } };
    this.setDevice(changed);
    return { ok: true, device: changed };
  }

  #read(path: string): Response {
    this.#permitted?.documentAt(path, (id) => this.#devices.peek().get(id));
    const answer = this.#options.reads?.[path];
    if (answer === undefined) throw new Error(`nothing answers ${path}; pass it under "reads"`);
    return answer instanceof Blob ? new Response(answer) : Response.json(answer);
  }

  /** Throws errors of the first run, as the dashboard does, which then shows an error tile. */
  #effect(draw: () => void | (() => void)): () => void {
    let isFirst = true;
    const stop = effect(() => {
      try {
        return draw();
      } catch (error) {
        if (isFirst) throw error;
        this.recorded.faults.push(error);
        return undefined;
      }
    });
    isFirst = false;
    return stop;
  }

  #guarded<A extends unknown[]>(run: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        run(...args);
      } catch (error) {
        this.recorded.faults.push(error);
      }
    };
  }
}

const byTime = (one: Timer, other: Timer): number => one.dueAt - other.dueAt;

/** The result of a command, or the refusal of a need that is missing. */
function answered(work: () => CommandResult): CommandResult {
  try {
    return work();
  } catch (error) {
    const { code = "internal", message } = error as { code?: string; message: string };
    return { ok: false, error: { code, message } };
  }
}
