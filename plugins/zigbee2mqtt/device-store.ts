import type { DeviceDescription } from "@mantel/plugin-sdk";
import {
  described,
  fieldsAt,
  fittingStates,
  merged,
  noStates,
  setFields,
  type States,
  statesIn,
} from "./device-state.ts";
import type { Inventory, Thing, ThingScene } from "./discovery.ts";
import { type Feature, valueAt } from "./feature.ts";

/** The states of a device that has not reported. */
const UNKNOWN = noStates();

/** All devices and groups with their state and availability. */
export class DeviceStore {
  /** By native id, and by the name in topics. */
  #things = new Map<string, Thing>();
  #byTopic = new Map<string, Thing>();
  #scenes = new Map<string, ThingScene>();
  readonly #states = new Map<string, States>();
  /** Native ids of devices that have never reported what they were told to be. */
  readonly #assumed = new Set<string>();
  readonly #reachable = new Map<string, boolean>();
  /** The descriptions that were made last, and the states in them. */
  readonly #made = new WeakMap<Thing, { states: States; device: DeviceDescription }>();
  readonly #onUnusable: (where: string) => void;
  /** Devices of the previous run, until the bridge has sent its list. */
  #remembered: readonly DeviceDescription[];
  /** True once the bridge has sent its list. */
  isListed = false;
  /** False while the bridge or its broker is unreachable. */
  isOnline: boolean;

  /** `onUnusable` is called for an impossible value, which is shown as unknown. */
  constructor(
    remembered: readonly DeviceDescription[],
    isOnline: boolean,
    onUnusable: (where: string) => void,
  ) {
    this.#onUnusable = onUnusable;
    this.#remembered = remembered;
    this.isOnline = isOnline;
    for (const device of remembered) {
      const { nativeId, available = true, assumed = false } = device;
      this.#states.set(nativeId, statesIn(device));
      this.#reachable.set(nativeId, available);
      if (assumed) this.#assumed.add(nativeId);
    }
  }

  /** True if the previous run knew devices, until the bridge has sent its list. */
  get hasRemembered(): boolean {
    return this.#remembered.length > 0;
  }

  get things(): readonly Thing[] {
    return [...this.#things.values()];
  }

  get scenes(): readonly ThingScene[] {
    return [...this.#scenes.values()];
  }

  find(nativeId: string): Thing | undefined {
    return this.#things.get(nativeId);
  }

  named(topicName: string): Thing | undefined {
    return this.#byTopic.get(topicName);
  }

  scene(nativeId: string): ThingScene | undefined {
    return this.#scenes.get(nativeId);
  }

  /** Applies the list of the bridge. A device that is being paired again keeps its description. */
  take({ things, scenes, unready }: Inventory): void {
    const kept = this.things.filter(({ nativeId }) => unready.has(nativeId));
    this.#things = new Map([...kept, ...things].map((thing) => [thing.nativeId, thing]));
    this.#byTopic = new Map(this.things.map((thing) => [thing.topicName, thing]));
    this.#scenes = new Map(scenes.map((scene) => [scene.description.nativeId, scene]));
    this.#remembered = [];
    this.isListed = true;
    for (const known of this.#states.keys()) if (!this.#things.has(known)) this.#forget(known);
    for (const { nativeId, features } of things) {
      const states = this.#states.get(nativeId);
      if (states) this.#states.set(nativeId, fittingStates(states, features));
    }
  }

  /** Applies a payload of a device. Returns the values in it. */
  tell({ nativeId, topicName, features }: Thing, payload: unknown): States {
    const told = noStates();
    for (const feature of features) {
      const { name, path, isTold, isUnused } = feature;
      const raw = isTold ? valueAt(payload, path) : undefined;
      if (raw === undefined) continue;
      const value = isUnused?.(payload) === true ? null : this.#read(feature, raw, topicName);
      setFields(told, feature, { [name]: value });
      if (value !== null && feature.leaves) this.#assumed.delete(nativeId);
    }
    this.#states.set(nativeId, merged(this.#states.get(nativeId) ?? noStates(), told));
    return told;
  }

  #read({ name, read, isNothing }: Feature, raw: unknown, topicName: string) {
    const value = read(raw);
    const isMeaningless = value === null && raw !== null && isNothing?.(raw) !== true;
    if (isMeaningless) this.#onUnusable(`${topicName}: ${name}`);
    return value;
  }

  /**
   * False for a device that has never reported what a command leaves behind, such as a cover or a lock without
   * feedback.
   */
  reports({ nativeId, features }: Thing): boolean {
    const left = features.filter(({ leaves }) => leaves);
    if (left.length === 0) return true;
    const states = this.#states.get(nativeId) ?? noStates();
    const isKnown = (each: Feature) => (fieldsAt(states, each)[each.name] ?? null) !== null;
    return !this.#assumed.has(nativeId) && left.some((each) => each.isTold && isKnown(each));
  }

  statesOf({ nativeId }: Thing): States {
    return this.#states.get(nativeId) ?? noStates();
  }

  isAssumed({ nativeId }: Thing): boolean {
    return this.#assumed.has(nativeId);
  }

  /** Assumes that a device is as it was told. Returns the values. */
  assume({ nativeId, features }: Thing, told: States): States {
    const assumed = fittingStates(told, features);
    this.#assumed.add(nativeId);
    this.#states.set(nativeId, merged(this.#states.get(nativeId) ?? noStates(), assumed));
    return assumed;
  }

  setReachable({ nativeId }: Thing, isReachable: boolean): void {
    this.#reachable.set(nativeId, isReachable);
  }

  isAvailable({ nativeId, isDisabled }: Thing): boolean {
    return this.isOnline && !isDisabled && (this.#reachable.get(nativeId) ?? true);
  }

  /** All devices for the host; the remembered ones until the bridge has sent its list. */
  describe(): DeviceDescription[] {
    const remembered = this.#remembered.map((device) => ({
      ...device,
      available: this.isOnline && device.available !== false,
    }));
    return [...remembered, ...this.things.map((thing) => this.#describe(thing))];
  }

  /** Makes the descriptions of listed devices one by one, so that `describe` has them. */
  *describing(): Generator<undefined, void> {
    for (const thing of this.#things.values()) {
      this.#describe(thing);
      yield;
    }
  }

  #describe(thing: Thing): DeviceDescription {
    const states = this.#states.get(thing.nativeId) ?? UNKNOWN;
    const [available, assumed] = [this.isAvailable(thing), this.isAssumed(thing)];
    const made = this.#made.get(thing);
    const isSame = made?.states === states && made.device.available === available;
    if (made && isSame && (made.device.assumed ?? false) === assumed) return made.device;
    const device = {
      ...described(thing.description, states),
      available,
      ...(assumed ? { assumed: true as const } : {}),
    };
    this.#made.set(thing, { states, device });
    return device;
  }

  /** The same, with the availability that each device itself last reported, for storage and handover. */
  remember(): DeviceDescription[] {
    return this.describe().map((device) => ({
      ...device,
      available: this.#reachable.get(device.nativeId) ?? true,
    }));
  }

  #forget(nativeId: string): void {
    this.#states.delete(nativeId);
    this.#reachable.delete(nativeId);
    this.#assumed.delete(nativeId);
  }
}
