import type { Channels, Scene } from "@mantel/plugin-sdk/widget";
import { signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import { type Api, ApiError } from "./api.ts";
import { now } from "./home-time.ts";

/** The store holds the modules, because every tile needs them. */
type ChannelName = Exclude<keyof Channels, "modules">;
type Readers = {
  readonly [N in ChannelName]: (
    api: Api,
    calendarSettings: CalendarSettings,
  ) => Promise<Channels[N] | undefined>;
};

/** Settings that the calendar's time range depends on. */
export interface CalendarSettings {
  readonly timeZone: string;
  readonly calendarDays: number;
}

const DAY_MS = 86_400_000;

const READERS: Readers = {
  scenes: async (api) => (await api.get("/smart-home/scenes")).scenes as readonly Scene[],
  async calendar(api, { timeZone, calendarDays }) {
    const start = dayOf(now(), timeZone);
    const end = new Date(Date.parse(start) + calendarDays * DAY_MS).toISOString().slice(0, 10);
    const query = new URLSearchParams({ start, end, tz: timeZone });
    const { window, events, sources } = await api.get(`/calendar/events?${query}`);
    return { start: window.start, end: window.end, events, sources };
  },
};

interface PluginChannel {
  readonly value: Signal<unknown>;
  /** The revision of the value; 0 without one. Values can arrive by an answer and by an event, in any order. */
  revision: number;
}

/** Live data other than devices. A channel is first read when a widget uses it. */
export class ChannelSet {
  readonly #api: Api;
  readonly #calendarSettings: () => CalendarSettings;
  /** The channels that are read with the API. */
  readonly read = new Map<ChannelName, Signal<unknown>>();
  /** The channels of plugins, by `plugin/name`. */
  readonly ofPlugins = new Map<string, PluginChannel>();

  constructor(api: Api, calendarSettings: () => CalendarSettings) {
    this.#api = api;
    this.#calendarSettings = calendarSettings;
  }

  get<N extends ChannelName>(name: N): ReadonlySignal<Channels[N] | undefined> {
    const known = this.read.get(name);
    if (known) return known as Signal<Channels[N] | undefined>;
    const value = signal<Channels[N] | undefined>(undefined);
    this.read.set(name, value);
    void this.refresh(name);
    return value;
  }

  /** A channel of a plugin, by `plugin/name`. */
  getOfPlugin(name: string): ReadonlySignal<unknown> {
    const known = this.ofPlugins.get(name);
    if (known) return known.value;
    const channel = { value: signal<unknown>(undefined), revision: 0 };
    this.ofPlugins.set(name, channel);
    void this.#refreshOfPlugin(name, channel);
    return channel.value;
  }

  /** True if a widget uses this channel of a plugin. */
  isUsed(name: string): boolean {
    return this.ofPlugins.has(name);
  }

  /** Stores a value of a plugin's channel that the event stream sent; `undefined` if the channel is gone. */
  put(name: string, value: unknown, revision: number): void {
    const channel = this.ofPlugins.get(name);
    if (!channel || (value !== undefined && revision < channel.revision)) return;
    channel.value.value = value;
    channel.revision = revision;
  }

  /** Reads a channel again if a widget uses it. Keeps the last value on failure. */
  async refresh(name: ChannelName): Promise<void> {
    const known = this.read.get(name);
    if (!known) return;
    try {
      known.value = await READERS[name](this.#api, this.#calendarSettings());
    } catch (error) {
      console.warn(`could not read the channel ${name}`, error);
    }
  }

  refreshAll(): void {
    for (const name of this.read.keys()) void this.refresh(name);
    for (const [name, channel] of this.ofPlugins) void this.#refreshOfPlugin(name, channel);
  }

  /** Keeps the last value on failure, except for a channel that no plugin provides. */
  async #refreshOfPlugin(name: string, channel: PluginChannel): Promise<void> {
    const [plugin, own] = name.split("/").map(encodeURIComponent);
    try {
      const { value, revision } = await this.#api.get(`/channels/${plugin}/${own}`);
      if (revision !== null) return this.put(name, value, revision);
      if (channel.revision === 0) channel.value.value = undefined;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) channel.value.value = undefined;
      else console.warn(`could not read the channel ${name}`, error);
    }
  }

  /** Marks a scene as the one activated last. */
  sceneActivated(id: string): void {
    const known = this.read.get("scenes") as Signal<readonly Scene[] | undefined> | undefined;
    const lastActivatedAt = new Date(now()).toISOString();
    if (!known?.value) return;
    known.value = known.value.map((scene) =>
      scene.id === id ? { ...scene, lastActivatedAt } : scene,
    );
  }
}

/** The date in a time zone, such as `2026-11-20`. */
export function dayOf(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone }).format(at);
}
