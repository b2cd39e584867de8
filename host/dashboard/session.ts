import type { StreamEvent } from "@mantel/plugin-sdk/client/event-stream";
import type { Device } from "@mantel/plugin-sdk/device";
import type { WidgetContext } from "@mantel/plugin-sdk/widget";
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals-core";
import type { ModuleView, WidgetView } from "../api/module.ts";
import type { Api } from "./api.ts";
import { Batcher } from "./batcher.ts";
import { ChannelSet, dayOf } from "./channels.ts";
import type { Commands } from "./commands.ts";
import { Connection, type ConnectionState } from "./connection.ts";
import { displayOf, settingsOn, layoutOn } from "./display/choice.ts";
import { type ChannelData, channelOf, dataOf } from "./event-data.ts";
import { now } from "./home-time.ts";
import { rememberLocale } from "./i18n/page.ts";
import { words } from "./i18n/shell.ts";
import type { Display, Layout } from "./layout.ts";
import { Store, type UiSettings } from "./store.ts";
import { rememberTheme, ThemeClock } from "./theme.ts";
import { type Box, type DetailsTarget, WidgetContexts } from "./widget-context.ts";

/** The part of the config that the dashboard reads. */
interface Config {
  readonly ui: UiSettings;
  readonly calendar?: { readonly defaultDays?: number };
}

/** The signed-in user and the language. */
interface Visit {
  readonly mayControl: boolean;
  readonly mayEdit: boolean;
  readonly mayAdminister: boolean;
  /** The name of the token. */
  readonly name: string | undefined;
  /** True if it is a paired display. */
  readonly isPaired: boolean;
  readonly announce: (text: string) => void;
}

const DEFAULT_CALENDAR_DAYS = 14;
const READ_AGAIN_MS = 5_000;

/** One visit with a token: the state of the home, kept current by the event stream. */
export class Session {
  readonly store = new Store();
  readonly theme: ThemeClock;
  /** The display in the layout for this screen, if there is one. */
  readonly display: ReadonlySignal<Display | undefined>;
  /** The layout as this screen shows it. */
  readonly shown: ReadonlySignal<Layout | undefined>;
  readonly channels: ChannelSet;
  readonly contexts: WidgetContexts;
  /** Counts the changes of runs of automations. */
  readonly runs = signal(0);
  /** True if this visit may control devices. */
  readonly mayControl: boolean;
  /** True if this visit may edit the layout. It then also shows module problems. */
  readonly mayEdit: boolean;
  /** True if this visit may rename devices and put them into rooms. */
  readonly mayAdminister: boolean;
  /** True if this screen was paired as a display. */
  readonly isPaired: boolean;
  readonly api: Api;
  readonly #connection: Connection;
  readonly #timeZone: ReadonlySignal<string>;
  readonly #calendarDays = signal(DEFAULT_CALENDAR_DAYS);
  /** Changes from events are drawn in batches. */
  readonly #events = new Batcher<StreamEvent>((events) =>
    batch(() => events.forEach((event) => this.#apply(event))),
  );
  /** Events that arrived while a snapshot was loading; `undefined` if none is loading. */
  #pendingEvents: StreamEvent[] | undefined;
  #stale = false;

  constructor(api: Api, { mayControl, mayEdit, mayAdminister, name, isPaired, announce }: Visit) {
    this.api = api;
    this.mayControl = mayControl;
    this.mayEdit = mayEdit;
    this.mayAdminister = mayAdminister;
    this.isPaired = isPaired;
    const { store } = this;
    this.#timeZone = computed(
      () => store.ui.value.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    );
    const displayInAddress = new URLSearchParams(location.search).get("display");
    this.display = computed(() => displayOf(store.layout.value, { displayInAddress, name }));
    this.shown = computed(
      () => store.layout.value && layoutOn(this.display.value, store.layout.value),
    );
    const ui = computed(() => settingsOn(this.display.value, store.ui.value));
    this.theme = new ThemeClock(ui, this.#timeZone);
    this.channels = new ChannelSet(api, () => ({
      timeZone: this.#timeZone.peek(),
      calendarDays: this.#calendarDays.peek(),
    }));
    this.#connection = new Connection(api, {
      opened: (resumed) => {
        if (!resumed) void this.#loadAll();
      },
      event: (event) => this.#take(event),
    });
    this.contexts = new WidgetContexts({
      api,
      store,
      channels: this.channels,
      commands: laterCommands(async () => {
        const { Commands: Loaded } = await import("./soon.ts");
        return new Loaded(api, store, () => this.#events.sendWithoutDelay());
      }),
      theme: this.theme.theme,
      online: computed(() => this.link.value.state === "live"),
      timeZone: this.#timeZone,
      announce,
      openDetails: (target, box) => void this.#openDetails(target, box),
      commandRoom: async (room, kind, command) => {
        const { commandRoom } = await import("./details/room-command.ts");
        const place = typeof room === "string" ? { room } : room;
        return commandRoom(this, { place, kind, command });
      },
    });
    this.#refreshCalendarAtMidnight();
  }

  get link(): ReadonlySignal<ConnectionState> {
    return this.#connection.link;
  }

  get formats(): ReadonlySignal<WidgetContext<never, never>["fmt"]> {
    return this.contexts.formats;
  }

  async #openDetails(target: DetailsTarget, box: Box): Promise<void> {
    try {
      const { openDetails } = await import("./ready.ts");
      openDetails(this, target, box);
    } catch (error) {
      console.error("could not open the details", error);
      this.contexts.shared.announce(words.peek().detailsFailed);
    }
  }

  async reloadModule(id: string): Promise<void> {
    await this.api.post(`/modules/${encodeURIComponent(id)}/reload`);
  }

  close(): void {
    this.#connection.close();
  }

  /**
   * Loads all data again. Events that arrive in the meantime are applied afterwards, in order. A
   * request during loading causes one more load, so that the newest snapshot always comes last.
   */
  async #loadAll(): Promise<void> {
    if (this.#pendingEvents) {
      this.#stale = true;
      return;
    }
    this.#pendingEvents = [];
    this.#events.drop(); // older than the data that will be read
    this.#stale = false;
    const loaded = await this.#readHome().catch((error: unknown) => {
      console.warn("could not load the state of the home", error);
      setTimeout(() => void this.#loadAll(), READ_AGAIN_MS);
      return false;
    });
    const pendingEvents = this.#pendingEvents;
    this.#pendingEvents = undefined;
    if (loaded) for (const event of pendingEvents) this.#apply(event);
    if (this.#stale) await this.#loadAll();
  }

  async #readHome(): Promise<boolean> {
    const [modules, devices, layout] = await Promise.all([
      this.api.get("/modules"),
      this.api.get("/smart-home/devices"),
      this.api.get("/layout"),
      this.#loadConfig(),
    ]);
    this.store.replaceModules(modules.modules);
    this.store.replaceDevices(devices.devices);
    this.store.layout.value = layout;
    this.store.savedAt.value = undefined;
    this.channels.refreshAll();
    return true;
  }

  async #loadConfig(): Promise<void> {
    const answer = await this.api.get("/config");
    const config = answer.config as unknown as Config;
    this.#calendarDays.value = config.calendar?.defaultDays ?? DEFAULT_CALENDAR_DAYS;
    this.store.ui.value = config.ui;
    rememberTheme(config.ui.theme);
    rememberLocale(config.ui.locale);
  }

  async #loadLayout(): Promise<void> {
    this.store.layout.value = await this.api.get("/layout");
  }

  #take(event: StreamEvent): void {
    if (event.topic === "resync") void this.#loadAll();
    else if (this.#pendingEvents) this.#pendingEvents.push(event);
    else this.#events.add(event);
  }

  /** An invalid event is skipped; the following events are still applied. */
  #apply(event: StreamEvent): void {
    if (!Object.hasOwn(this.#appliers, event.topic)) return;
    if (event.topic === "channel" && !this.channels.isUsed(channelOf(event))) return;
    try {
      this.#appliers[event.topic]?.(dataOf(event) as never);
    } catch (error) {
      console.warn(`invalid event ${event.topic}; ignoring it`, error);
    }
  }

  readonly #appliers: Readonly<Record<string, (data: never) => unknown>> = {
    "device.state": ({ device }: { device: Device }) => this.store.putDevice(device),
    "device.added": ({ device }: { device: Device }) => this.store.putDevice(device),
    "device.removed": ({ id }: { id: string }) => this.store.removeDevice(id),
    "module.state": ({ module }: { module: ModuleView }) => this.store.putModule(module),
    "module.removed": ({ id }: { id: string }) => this.store.removeModule(id),
    "widget.updated": ({ module: id, ...widget }: { module: string } & WidgetView) => {
      const module = this.store.module(id).peek();
      if (module) this.store.putModule({ ...module, widget });
    },
    "layout.changed": () => logFailure(this.#loadLayout()),
    "config.changed": () => logFailure(this.#loadConfig()),
    "scene.activated": ({ sceneId }: { sceneId: string }) => this.channels.sceneActivated(sceneId),
    "scenes.changed": () => this.channels.refresh("scenes"),
    "automation.run": () => this.runs.value++,
    notification: async (data) =>
      (await import("./notification.ts")).showNotification(data, this.contexts.shared.announce),
    "calendar.updated": () => this.channels.refresh("calendar"),
    channel: ({ plugin, name, value, revision = 0 }: ChannelData) =>
      this.channels.put(`${plugin}/${name}`, value, revision),
  };

  #refreshCalendarAtMidnight(): void {
    const today = (): string => dayOf(now(), this.#timeZone.peek());
    let day = today();
    setInterval(() => {
      if (today() === day) return;
      day = today();
      void this.channels.refresh("calendar");
    }, 30_000);
  }
}

/** Logs a failed read. The document keeps its value until the next change or reconnection. */
function logFailure(work: Promise<void>): void {
  work.catch((error: unknown) => console.warn("could not read a change", error));
}

/** Commands whose code loads after the first paint. */
function laterCommands(load: () => Promise<Commands>): Pick<Commands, "send" | "activateScene"> {
  const loading = load();
  const notLoaded = () => ({ ok: false, error: { code: "offline", message: "" } });
  return {
    send: (id, command) => loading.then((loaded) => loaded.send(id, command)).catch(notLoaded),
    activateScene: (id) => loading.then((loaded) => loaded.activateScene(id)).catch(notLoaded),
  };
}
