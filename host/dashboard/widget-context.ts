import type { Channels, Device, Settings, WidgetContext } from "@mantel/plugin-sdk/widget";
import { computed, type ReadonlySignal } from "@preact/signals-core";
import type { Api } from "./api.ts";
import type { ChannelSet } from "./channels.ts";
import type { Commands } from "./commands.ts";
import { createFormats } from "./format.ts";
import { currentLocale as locale } from "./i18n/language.ts";
import { valuesOf } from "./setting-values.ts";
import type { Store } from "./store.ts";
import type { Theme } from "./theme.ts";

type Context = WidgetContext<Record<string, never>, unknown>;
type Channel<N extends keyof Channels> = ReadonlySignal<Channels[N] | undefined>;
type Shared = Pick<
  Context,
  | "theme"
  | "online"
  | "locale"
  | "timeZone"
  | "device"
  | "devices"
  | "channel"
  | "command"
  | "scene"
  | "announce"
>;

interface Parts {
  readonly api: Pick<Api, "open">;
  readonly store: Store;
  readonly channels: Pick<ChannelSet, "get">;
  readonly commands: Pick<Commands, "send" | "activateScene">;
  readonly theme: ReadonlySignal<Theme>;
  readonly online: ReadonlySignal<boolean>;
  readonly timeZone: ReadonlySignal<string>;
  readonly announce: (text: string) => void;
}

const READ_MS = 15_000;

/** State shared by all widgets of the page. */
export class WidgetContexts {
  readonly shared: Shared;
  readonly formats: ReadonlySignal<Context["fmt"]>;
  /** All devices, including hidden ones. */
  readonly allDevices: ReadonlySignal<readonly Device[]>;
  readonly units: ReadonlySignal<"metric" | "imperial">;
  readonly #api: Pick<Api, "open">;

  constructor({ api, store, channels, commands, theme, online, timeZone, announce }: Parts) {
    this.#api = api;
    const modules = store.modules();
    this.allDevices = store.allDevices();
    this.units = computed(() => store.ui.value.units ?? "metric");
    this.formats = computed(() =>
      createFormats({
        locale: locale.value,
        timeZone: timeZone.value,
        units: this.units.value,
      }),
    );
    this.shared = {
      theme,
      online,
      locale,
      timeZone,
      device: (id) => store.device(id),
      devices: (query) => store.devices(query),
      channel: <N extends keyof Channels>(name: N) =>
        (name === "modules" ? modules : channels.get(name)) as Channel<N>,
      command: (id, command) => commands.send(id, command),
      scene: (id) => commands.activateScene(id),
      announce,
    };
  }

  /** Reads from the host for a widget, until `signal` aborts or 15 s have passed. */
  read(path: string, signal: AbortSignal): Promise<Response> {
    return this.#api.open(path, {}, AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]));
  }

  /** The settings of a widget from its tile's config. */
  settings(
    settings: Settings,
    config: ReadonlySignal<Readonly<Record<string, unknown>>>,
  ): Context["settings"] {
    return computed(() => valuesOf(settings, config.value)) as Context["settings"];
  }
}
