import { join } from "node:path";
import type { Device, DeviceDescription, DeviceUpdate } from "@mantel/plugin-sdk/device";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { invalid } from "../validate.ts";
import { BridgeOrder } from "./bridge-order.ts";
import { type BridgeDirectory, isUp } from "./bridge.ts";
import { below, faultsOfState } from "./capability.ts";
import { DeviceEntry, describedFields } from "./entry.ts";
import { DeviceEvents, unpublished } from "./events.ts";
import { ListedDevices } from "./listed.ts";
import { NumberTable } from "./numbers.ts";
import { parseDescriptions, parseUpdates } from "./parse-devices.ts";
import { type DeviceFilter, type DeviceSnapshot, matches, serialise } from "./snapshot.ts";
import { DeviceWishes } from "./wishes.ts";

interface Parts {
  readonly bus: Bus;
  readonly bridges: BridgeDirectory;
  readonly log: HostLog;
}

/** The state of every device, as its bridge last told. Reads are served from here alone. */
export class DeviceRegistry {
  readonly #parts: Parts;
  readonly #numbers: NumberTable;
  readonly #wishes: DeviceWishes;
  readonly #listed: ListedDevices;
  /** The devices of each bridge by native id, in the order the bridge published them. */
  readonly #ofBridge = new Map<string, ReadonlyMap<string, DeviceEntry>>();
  readonly #order = new BridgeOrder();
  readonly #events: DeviceEvents;
  /** Begins at the time of day, so that a client that knows a revision from before a restart is not fooled. */
  #revision = Date.now();
  #snapshot: DeviceSnapshot | undefined;

  /** Opens the registry without devices; their numbers, and what people want of them, are in the folder. */
  static async open({
    dataFolder,
    ...parts
  }: Parts & { dataFolder: string }): Promise<DeviceRegistry> {
    const numbers = await NumberTable.open(join(dataFolder, "devices.json"), parts.log);
    const wishes = await DeviceWishes.open(join(dataFolder, "device-wishes.json"), parts.log);
    return new DeviceRegistry(parts, numbers, wishes);
  }

  private constructor(parts: Parts, numbers: NumberTable, wishes: DeviceWishes) {
    this.#parts = parts;
    this.#events = new DeviceEvents(parts.bus, (bridgeId, nativeId) =>
      this.idOf(bridgeId, nativeId),
    );
    this.#numbers = numbers;
    this.#wishes = wishes;
    this.#listed = new ListedDevices({ bus: parts.bus, wishes });
  }

  /** Grows with each change of any device or bridge. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Takes the whole set of a bridge's devices in place of the set before. Resolves when new ids are
   * on the disk and the devices are served.
   * @throws MantelError `invalid` with every fault, `disk_full`; the set before stays then
   */
  async publish(bridgeId: string, input: unknown): Promise<void> {
    const descriptions = parseDescriptions(bridgeId, input);
    await this.#order.take(bridgeId, () => this.#replace(bridgeId, descriptions));
  }

  /**
   * Takes changes to published devices, at once when nothing of the bridge waits.
   * @throws MantelError `invalid`, with the faults of those that do not fit; the others are taken
   */
  async update(bridgeId: string, input: unknown): Promise<void> {
    await this.#order.follow(bridgeId, () =>
      this.#updateAll(bridgeId, parseUpdates(bridgeId, input)),
    );
  }

  /** Announces what happened at a device. @throws MantelError `invalid`, `bridge_rate_limited` */
  async announceEvent(bridgeId: string, input: unknown): Promise<void> {
    await this.#order.follow(bridgeId, () => this.#events.take(bridgeId, input));
  }

  /** Takes over the status of a bridge, on which the availability of its devices depends. */
  bridgeChanged(bridgeId: string): void {
    this.#revision++;
    for (const entry of this.#ofBridge.get(bridgeId)?.values() ?? []) {
      this.#change(entry, { available: this.#isAvailable(bridgeId, entry.reachable) });
    }
  }

  /** Removes the devices of a bridge that is gone or disabled. They keep their ids if it comes back. */
  removeBridge(bridgeId: string): void {
    void this.#order.follow(bridgeId, () => {
      const entries = this.#ofBridge.get(bridgeId);
      this.#ofBridge.delete(bridgeId);
      this.#revision++;
      for (const entry of entries?.values() ?? []) this.#remove(entry);
    });
  }

  /** Takes over a merge patch of name, room and hiding. @throws MantelError `device_unknown`, `invalid`, `disk_full` */
  async adjust(id: string, patch: unknown): Promise<Device> {
    const entry = this.#listed.get(id);
    await this.#wishes.change(id, patch);
    this.#change(entry, this.#wishes.over(id, entry.said));
    return entry.device;
  }

  /** Lists a device no more until its bridge reaches it again. @throws MantelError `device_unknown`, `device_present`, `disk_full` */
  async forget(id: string): Promise<void> {
    await this.#listed.forget(id);
    this.#revision++;
  }

  find(id: string): Device | undefined {
    return this.#listed.find(id)?.device;
  }

  /** @throws MantelError `device_unknown` */
  get(id: string): Device {
    return this.#listed.get(id).device;
  }

  list(filter: DeviceFilter = {}): readonly Device[] {
    return this.#select(filter).map((entry) => entry.device);
  }

  /** How the bridge of a device names and reaches it. @throws MantelError `device_unknown` */
  nativeOf(id: string): { bridgeId: string; nativeId: string; gateway: string | undefined } {
    const { device, nativeId, gateway } = this.#listed.get(id);
    return { bridgeId: device.bridge, nativeId, gateway };
  }

  idOf(bridgeId: string, nativeId: string): string | undefined {
    return this.#ofBridge.get(bridgeId)?.get(nativeId)?.device.id;
  }

  /** Shows what was asked of a device and is not confirmed, in place of what was shown before. */
  setPending(id: string, pending: Device["pending"]): void {
    const entry = this.#listed.find(id);
    if (entry) this.#change(entry, { pending });
  }

  /** The list as JSON; the unfiltered one is made once for each revision. */
  snapshot(filter: DeviceFilter = {}): DeviceSnapshot {
    if (Object.values(filter).some((value) => value !== undefined)) return this.#serialise(filter);
    if (this.#snapshot?.revision === this.#revision) return this.#snapshot;
    return (this.#snapshot = this.#serialise({}));
  }

  async #replace(bridgeId: string, descriptions: readonly DeviceDescription[]): Promise<void> {
    const bridge = this.#parts.bridges.find(bridgeId)?.view;
    if (!bridge) throw new MantelError("invalid", `${bridgeId} is not a bridge`);
    const ids = await this.#numbers.assign(bridge, descriptions);

    const before = this.#ofBridge.get(bridgeId);
    const entries = new Map<string, DeviceEntry>();
    this.#ofBridge.set(bridgeId, entries);
    for (const [index, description] of descriptions.entries()) {
      const id = ids[index] ?? "";
      entries.set(description.nativeId, this.#place(id, bridge, description));
    }
    for (const entry of before?.values() ?? []) {
      if (entries.get(entry.nativeId) !== entry) this.#remove(entry);
    }
  }

  /** Takes over one description, of a device that is known or not. */
  #place(
    id: string,
    bridge: { id: string; kind: string },
    description: DeviceDescription,
  ): DeviceEntry {
    const { nativeId, gateway, available: reachable = true } = description;
    const available = this.#isAvailable(bridge.id, reachable);
    const said = describedFields(description);
    const told = { said, reachable, gateway };
    const fields = { ...said, ...this.#wishes.over(id, said), available };
    const known = this.#listed.find(id);
    if (known) {
      Object.assign(known, told);
      this.#change(known, fields, reachable);
      return known;
    }
    const origin = { id, bridge, nativeId, ...told };
    const entry = DeviceEntry.create(origin, fields, ++this.#revision);
    this.#listed.add(entry);
    return entry;
  }

  #updateAll(bridgeId: string, updates: readonly DeviceUpdate[]): void {
    const faults = updates.flatMap((update, index) =>
      below(String(index), this.#update(bridgeId, update)),
    );
    if (faults.length > 0) throw invalid(`an update of ${bridgeId}`, faults);
  }

  /** Takes over one update when it fits, or gives its faults. */
  #update(bridgeId: string, { nativeId, available, state = {} }: DeviceUpdate): Fault[] {
    const entry = this.#ofBridge.get(bridgeId)?.get(nativeId);
    if (!entry) return [unpublished(nativeId)];
    const faults = below("state", faultsOfState(entry.device.capabilities, state));
    if (faults.length > 0) return faults;
    entry.reachable = available ?? entry.reachable;
    const fields = {
      available: this.#isAvailable(bridgeId, entry.reachable),
      state: { ...entry.device.state, ...state },
    };
    this.#change(entry, fields, entry.reachable);
    return [];
  }

  /** Takes over fields and announces the device when one differs. `seen`: the device itself was heard. */
  #change(entry: DeviceEntry, fields: Partial<Device>, seen = false): void {
    const outcome = entry.change(fields, this.#revision + 1, seen);
    if (outcome === "same") return;
    this.#revision++;
    if (!this.#listed.has(entry)) this.#listed.add(entry);
    else if (outcome === "changed") {
      this.#parts.bus.announce("device.state", { device: entry.device });
    }
  }

  #remove(entry: DeviceEntry): void {
    if (this.#listed.remove(entry)) this.#revision++;
  }

  #isAvailable(bridgeId: string, reachable: boolean): boolean {
    return reachable && isUp(this.#parts.bridges.find(bridgeId));
  }

  #select(filter: DeviceFilter): DeviceEntry[] {
    return [...this.#ofBridge.values()]
      .flatMap((entries) => [...entries.values()])
      .filter((entry) => this.#listed.has(entry) && matches(entry.device, filter));
  }

  #serialise(filter: DeviceFilter): DeviceSnapshot {
    return serialise(this.#select(filter), this.#parts.bridges, this.#revision);
  }
}
