import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import { batch, computed, signal, type ReadonlySignal, type Signal } from "@preact/signals-core";
import type { ModuleView } from "../modules/view.ts";
import type { Layout } from "./layout.ts";

/** The house's settings for screens, from the config's `ui` section. */
export interface UiSettings {
  readonly theme?: "auto" | "dark" | "light" | "night";
  readonly locale?: string;
  readonly timeZone?: string;
  readonly units?: "metric" | "imperial";
  readonly night?: { readonly from: string; readonly to: string } | null;
  readonly idleSeconds?: number;
}

/** One device: what the host says, what this page has asked for on top of it, and both as drawn. */
interface DeviceEntry {
  readonly host: Signal<Device | undefined>;
  readonly asked: Signal<DeviceState>;
  readonly shown: ReadonlySignal<Device | undefined>;
}

/** The browser's copy of devices, modules, layout and settings: one signal for each thing drawn. */
export class Store {
  readonly layout = signal<Layout | undefined>(undefined);
  readonly ui = signal<UiSettings>({});
  readonly #modules = new Map<string, Signal<ModuleView | undefined>>();
  readonly #moduleIds = signal<readonly string[]>([]);
  readonly #devices = new Map<string, DeviceEntry>();
  readonly #deviceIds = signal<readonly string[]>([]);

  /** A device, with the fields this page has asked for under `pending`. */
  device(id: string): ReadonlySignal<Device | undefined> {
    return this.#entry(id).shown;
  }

  /** The devices that fit and that nobody has hidden, in the host's order. */
  devices(query: { kind?: string; room?: string } = {}): ReadonlySignal<readonly Device[]> {
    const fits = ({ kind, room, hidden }: Device): boolean =>
      hidden !== true &&
      (query.kind === undefined || kind === query.kind) &&
      (query.room === undefined || room === query.room);
    return this.#listed(fits);
  }

  /** Every device, hidden ones included. */
  allDevices(): ReadonlySignal<readonly Device[]> {
    return this.#listed(() => true);
  }

  module(id: string): ReadonlySignal<ModuleView | undefined> {
    return this.#moduleSignal(id);
  }

  /** Every module, by name. */
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
      const ids = new Set(devices.map(({ id }) => id));
      for (const [id, { host }] of this.#devices) if (!ids.has(id)) host.value = undefined;
      for (const device of devices) this.#entry(device.id).host.value = device;
      this.#deviceIds.value = [...ids];
    });
  }

  /** Takes a device as the host announced or answered it; one older than what is shown is ignored. */
  putDevice(device: Device): void {
    const { host } = this.#entry(device.id);
    const before = host.peek();
    if (before && before.revision > device.revision) return;
    batch(() => {
      host.value = device;
      if (!before) this.#deviceIds.value = [...this.#deviceIds.peek(), device.id];
    });
  }

  removeDevice(id: string): void {
    batch(() => {
      this.#entry(id).host.value = undefined;
      this.#deviceIds.value = this.#deviceIds.peek().filter((each) => each !== id);
    });
  }

  /** Replaces the fields that this page has asked for and that are not confirmed yet. */
  setAsked(id: string, fields: DeviceState): void {
    this.#entry(id).asked.value = fields;
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

  #listed(fits: (device: Device) => boolean): ReadonlySignal<readonly Device[]> {
    let before: readonly Device[] = [];
    return computed(() => {
      const now = this.#deviceIds.value
        .map((id) => this.device(id).value)
        .filter((device) => device !== undefined)
        .filter(fits);
      // The same array as before keeps everything that reads this from being drawn again.
      if (!sameItems(before, now)) before = now;
      return before;
    });
  }

  #entry(id: string): DeviceEntry {
    const known = this.#devices.get(id);
    if (known) return known;
    const host = signal<Device | undefined>(undefined);
    const asked = signal<DeviceState>({});
    const shown = computed(() => withPending(host.value, asked.value));
    const entry = { host, asked, shown };
    this.#devices.set(id, entry);
    return entry;
  }

  #moduleSignal(id: string): Signal<ModuleView | undefined> {
    const known = this.#modules.get(id) ?? signal<ModuleView | undefined>(undefined);
    this.#modules.set(id, known);
    return known;
  }
}

function withPending(device: Device | undefined, asked: DeviceState): Device | undefined {
  if (!device || Object.keys(asked).length === 0) return device;
  return { ...device, pending: { ...device.pending, ...asked } };
}

function sameItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
