import type { Device, CommandBody } from "@mantel/plugin-sdk/device";
import type { WidgetContext } from "@mantel/plugin-sdk/widget";
import { batch, computed, signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { ModuleView } from "../api/module.ts";
import { titleIn } from "./i18n/language.ts";
import type { Layout } from "./layout.ts";
import { withPending } from "./pending.ts";

type DeviceQuery = Parameters<WidgetContext<never, never>["devices"]>[0];

/** The `ui` section of the config. */
export interface UiSettings {
  readonly theme?: "auto" | "dark" | "light" | "night";
  readonly locale?: string;
  readonly timeZone?: string;
  readonly units?: "metric" | "imperial";
  readonly night?: { readonly from: string; readonly to: string } | null;
  readonly idleSeconds?: number;
  readonly accent?: "amber" | "coral" | "rose" | "violet" | "blue" | "teal" | "green";
  readonly wallpaper?: { readonly name: string; readonly album?: string };
  readonly screensaver?: "clock" | "photos";
}

/** One device: the host's state, the pending values of this page, and both combined as drawn. */
interface DeviceEntry {
  host: Device | undefined;
  asked: CommandBody;
  readonly shown: Signal<Device | undefined>;
}

/** The matching devices. `changes` increases when a device that matches or matched has changed. */
interface DeviceList {
  readonly fits: (device: Device) => boolean;
  readonly changes: Signal<number>;
  readonly devices: ReadonlySignal<readonly Device[]>;
}

/**
 * The browser's copy of devices, modules, layout and settings, with one signal for each drawn part.
 */
export class Store {
  readonly layout = signal<Layout | undefined>(undefined);
  readonly ui = signal<UiSettings>({});
  /** The time of the saved home that is shown until the host answers; `undefined` for the present home. */
  readonly savedAt = signal<number | undefined>(undefined);
  readonly #modules = new Map<string, Signal<ModuleView | undefined>>();
  readonly #namedModules = new Map<string, ReadonlySignal<ModuleView | undefined>>();
  readonly #moduleIds = signal<readonly string[]>([]);
  readonly #devices = new Map<string, DeviceEntry>();
  readonly #lists = new Map<string, DeviceList>();

  /** A device, with the values requested by this page under `pending`. */
  device(id: string): ReadonlySignal<Device | undefined> {
    return this.#entry(id).shown;
  }

  /** The matching devices that are not hidden, in the host's order. */
  devices({ kind, room, group }: DeviceQuery = {}): ReadonlySignal<readonly Device[]> {
    return this.#listed(
      JSON.stringify([kind, room, group]),
      (device) =>
        device.hidden !== true &&
        (kind === undefined || device.kind === kind) &&
        (room === undefined || device.room === room) &&
        (group === undefined || device.groups.includes(group)),
    );
  }

  /** All devices, including hidden ones. */
  allDevices(): ReadonlySignal<readonly Device[]> {
    return this.#listed("all", () => true);
  }

  /** A module, under its name in the current language. */
  module(id: string): ReadonlySignal<ModuleView | undefined> {
    const known = this.#namedModules.get(id);
    if (known) return known;
    const module = this.#moduleSignal(id);
    const shown = computed(() => {
      const view = module.value;
      return view && { ...view, name: titleIn(view.id, view.name, view.titles) };
    });
    this.#namedModules.set(id, shown);
    return shown;
  }

  /** All modules, by name. */
  modules(): ReadonlySignal<readonly ModuleView[]> {
    return computed(() =>
      this.#moduleIds.value
        .map((id) => this.module(id).value)
        .filter((module) => module !== undefined)
        .toSorted((a, b) => a.name.localeCompare(b.name)),
    );
  }

  replaceDevices(devices: readonly Device[]): void {
    batch(() => {
      const present = new Set(devices.map(({ id }) => id));
      const known = new Map(this.#devices);
      this.#devices.clear(); // restores the host's order
      for (const device of devices)
        this.#devices.set(device.id, known.get(device.id) ?? newEntry());
      for (const [id, entry] of known) if (!present.has(id)) this.#devices.set(id, entry);
      for (const id of known.keys()) if (!present.has(id)) this.#change(id, { host: undefined });
      for (const device of devices) this.#change(device.id, { host: device });
    });
  }

  /** Stores a device from an event or an answer. Ignores one that is older than the current one. */
  putDevice(device: Device): void {
    const entry = this.#entry(device.id);
    if (entry.host && entry.host.revision > device.revision) return;
    if (!entry.host) this.#devices.delete(device.id); // a new device comes last
    this.#devices.set(device.id, entry);
    this.#change(device.id, { host: device });
  }

  removeDevice(id: string): void {
    this.#change(id, { host: undefined });
  }

  /** Replaces the pending values of this page for a device. */
  setPending(id: string, fields: CommandBody): void {
    this.#change(id, { asked: fields });
  }

  replaceModules(modules: readonly ModuleView[]): void {
    batch(() => {
      const present = new Map(modules.map((module) => [module.id, module]));
      for (const [id, module] of this.#modules) module.value = present.get(id);
      for (const module of modules) this.putModule(module);
    });
  }

  putModule(module: ModuleView): void {
    batch(() => {
      this.#moduleSignal(module.id).value = module;
      const ids = this.#moduleIds.peek();
      if (!ids.includes(module.id)) this.#moduleIds.value = [...ids, module.id];
    });
  }

  removeModule(id: string): void {
    this.#moduleSignal(id).value = undefined;
  }

  /** All callers share one list, which is rebuilt only after a change. */
  #listed(name: string, fits: DeviceList["fits"]): ReadonlySignal<readonly Device[]> {
    const known = this.#lists.get(name);
    if (known) return known.devices;
    const changes = signal(0);
    const devices = computed(() => {
      void changes.value;
      return [...this.#devices.values()]
        .map(({ shown }) => shown.peek())
        .filter((device) => device !== undefined)
        .filter(fits);
    });
    this.#lists.set(name, { fits, changes, devices });
    return devices;
  }

  #change(id: string, change: Partial<Pick<DeviceEntry, "host" | "asked">>): void {
    const entry = Object.assign(this.#entry(id), change);
    const before = entry.shown.peek();
    const now = entry.host && withPending(entry.host, entry.asked);
    batch(() => {
      entry.shown.value = now;
      for (const { fits, changes } of this.#lists.values()) {
        if ((before && fits(before)) || (now && fits(now))) changes.value++;
      }
    });
  }

  #entry(id: string): DeviceEntry {
    const known = this.#devices.get(id) ?? newEntry();
    this.#devices.set(id, known);
    return known;
  }

  #moduleSignal(id: string): Signal<ModuleView | undefined> {
    const known = this.#modules.get(id) ?? signal<ModuleView | undefined>(undefined);
    this.#modules.set(id, known);
    return known;
  }
}

function newEntry(): DeviceEntry {
  return { host: undefined, asked: {}, shown: signal<Device | undefined>(undefined) };
}
