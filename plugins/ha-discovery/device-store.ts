import type {
  DeviceDescription,
  DeviceState,
  DeviceUpdate,
  ExtraCapability,
} from "@mantel/plugin-sdk";
import type { DeviceFunction } from "@mantel/plugin-sdk/joined-devices";
import { type ComponentGroup, groupComponents, type MainOf } from "./component-groups.ts";
import type { ComponentStates, Told } from "./component-state.ts";
import { Gateways, reportsAway } from "./gateways.ts";
import type { NamedComponent } from "./named-fields.ts";
import type { Message, Payload } from "./payload.ts";
import type { PictureTopic } from "./pictures.ts";

/**
 * Limits of the host for one bridge: devices, and characters of all descriptions in one message,
 * without states.
 */
const MOST_DEVICES = 5_000;
const MOST_TEXT = 6 * 2 ** 20;
/** The id, the name and the room of a device at most. */
const LONGEST_NAMES = 600;

/** An event of a device. */
export interface Happening {
  readonly nativeId: string;
  readonly event: string;
}

/** The changes from one message, or from expired times. */
export interface News {
  /** Reported values, changed or not, because a command may wait for them. */
  readonly told: readonly { readonly nativeId: string; readonly state: DeviceState }[];
  readonly updates: readonly DeviceUpdate[];
  readonly happenings: readonly Happening[];
}

interface Place {
  readonly group: ComponentGroup;
  readonly component: NamedComponent;
}

/** The functions of the devices of a home, who listens to which topic, and what is known of each. */
export class DeviceStore {
  #groups = new Map<string, ComponentGroup>();
  #listeners = new Map<string, readonly ComponentStates[]>();
  #places = new Map<ComponentStates, Place>();
  #gateways = new Gateways([]);
  readonly #available = new Map<string, boolean>();
  readonly #mainOf: MainOf;

  constructor(mainOf: MainOf = () => undefined) {
    this.#mainOf = mainOf;
  }

  /** Groups components again and keeps their state. Returns the number of functions left out. */
  regroup(components: Iterable<ComponentStates>): number {
    const all = [...components];
    const listeners = new Map<string, ComponentStates[]>();
    for (const known of all) {
      for (const topic of new Set(known.topics)) {
        const listening = listeners.get(topic);
        if (listening) listening.push(known);
        else listeners.set(topic, [known]);
      }
    }
    this.#listeners = listeners;
    this.#gateways = new Gateways(all);
    const grouped = groupComponents(all, this.#mainOf);
    const groups = fitting(grouped);
    this.#groups = new Map(groups.map((group) => [group.nativeId, group]));
    this.#places = new Map(
      groups.flatMap((group) =>
        group.components.map((component) => [component.known, { group, component }] as const),
      ),
    );
    for (const id of this.#available.keys()) if (!this.#groups.has(id)) this.#available.delete(id);
    return grouped.length - groups.length;
  }

  /** The names of left out capabilities, by the names of their devices. */
  get leftOut(): ReadonlyMap<string, readonly string[]> {
    const groups = [...this.#groups.values()].filter(({ leftOut }) => leftOut.length > 0);
    return new Map(groups.map(({ name, leftOut }) => [name, leftOut]));
  }

  /** Every topic that somebody listens to. */
  get topics(): ReadonlySet<string> {
    return new Set(this.#listeners.keys());
  }

  get nativeIds(): Iterable<string> {
    return this.#groups.keys();
  }

  /** True if the device was available in the last list or update. */
  isAvailable(nativeId: string): boolean {
    return this.#available.get(nativeId) === true;
  }

  /** The messages that ask a device for its state. */
  pollsOf(nativeId: string): readonly Message[] {
    const components = this.#groups.get(nativeId)?.components ?? [];
    return components.flatMap(({ known }) => known.handler.polls ?? []);
  }

  /** All that is known of a function. */
  stateOf({ components }: ComponentGroup): DeviceState {
    return Object.assign({}, ...components.map((each) => stateOf(each, each.known.state)));
  }

  find(nativeId: string): ComponentGroup | undefined {
    return this.#groups.get(nativeId);
  }

  /** All functions as devices of their own; none can be reached while `isAway`. */
  describe(isAway: boolean): DeviceDescription[] {
    return [...this.#groups.values()].map((device) => {
      const { nativeId, kind, name, room, info, capabilities, extra } = device;
      const hasImage = pictureOf(device) !== undefined;
      const available = !isAway && this.#isAvailable(device);
      this.#available.set(nativeId, available);
      const { state, extra: extraState } = separated(device, this.stateOf(device));
      return {
        nativeId,
        kind,
        name,
        info,
        available,
        ...(room === undefined ? {} : { room }),
        ...(isAssumed(device) ? { assumed: true } : {}),
        ...(hasImage ? { image: true } : {}),
        capabilities: separated(device, capabilities).state,
        state,
        ...(extra.size === 0
          ? {}
          : { extra: { capabilities: extraCapabilities(device), state: extraState } }),
      };
    });
  }

  /** All functions with their physical devices. */
  functions(isAway: boolean): DeviceFunction[] {
    return this.describe(isAway).map((device) => {
      const of = this.#groups.get(device.nativeId)?.of;
      if (!of) return { device };
      const { id, name, partName, hasReadings } = of;
      return { device, group: id, groupName: name, partName, hasReadings };
    });
  }

  /** Availability of each function; all are unavailable while `isAway`. */
  availabilities(isAway: boolean): DeviceUpdate[] {
    return [...this.#groups.values()].map((device) => {
      const available = !isAway && this.#isAvailable(device);
      this.#available.set(device.nativeId, available);
      return { nativeId: device.nativeId, available };
    });
  }

  receive(topic: string, payload: Payload, now: number): News {
    const told: News["told"][number][] = [];
    const happenings: Happening[] = [];
    const updates = new Map<string, DeviceUpdate>();
    let hasGatewayChanged = false;
    for (const known of this.#listeners.get(topic) ?? []) {
      const place = this.#places.get(known);
      const before = reportsAway(known);
      const heard = known.receive(topic, payload, now);
      if (reportsAway(known) !== before && this.#gateways.has(known)) hasGatewayChanged = true;
      if (!place) continue;
      const { nativeId } = place.group;
      if (heard) told.push({ nativeId, state: stateOf(place.component, heard.told) });
      for (const event of eventsOf(known, topic, payload)) happenings.push({ nativeId, event });
      this.#add(updates, place, heard);
    }
    for (const { nativeId, event } of happenings) {
      const device = this.#groups.get(nativeId);
      if (device) this.#merge(updates, device, this.#lastAction(nativeId, event));
    }
    if (hasGatewayChanged) this.#addBehindGateways(updates);
    return { told, happenings, updates: [...updates.values()] };
  }

  /** Takes over fields of a component that nothing reports. */
  assume({ known, names }: NamedComponent, state: DeviceState): DeviceUpdate | undefined {
    const place = this.#places.get(known);
    const { changed } = known.take(state);
    if (!place || Object.keys(changed).length === 0) return undefined;
    const { state: own, extra } = separated(place.group, stateOf({ known, names }, changed));
    const { nativeId } = place.group;
    return { nativeId, state: own, ...(isEmpty(extra) ? {} : { extra }) };
  }

  /** The expired values. */
  expire(now: number): DeviceUpdate[] {
    const updates = new Map<string, DeviceUpdate>();
    for (const [known, place] of this.#places) {
      const told = known.isPassing ? known.expire(now) : undefined;
      if (told) this.#add(updates, place, told);
    }
    return [...updates.values()];
  }

  #add(
    updates: Map<string, DeviceUpdate>,
    { group, component }: Place,
    heard: Told | undefined,
  ): void {
    if (heard) this.#merge(updates, group, stateOf(component, heard.changed));
    this.#addAvailability(updates, group);
  }

  #addAvailability(updates: Map<string, DeviceUpdate>, device: ComponentGroup): void {
    const { nativeId } = device;
    const available = this.#isAvailable(device);
    if (this.#available.get(nativeId) === available) return;
    this.#available.set(nativeId, available);
    updates.set(nativeId, { nativeId, ...updates.get(nativeId), available });
  }

  #addBehindGateways(updates: Map<string, DeviceUpdate>): void {
    for (const device of this.#groups.values()) {
      if (device.via !== undefined) this.#addAvailability(updates, device);
    }
  }

  #isAvailable(device: ComponentGroup): boolean {
    return isAvailable(device) && !this.#gateways.isAway(device.via);
  }

  #merge(updates: Map<string, DeviceUpdate>, device: ComponentGroup, told: DeviceState): void {
    const { nativeId } = device;
    const before = updates.get(nativeId);
    const { state, extra } = separated(device, told);
    updates.set(nativeId, {
      nativeId,
      ...before,
      state: { ...before?.state, ...state },
      ...(isEmpty(extra) ? {} : { extra: { ...before?.extra, ...extra } }),
    });
  }

  #lastAction(nativeId: string, event: string): DeviceState {
    for (const { known } of this.#groups.get(nativeId)?.components ?? []) {
      if (known.handler.events) known.take({ lastAction: event });
    }
    return { lastAction: event };
  }
}

/** The entries that belong to the vocabulary, and the extra ones. */
function separated<T>(
  { extra }: ComponentGroup,
  all: Readonly<Record<string, T>>,
): { state: Record<string, T>; extra: Record<string, T> } {
  const [state, beyond]: [string, T][][] = [[], []];
  for (const entry of Object.entries(all)) (extra.has(entry[0]) ? beyond : state)?.push(entry);
  return { state: Object.fromEntries(state ?? []), extra: Object.fromEntries(beyond ?? []) };
}

const isEmpty = (value: object) => Object.keys(value).length === 0;

function extraCapabilities({
  extra,
  capabilities,
}: ComponentGroup): Record<string, ExtraCapability> {
  const entries = [...extra].flatMap(([name, group]) => {
    const capability = capabilities[name];
    return capability ? [[name, { ...capability, group }] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** The topic of a camera's pictures. */
export function pictureOf({ components }: ComponentGroup): PictureTopic | undefined {
  return components
    .map(({ known }) => known.handler.picture)
    .find((picture) => picture !== undefined);
}

/** True if the leader reports none of what can be set. */
function isAssumed({ components: [leader], isLed }: ComponentGroup): boolean {
  if (!isLed || !leader) return false;
  const { capabilities, inputs, picture, unreported = new Set() } = leader.known.handler;
  const settable = Object.entries(capabilities).filter(
    ([, { type, readOnly }]) => type !== "command" && readOnly !== true,
  );
  if (settable.length === 0) return inputs.length === 0 && !picture;
  return settable.every(([name]) => unreported.has(name));
}

/** The first functions, as many as the host takes in one message. */
function fitting(groups: readonly ComponentGroup[]): readonly ComponentGroup[] {
  let text = 0;
  const end = groups.slice(0, MOST_DEVICES).findIndex(({ info, capabilities }) => {
    text += LONGEST_NAMES + JSON.stringify([info, capabilities]).length;
    return text > MOST_TEXT;
  });
  return groups.slice(0, end < 0 ? MOST_DEVICES : end);
}

function isAvailable({ components, isLed }: ComponentGroup): boolean {
  const [first] = components;
  if (isLed && first) return first.known.availability.available;
  return components.some(({ known }) => known.availability.available);
}

/** A state by the names that its fields have in the device; those that are not shown are left out. */
function stateOf({ names }: NamedComponent, state: DeviceState): DeviceState {
  const entries = Object.entries(state).flatMap(([local, value]) => {
    const name = names.get(local);
    return name === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function eventsOf({ handler }: ComponentStates, topic: string, payload: Payload): string[] {
  return (handler.events ?? []).flatMap((event) =>
    event.topic === topic ? (event.read(payload) ?? []) : [],
  );
}
