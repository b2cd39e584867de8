import { join } from "node:path";
import { faultsOfUpdate } from "@mantel/plugin-sdk/capability";
import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Device, DeviceDescription, DeviceUpdate } from "@mantel/plugin-sdk/device";
import {
  type BySection,
  type SectionedCommand,
  statesOf,
  statesOfCommand,
  withPending,
  withStates,
} from "@mantel/plugin-sdk/device-sections";
import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { Bus } from "../events/bus.ts";
import type { HostLog } from "../log.ts";
import { inTimeSlices } from "../time-slices.ts";
import { invalid } from "../validate.ts";
import { BridgeQueue } from "./bridge-queue.ts";
import { type BridgeDirectory, type BridgeView, isUp } from "./bridge.ts";
import { type ChangeCause, DeviceCauses, type EndCommand } from "./causes.ts";
import { DeviceIds } from "./device-ids.ts";
import { type Change, DeviceEntry, describedFields } from "./entry.ts";
import { DeviceEvents, notPublished } from "./events.ts";
import { DeviceGroups } from "./groups.ts";
import { DeviceOverrides } from "./overrides.ts";
import {
  faultsOfDevice,
  type ParsedUpdates,
  parseUpdates,
  parsingDescriptions,
} from "./parse-devices.ts";
import { type DeviceFilter, type DeviceSnapshot, matches, serialising } from "./snapshot.ts";
import { VisibleDevices } from "./visible-devices.ts";
import { VocabularyWarnings } from "./vocabulary-warnings.ts";

const FEW_DEVICES = 500;
const LARGE_LISTS_WAITING = 4;
/** The revision of a device that is not visible yet. */
const UNKNOWN_REVISION = 0;

interface Dependencies {
  readonly bus: Bus;
  readonly bridges: BridgeDirectory;
  readonly log: HostLog;
}

type BridgeNames = Pick<BridgeView, "id" | "kind">;

/** A device from its bridge's new list, before the list is applied. */
interface Prepared extends Change {
  readonly id: string;
  readonly description: DeviceDescription;
  readonly entry: DeviceEntry;
  /** Further fields that its entry takes. */
  readonly report: Pick<DeviceEntry, "described" | "reachable" | "gateway">;
  /** The values it was prepared from. If they have changed by then, it is prepared again. */
  readonly basis: {
    readonly entry: DeviceEntry | undefined;
    readonly device: Device | undefined;
    readonly isBridgeUp: boolean;
  };
}

/** The last reported state of every device. All reads are answered from here. */
export class DeviceRegistry {
  readonly #parts: Dependencies;
  readonly #ids: DeviceIds;
  readonly #overrides: DeviceOverrides;
  readonly #visible: VisibleDevices;
  /** The devices of each bridge by native id, in the order the bridge published them. */
  readonly #ofBridge = new Map<string, ReadonlyMap<string, DeviceEntry>>();
  readonly #order = new BridgeQueue();
  /** The users' changes, one after another: each is made from the result of the one before. */
  readonly #settings = new SerialQueue();
  readonly groups: DeviceGroups;
  /** The number of large lists of each bridge being processed; a parsed one takes up to 100 MiB. */
  readonly #largeLists = new Map<string, number>();
  readonly #events: DeviceEvents;
  readonly #causes = new DeviceCauses();
  readonly #warnings: VocabularyWarnings;
  /** Begins at the time of day, so that it differs from all revisions before a restart. */
  #revision = Date.now();
  #snapshot: { readonly revision: number; readonly made: Promise<DeviceSnapshot> } | undefined;

  /** Opens the registry without devices; their ids and the users' settings are in the folder. */
  static async open({
    dataFolder,
    ...parts
  }: Dependencies & { dataFolder: string }): Promise<DeviceRegistry> {
    const numbers = await DeviceIds.open(join(dataFolder, "devices.json"), parts.log);
    const overrides = await DeviceOverrides.open(join(dataFolder, "device-wishes.json"), parts.log);
    return new DeviceRegistry(parts, numbers, overrides);
  }

  private constructor(parts: Dependencies, numbers: DeviceIds, overrides: DeviceOverrides) {
    this.#parts = parts;
    this.#events = new DeviceEvents(parts.bus, (bridgeId, nativeId) =>
      this.idOf(bridgeId, nativeId),
    );
    this.#warnings = new VocabularyWarnings(parts.log);
    this.#ids = numbers;
    this.#overrides = overrides;
    this.groups = new DeviceGroups({
      devices: () => this.list(),
      overrides,
      inTurn: (change) => this.#settings.take(change),
      changed: (ids, cause) => this.#regrouped(ids, cause),
    });
    this.#visible = new VisibleDevices({ bus: parts.bus, overrides });
  }

  /** Grows with each change of any device or bridge. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Replaces the whole set of a bridge's devices. Resolves when new ids are
   * stored and the devices are served.
   * @throws MantelError `invalid` with every fault, `disk_full`, `bridge_rate_limited`; the previous set stays then
   */
  async publish(bridgeId: string, input: unknown): Promise<void> {
    const isLarge = Array.isArray(input) && input.length > FEW_DEVICES;
    const waiting = this.#largeLists.get(bridgeId) ?? 0;
    if (isLarge && waiting >= LARGE_LISTS_WAITING) {
      const sentence = `${bridgeId} publishes its devices faster than they can be processed; wait for each publish`;
      throw new MantelError("bridge_rate_limited", sentence, { retryAfterMs: 1_000 });
    }
    this.#largeLists.set(bridgeId, waiting + (isLarge ? 1 : 0));
    const taken = this.#order.take(bridgeId, async () =>
      this.#replace(bridgeId, await inTimeSlices(parsingDescriptions(bridgeId, input))),
    );
    await taken.finally(() => {
      const remaining = (this.#largeLists.get(bridgeId) ?? 0) - (isLarge ? 1 : 0);
      if (remaining > 0) this.#largeLists.set(bridgeId, remaining);
      else this.#largeLists.delete(bridgeId);
    });
  }

  /**
   * Applies updates of published devices, at once if no message of the bridge waits.
   * @throws MantelError `invalid`, with the faults of invalid updates; the others are applied
   */
  async update(bridgeId: string, input: unknown): Promise<void> {
    await this.#order.follow(bridgeId, () =>
      this.#updateAll(bridgeId, parseUpdates(bridgeId, input)),
    );
  }

  /** Announces an event of a device. @throws MantelError `invalid`, `bridge_rate_limited` */
  async announceEvent(bridgeId: string, input: unknown): Promise<void> {
    await this.#order.follow(bridgeId, () => this.#events.take(bridgeId, input));
  }

  /** Applies a changed status of a bridge, on which the availability of its devices depends. */
  bridgeChanged(bridgeId: string): void {
    this.#revision++;
    const name = this.#parts.bridges.find(bridgeId)?.view.name ?? bridgeId;
    const cause: Cause = { kind: "module", id: bridgeId, name };
    void this.#visible.changeMany(() => {
      for (const entry of this.#ofBridge.get(bridgeId)?.values() ?? []) {
        this.#change(entry, { available: this.#isAvailable(bridgeId, entry.reachable) }, { cause });
      }
    });
  }

  /** Removes the devices of a missing or disabled bridge. They keep their ids if it comes back. */
  removeBridge(bridgeId: string): void {
    void this.#order.follow(bridgeId, () => {
      const entries = this.#ofBridge.get(bridgeId);
      this.#ofBridge.delete(bridgeId);
      this.#revision++;
      for (const entry of entries?.values() ?? []) this.#remove(entry);
    });
  }

  /**
   * Applies a merge patch of name, room, groups and hiding. @throws MantelError `device_unknown`, `invalid`, `disk_full`
   */
  async adjust(id: string, patch: unknown, cause?: Cause): Promise<Device> {
    const entry = this.#visible.get(id);
    return this.#settings.take(async () => {
      await this.#overrides.change(id, patch);
      this.#change(entry, this.#overrides.over(id, entry.described), { cause });
      return entry.device;
    });
  }

  #regrouped(ids: Iterable<string>, cause?: Cause): void {
    this.#revision++;
    for (const id of ids) {
      const entry = this.#visible.find(id);
      if (entry) this.#change(entry, this.#overrides.over(id, entry.described), { cause });
    }
  }

  /**
   * Hides a device until its bridge reaches it again. @throws MantelError `device_unknown`, `device_present`,
   * `disk_full`
   */
  async forget(id: string): Promise<void> {
    await this.#visible.forget(id);
    this.#revision++;
  }

  find(id: string): Device | undefined {
    return this.#visible.find(id)?.device;
  }

  /** @throws MantelError `device_unknown` */
  get(id: string): Device {
    return this.#visible.get(id).device;
  }

  /**
   * The device as JSON with `changedBy`, the cause of the last change of its state; null before the first one since
   * the host started. @throws MantelError `device_unknown`
   */
  getJson(id: string): string {
    const { json, changedBy = null } = this.#visible.get(id);
    return `${json.slice(0, -1)},"changedBy":${JSON.stringify(changedBy)}}`;
  }

  list(filter: DeviceFilter = {}): readonly Device[] {
    return this.#select(filter).map((entry) => entry.device);
  }

  /** The bridge of a device, and its name and gateway there. @throws MantelError `device_unknown` */
  nativeOf(id: string): { bridgeId: string; nativeId: string; gateway: string | undefined } {
    const { device, nativeId, gateway } = this.#visible.get(id);
    return { bridgeId: device.bridge, nativeId, gateway };
  }

  idOf(bridgeId: string, nativeId: string): string | undefined {
    return this.#ofBridge.get(bridgeId)?.get(nativeId)?.device.id;
  }

  /** Shows an unconfirmed command of a device, instead of the previous one. */
  setPending(id: string, command: SectionedCommand, cause?: Cause): void {
    const entry = this.#visible.find(id);
    if (!entry) return;
    this.#change(entry, withPending(entry.device, statesOfCommand(entry.device, command)), {
      cause,
    });
  }

  /** Records a command that is sent to a device now: what it changes has these causes. */
  beginCommand(id: string, causes: BySection<ReadonlyMap<string, Cause>>): EndCommand {
    return this.#causes.begin(id, causes);
  }

  /** Shows a command that the bridge has sent as the state of the device, if that never reports its state. */
  assume(id: string, command: SectionedCommand): void {
    const entry = this.#visible.find(id);
    if (!entry?.device.assumed) return;
    this.#change(entry, withStates(entry.device, statesOfCommand(entry.device, command)));
  }

  /** The list as JSON; the unfiltered one is created once for each revision. */
  snapshot(filter: DeviceFilter = {}): Promise<DeviceSnapshot> {
    if (Object.values(filter).some((value) => value !== undefined)) return this.#serialise(filter);
    const revision = this.#revision;
    if (this.#snapshot?.revision !== revision) {
      this.#snapshot = { revision, made: this.#serialise({}) };
    }
    return this.#snapshot.made;
  }

  async #replace(bridgeId: string, descriptions: readonly DeviceDescription[]): Promise<void> {
    const bridge = this.#parts.bridges.find(bridgeId)?.view;
    if (!bridge) throw new MantelError("invalid", `${bridgeId} is not a bridge`);
    const ids = await this.#ids.assign(bridge, descriptions);
    const prepared = await inTimeSlices(this.#preparing(bridge, ids, descriptions));
    await this.#visible.changeMany(() => this.#takeAll(bridge, prepared));
  }

  *#preparing(
    bridge: BridgeNames,
    ids: readonly string[],
    descriptions: readonly DeviceDescription[],
  ): Generator<undefined, Prepared[]> {
    const prepared: Prepared[] = [];
    for (const [index, description] of descriptions.entries()) {
      this.#warnings.note(bridge.id, description);
      prepared.push(this.#prepare(bridge, ids[index] ?? "", description));
      yield;
    }
    return prepared;
  }

  /** Prepares the new state of a device, which takes far longer than applying it. */
  #prepare(bridge: BridgeNames, id: string, description: DeviceDescription): Prepared {
    const { nativeId, gateway, available: reachable = true } = description;
    const isBridgeUp = this.#isAvailable(bridge.id, true);
    const known = this.#visible.find(id);
    const described = describedFields(description, known?.device);
    const report = { described, reachable, gateway };
    const fields = {
      ...described,
      ...this.#overrides.over(id, described),
      available: reachable && isBridgeUp,
    };
    if (known) {
      const change = known.with(fields, UNKNOWN_REVISION, reachable);
      const basis = { entry: known, device: known.device, isBridgeUp };
      return { id, description, report, basis, entry: known, ...change };
    }
    const origin = { id, bridge, nativeId, ...report };
    const entry = DeviceEntry.create(origin, fields, UNKNOWN_REVISION);
    const basis = { entry: undefined, device: undefined, isBridgeUp };
    const { device } = entry;
    const isNew = { outcome: "changed", hasOtherState: false } as const;
    return { id, description, report, basis, entry, device, ...isNew };
  }

  /** Applies all devices of a bridge at once, so that no reader sees a part of them. */
  #takeAll(bridge: BridgeNames, prepared: readonly Prepared[]): void {
    const isBridgeUp = this.#isAvailable(bridge.id, true);
    const before = this.#ofBridge.get(bridge.id);
    const entries = new Map<string, DeviceEntry>();
    this.#ofBridge.set(bridge.id, entries);
    for (const each of prepared) {
      const { id, description, basis } = each;
      const entry = this.#visible.find(id);
      const isCurrent =
        basis.isBridgeUp === isBridgeUp && basis.entry === entry && basis.device === entry?.device;
      const taken = isCurrent ? each : this.#prepare(bridge, id, description);
      entries.set(description.nativeId, taken.entry);
      this.#take(taken);
    }
    for (const entry of before?.values() ?? []) {
      if (entries.get(entry.nativeId) !== entry) this.#remove(entry);
    }
  }

  #take({ entry, report, basis, device, outcome, hasOtherState }: Prepared): void {
    Object.assign(entry, report);
    if (outcome === "same") return;
    device.revision = ++this.#revision; // not visible yet
    if (!basis.entry) return this.#visible.add(entry);
    entry.show(device);
    if (outcome !== "changed") return;
    const why = this.#causes.of(basis.device ?? device, device);
    if (hasOtherState) entry.changedBy = why.cause;
    this.#visible.changed(entry, why);
  }

  #updateAll(bridgeId: string, { updates, faults }: ParsedUpdates): void {
    const refused = updates.flatMap((update) =>
      faultsOfDevice(update.nativeId, this.#update(bridgeId, update)),
    );
    const all = [...faults, ...refused];
    if (all.length > 0) throw invalid(`an update of ${bridgeId}`, all);
  }

  /** Applies one update if it is valid, otherwise returns its faults. */
  #update(bridgeId: string, update: DeviceUpdate): Fault[] {
    const { nativeId, available, state } = update;
    const entry = this.#ofBridge.get(bridgeId)?.get(nativeId);
    if (!entry) return [notPublished(nativeId)];
    const { device } = entry;
    const faults = faultsOfUpdate(device, update);
    if (faults.length > 0) return faults;
    entry.reachable = available ?? entry.reachable;
    const isOwn = update.parts === undefined && update.extra === undefined;
    const fields = {
      ...(isOwn ? { state: { ...device.state, ...state } } : withStates(device, statesOf(update))),
      available: this.#isAvailable(bridgeId, entry.reachable),
    };
    this.#change(entry, fields, { seen: entry.reachable });
    return [];
  }

  /**
   * Sets fields and announces the device if one changed. `seen`: the device itself has reported. Without a cause,
   * it is found by the changed values.
   */
  #change(
    entry: DeviceEntry,
    fields: Partial<Device>,
    { seen = false, cause }: { seen?: boolean; cause?: Cause | undefined } = {},
  ): void {
    const before = entry.device;
    const { device, outcome, hasOtherState } = entry.with(fields, this.#revision + 1, seen);
    if (outcome === "same") return;
    this.#revision++;
    entry.show(device);
    if (!this.#visible.has(entry)) this.#visible.add(entry);
    else if (outcome === "changed") {
      const why: ChangeCause = cause ? { cause } : this.#causes.of(before, device);
      if (hasOtherState) entry.changedBy = why.cause;
      this.#visible.changed(entry, why);
    }
  }

  #remove(entry: DeviceEntry): void {
    if (this.#visible.remove(entry)) this.#revision++;
  }

  #isAvailable(bridgeId: string, reachable: boolean): boolean {
    return reachable && isUp(this.#parts.bridges.find(bridgeId));
  }

  #select(filter: DeviceFilter): DeviceEntry[] {
    return [...this.#ofBridge.values()]
      .flatMap((entries) => [...entries.values()])
      .filter((entry) => this.#visible.has(entry) && matches(entry.device, filter));
  }

  #serialise(filter: DeviceFilter): Promise<DeviceSnapshot> {
    return inTimeSlices(serialising(this.#select(filter), this.#parts.bridges, this.#revision));
  }
}
