import type {
  CalendarWindow,
  Channels,
  Scene,
  SystemSample,
  WeatherForecast,
} from "@mantel/plugin-sdk/widget";
import { signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { Api } from "./api.ts";

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
  system: (api) => api.get<SystemSample>("/system"),
  async weather(api) {
    const { forecast } = await api.get<{ forecast: WeatherForecast | null }>("/weather");
    return forecast ?? undefined;
  },
  scenes: async (api) => (await api.get<{ scenes: Scene[] }>("/smart-home/scenes")).scenes,
  async calendar(api, { timeZone, calendarDays }) {
    const start = dayOf(Date.now(), timeZone);
    const end = new Date(Date.parse(start) + calendarDays * DAY_MS).toISOString().slice(0, 10);
    const query = new URLSearchParams({ start, end, tz: timeZone });
    const { window, events, sources } = await api.get<CalendarAnswer>(`/calendar/events?${query}`);
    return { start: window.start, end: window.end, events, sources };
  },
};

interface CalendarAnswer {
  readonly window: { readonly start: string; readonly end: string };
  readonly events: CalendarWindow["events"];
  readonly sources: CalendarWindow["sources"];
}

/** Live data other than devices. A channel is first read when a widget uses it. */
export class ChannelSet {
  readonly #api: Api;
  readonly #calendarSettings: () => CalendarSettings;
  readonly #read = new Map<ChannelName, Signal<unknown>>();

  constructor(api: Api, calendarSettings: () => CalendarSettings) {
    this.#api = api;
    this.#calendarSettings = calendarSettings;
  }

  get<N extends ChannelName>(name: N): ReadonlySignal<Channels[N] | undefined> {
    const known = this.#read.get(name);
    if (known) return known as Signal<Channels[N] | undefined>;
    const value = signal<Channels[N] | undefined>(undefined);
    this.#read.set(name, value);
    void this.refresh(name);
    return value;
  }

  /** Stores a value that the event stream sent. */
  put<N extends ChannelName>(name: N, value: Channels[N]): void {
    const known = this.#read.get(name);
    if (known) known.value = value;
  }

  /** Reads a channel again if a widget uses it. Keeps the last value on failure. */
  async refresh(name: ChannelName): Promise<void> {
    const known = this.#read.get(name);
    if (!known) return;
    try {
      known.value = await READERS[name](this.#api, this.#calendarSettings());
    } catch (error) {
      console.warn(`could not read the channel ${name}`, error);
    }
  }

  refreshAll(): void {
    for (const name of this.#read.keys()) void this.refresh(name);
  }

  /** Marks a scene as the one activated last. */
  sceneActivated(id: string): void {
    const known = this.#read.get("scenes") as Signal<readonly Scene[] | undefined> | undefined;
    const lastActivatedAt = new Date().toISOString();
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
