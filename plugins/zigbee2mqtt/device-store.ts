import type { Capability, DeviceDescription, DeviceState, StateValue } from "@mantel/plugin-sdk";
import type { Inventory, Thing, ThingScene } from "./discovery.ts";
import { valueAt } from "./feature.ts";

/** All devices and groups with their state and availability. */
export class DeviceStore {
  /** By native id, and by the name in topics. */
  #things = new Map<string, Thing>();
  #byTopic = new Map<string, Thing>();
  #scenes = new Map<string, ThingScene>();
  readonly #states = new Map<string, DeviceState>();
  readonly #reachable = new Map<string, boolean>();
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
    for (const { nativeId, state, available = true } of remembered) {
      this.#states.set(nativeId, state);
      this.#reachable.set(nativeId, available);
    }
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
    for (const { nativeId, description } of things) {
      const state = Object.entries(this.#states.get(nativeId) ?? {});
      const fitting = state.filter(([name, value]) => fits(description.capabilities[name], value));
      this.#states.set(nativeId, Object.fromEntries(fitting));
    }
  }

  /** Applies a payload of a device. Returns the state fields in it. */
  tell({ nativeId, topicName, features }: Thing, payload: unknown): DeviceState {
    const told: Record<string, StateValue> = {};
    const unused = unusedIn(valueAt(payload, ["color_mode"]));
    for (const { name, path, read, isTold } of features) {
      const raw = isTold ? valueAt(payload, path) : undefined;
      if (raw === undefined) continue;
      if (name === unused) {
        told[name] = null;
        continue;
      }
      told[name] = read(raw);
      if (told[name] === null && raw !== null) this.#onUnusable(`${topicName}: ${name}`);
    }
    this.#states.set(nativeId, { ...this.#states.get(nativeId), ...told });
    return told;
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
    const listed = this.things.map((thing) => ({
      ...thing.description,
      available: this.isAvailable(thing),
      state: this.#states.get(thing.nativeId) ?? {},
    }));
    return [...remembered, ...listed];
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
  }
}

/** A light reports both a colour and a white; gives the field that `color_mode` says is not in use. */
function unusedIn(colorMode: unknown): string | undefined {
  if (colorMode === "color_temp") return "color";
  return colorMode === "xy" || colorMode === "hs" ? "colorTemperature" : undefined;
}

/** True if a previous value is valid for the current capability. */
function fits(capability: Capability | undefined, value: StateValue): boolean {
  if (!capability || value === null) return false;
  if (capability.type === "choice") return capability.values.some((each) => each === value);
  if (capability.type !== "number") return typeof value === TYPES[capability.type];
  const { min = -Infinity, max = Infinity } = capability;
  return typeof value === "number" && value >= min && value <= max;
}

const TYPES = { boolean: "boolean", color: "object", text: "string", command: "" } as const;
