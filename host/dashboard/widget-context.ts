import { createFormats } from "@mantel/plugin-sdk/format";
import type { ServiceDefinition } from "@mantel/plugin-sdk/service";
import { valuesOf } from "@mantel/plugin-sdk/setting-values";
import type { CameraPicture, Device, Settings, WidgetContext } from "@mantel/plugin-sdk/widget";
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals-core";
import type { Api } from "./api.ts";
import type { ChannelSet } from "./channels.ts";
import type { Commands } from "./commands.ts";
import { aheadMs, now } from "./home-time.ts";
import { currentLocale as locale } from "./i18n/language.ts";
import type { Store } from "./store.ts";
import type { Theme } from "./theme.ts";

type Context = WidgetContext<Record<string, never>, unknown>;
type Shared = Pick<
  Context,
  | "now"
  | "theme"
  | "online"
  | "locale"
  | "timeZone"
  | "device"
  | "devices"
  | "picture"
  | "command"
  | "commandRoom"
  | "scene"
  | "call"
  | "announce"
>;

/** A rectangle in CSS pixels of the window. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A room, whose name is `""` for the whole home, or a group. */
export type Place = { readonly room: string } | { readonly group: string };

/** The subject of a details sheet: a device, or the lights of a room or group. */
export type DetailsTarget = { readonly device: string } | Place;

interface Parts {
  readonly api: Pick<Api, "open" | "post">;
  readonly store: Store;
  readonly channels: Pick<ChannelSet, "get" | "getOfPlugin">;
  readonly commands: Pick<Commands, "send" | "activateScene">;
  readonly theme: ReadonlySignal<Theme>;
  readonly online: ReadonlySignal<boolean>;
  readonly timeZone: ReadonlySignal<string>;
  readonly announce: (text: string) => void;
  /** Opens the details of a device or a room, which grow from `box`. */
  readonly openDetails: (target: DetailsTarget, box: Box) => void;
  readonly commandRoom: Context["commandRoom"];
}

const READ_MS = 15_000;
const NO_PICTURE: CameraPicture = { bitmap: undefined, takenAt: undefined, failed: false };
/** Longer than the longest deadline of a service. */
const CALL_MS = 65_000;

/** State shared by all widgets of the page. */
export class WidgetContexts {
  readonly shared: Shared;
  readonly formats: ReadonlySignal<Context["fmt"]>;
  /** All devices, including hidden ones. */
  readonly allDevices: ReadonlySignal<readonly Device[]>;
  readonly units: ReadonlySignal<"metric" | "imperial">;
  readonly aheadMs = aheadMs;
  /** Opens the details of a device or a room, which grow from `box`. */
  readonly openDetails: Parts["openDetails"];
  readonly #api: Pick<Api, "open" | "post">;
  readonly #channels: Parts["channels"];
  readonly #modules: ReadonlySignal<readonly unknown[]>;
  readonly #pictures = new Map<string, ReadonlySignal<CameraPicture>>();

  constructor(parts: Parts) {
    const { api, store, channels, commands, theme, online, timeZone, announce } = parts;
    this.#api = api;
    this.openDetails = parts.openDetails;
    this.#channels = channels;
    this.#modules = store.modules();
    this.allDevices = store.allDevices();
    this.units = computed(() => store.ui.value.units ?? "metric");
    this.formats = computed(() =>
      createFormats({
        locale: locale.value,
        timeZone: timeZone.value,
        units: this.units.value,
        now,
      }),
    );
    this.shared = {
      now,
      theme,
      online,
      locale,
      timeZone,
      device: (id) => store.device(id),
      devices: (query) => store.devices(query),
      picture: (id) => this.#picture(id),
      command: (id, command) => commands.send(id, command),
      commandRoom: (room, kind, command) => parts.commandRoom(room, kind, command),
      scene: (id) => commands.activateScene(id),
      call: async (service, input) =>
        (await this.#api.post(servicePath(service), input, CALL_MS)) as never,
      announce,
    };
  }

  /** The picture of a camera, which all tiles share. It is refreshed while the signal has readers. */
  #picture(id: string): ReadonlySignal<CameraPicture> {
    const known = this.#pictures.get(id);
    if (known) return known;
    let stop: Promise<() => void> | undefined;
    const picture = signal<CameraPicture>(NO_PICTURE, {
      watched: () => {
        stop = this.#refresh(id, picture);
      },
      unwatched: () => void stop?.then((end) => end()),
    });
    this.#pictures.set(id, picture);
    return picture;
  }

  async #refresh(id: string, picture: Signal<CameraPicture>): Promise<() => void> {
    const { refreshPicture } = await import("./pictures.ts");
    return refreshPicture(id, picture, { read: (path, ended) => this.read(path, ended), now });
  }

  /** A channel by its full name: one of the host's own, or `plugin/name`. */
  channel(name: string): ReadonlySignal<unknown> {
    if (name.includes("/")) return this.#channels.getOfPlugin(name);
    return name === "modules" ? this.#modules : this.#channels.get(name as "calendar" | "scenes");
  }

  /** Reads from the host for a widget, until `ended` aborts or 15 s have passed. */
  read(path: string, ended: AbortSignal): Promise<Response> {
    return this.#api.open(path, {
      signal: AbortSignal.any([ended, AbortSignal.timeout(READ_MS)]),
    });
  }

  /** The settings of a widget from its tile's config. */
  settings(
    settings: Settings,
    config: ReadonlySignal<Readonly<Record<string, unknown>>>,
  ): Context["settings"] {
    return computed(() => valuesOf(settings, config.value)) as Context["settings"];
  }
}

/** The path of a service below the API's prefix. */
function servicePath({ name, version }: ServiceName): string {
  return `/services/${version === 1 ? name : `${name}@${version}`}`;
}

/** The part of a service's definition that identifies it. */
export type ServiceName = Pick<ServiceDefinition, "name" | "version">;
