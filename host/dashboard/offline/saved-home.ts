import type { Device } from "@mantel/plugin-sdk/device";
import { batch, signal } from "@preact/signals-core";
import type { ModuleView } from "../../api/module.ts";
import type { ChannelSet } from "../channels.ts";
import type { Layout } from "../layout.ts";
import { visitNote } from "../signed-in.ts";
import type { Store, UiSettings } from "../store.ts";

/** The browser's cache with the home as the signed-in identity saw it last. */
const HOME_CACHE = "mantel-home";
const PATH = "/saved-home";
const FORMAT = 1;

/** The home as a page showed it, for the next start of that page without the host. */
interface SavedHome {
  readonly format: typeof FORMAT;
  /** The sign-in that saw it. It is shown to no other. */
  readonly visit: string;
  /** The time of the home, in epoch milliseconds. */
  readonly at: number;
  readonly ui: UiSettings;
  readonly layout: Layout;
  readonly modules: readonly ModuleView[];
  readonly devices: readonly Device[];
  /** The values of channels by name. */
  readonly channels: Readonly<Record<string, unknown>>;
  /** The values of channels of plugins by `plugin/name`. */
  readonly pluginChannels: Readonly<Record<string, unknown>>;
}

interface Home {
  readonly store: Store;
  readonly channels: ChannelSet;
}

/** Saves the home as it is `at` the time of the home. Does nothing where storage is full, forbidden or missing, and after the visit has ended. */
export async function saveHome(
  { store, channels }: Home,
  visit: string,
  at: number,
): Promise<void> {
  const layout = store.layout.peek();
  if (!layout || visitNote() !== visit) return;
  const home: SavedHome = {
    format: FORMAT,
    visit,
    at,
    ui: store.ui.peek(),
    layout,
    modules: store.modules().peek(),
    devices: store.allDevices().peek().map(withoutPending),
    channels: valuesOf(channels.read, (value) => value),
    pluginChannels: valuesOf(channels.ofPlugins, ({ value }) => value),
  };
  try {
    const cache = await caches.open(HOME_CACHE);
    if (visitNote() !== visit) return;
    await cache.put(PATH, Response.json(home));
  } catch (error) {
    console.info("could not save the home for a start without the host", error);
  }
}

/**
 * Shows the saved home, unless the host has answered. A home that another sign-in saved is deleted. Resolves with true if
 * it is shown.
 */
export async function showSavedHome({ store, channels }: Home, visit: string): Promise<boolean> {
  const home = await readHome(visit);
  if (!home || store.layout.peek()) return false;
  batch(() => {
    store.savedAt.value = home.at;
    store.ui.value = home.ui;
    store.replaceModules(home.modules);
    store.replaceDevices(home.devices);
    for (const [name, value] of Object.entries(home.channels))
      channels.read.set(name as "scenes", signal(value));
    for (const [name, value] of Object.entries(home.pluginChannels))
      channels.ofPlugins.set(name, { value: signal(value), revision: 0 });
    store.layout.value = home.layout;
  });
  return true;
}

/** Deletes the saved home after its identity has signed out. */
export async function deleteSavedHome(): Promise<void> {
  try {
    await caches.delete(HOME_CACHE);
  } catch {
    // missing or forbidden: no home is saved
  }
}

async function readHome(visit: string): Promise<SavedHome | undefined> {
  try {
    const cache = await caches.open(HOME_CACHE);
    const home = (await (await cache.match(PATH))?.json()) as SavedHome | undefined;
    if (home?.format === FORMAT && home.visit === visit) return home;
    await cache.delete(PATH);
  } catch (error) {
    console.info("could not read the saved home", error);
  }
  return undefined;
}

/** Drops pending values: when the connection ends they have failed, or are part of the next state. */
function withoutPending(device: Device): Device {
  const { parts, extra } = device;
  return {
    ...device,
    pending: {},
    ...(parts && { parts: parts.map((part) => ({ ...part, pending: {} })) }),
    ...(extra && { extra: { ...extra, pending: {} } }),
  };
}

function valuesOf<T>(
  channels: ReadonlyMap<string, T>,
  valueOf: (channel: T) => { peek(): unknown },
): Record<string, unknown> {
  const entries = [...channels].map(([name, channel]) => [name, valueOf(channel).peek()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
