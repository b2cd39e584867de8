import type { DeviceState, StateValue } from "@mantel/plugin-sdk";
import { Availability } from "./availability.ts";
import { changed, coerce } from "./coerce.ts";
import type { ComponentHandler, Input } from "./component-handler.ts";
import { handlerFactory } from "./components/platforms.ts";
import { DiscoveryError } from "./discovery-error.ts";
import type { Component } from "./discovery.ts";
import { Options, type Environment } from "./options.ts";
import type { Payload } from "./payload.ts";

/** A usable component and its reported state. */
export class ComponentStates {
  readonly component: Component;
  readonly handler: ComponentHandler;
  readonly availability: Availability;
  /** By the handler's own field names. */
  #state: DeviceState;
  readonly #due = new Map<Input, number>();
  readonly #environment: Environment;

  /** @throws DiscoveryError if the component cannot be used */
  constructor(component: Component, environment: Environment) {
    this.component = component;
    this.#environment = environment;
    const create = component.create ?? handlerFactory(component.platform);
    this.handler = create(new Options(component.fields, environment));
    checkBounds(this.handler);
    this.availability = new Availability(component.fields, environment);
    this.#state = this.#nothing();
  }

  /** Identifies the same component wherever it is announced. */
  get identity(): string {
    const { platform, fields, key } = this.component;
    const uniqueId = fields.get("unique_id");
    return typeof uniqueId === "string" && uniqueId !== ""
      ? `${platform}:${uniqueId}`
      : `topic:${key}`;
  }

  get state(): DeviceState {
    return this.#state;
  }

  /** The topics that it listens to. */
  get topics(): string[] {
    const { inputs, events = [] } = this.handler;
    return [...inputs, ...events].map(({ topic }) => topic).concat(this.availability.topics);
  }

  /**
   * Takes what has come on a topic; gives the fields that it tells of and those that changed.
   * `undefined` when it tells of none.
   */
  receive(topic: string, payload: Payload, now: number): Told | undefined {
    this.availability.receive(topic, payload);
    let told: DeviceState | undefined;
    for (const input of this.handler.inputs) {
      const read = input.topic === topic ? input.read(payload, this.#state) : undefined;
      if (!read) continue;
      told = { ...told, ...this.#fit(read) };
      const seconds = input.follows?.afterSeconds ?? input.expiresAfter;
      if (seconds !== undefined) this.#due.set(input, now + seconds);
    }
    return told && this.take(told);
  }

  /** Applies fields that were reported, or follow from a command. */
  take(told: DeviceState): Told {
    const difference = changed(this.#state, told);
    this.#state = { ...this.#state, ...difference };
    return { told, changed: difference };
  }

  /** Takes over the state of the component that this one replaces, as far as it fits. */
  recall(state: DeviceState): void {
    const names = fieldsOf(this.handler).filter((name) => Object.hasOwn(state, name));
    this.take(this.#fit(Object.fromEntries(names.map((name) => [name, state[name] ?? null]))));
  }

  /** Applies expired values: readings without updates, and motion that ended automatically. */
  expire(now: number): Told | undefined {
    let told: DeviceState | undefined;
    for (const [input, at] of this.#due) {
      if (at > now) continue;
      this.#due.delete(input);
      told = { ...told, ...(input.follows?.state ?? this.#nothing()) };
    }
    return told && this.take(told);
  }

  /** True while something of it may run out. */
  get isPassing(): boolean {
    return this.#due.size > 0;
  }

  #nothing(): DeviceState {
    return Object.fromEntries(fieldsOf(this.handler).map((name) => [name, null]));
  }

  #fit(read: DeviceState): DeviceState {
    const entries: [string, StateValue][] = [];
    for (const [name, value] of Object.entries(read)) {
      const capability = Object.hasOwn(this.handler.capabilities, name)
        ? this.handler.capabilities[name]
        : undefined;
      if (!capability) continue;
      const fit = coerce(capability, value);
      if (fit === null && value !== null) this.#tellUnusable(name, value);
      entries.push([name, fit]);
    }
    return Object.fromEntries(entries);
  }

  #tellUnusable(name: string, value: StateValue): void {
    if (Number.isNaN(value)) this.#environment.onGarbage(`its ${name} is not a number`);
    else this.#environment.onUnusable(`its ${name} is not a possible value`);
  }
}

/** The names of the capabilities that have a state. */
function fieldsOf({ capabilities, stateless }: ComponentHandler): string[] {
  return Object.entries(capabilities).flatMap(([name, { type }]) =>
    type === "command" || stateless?.has(name) ? [] : name,
  );
}

/** A host takes no list of devices in which one has such bounds. @throws DiscoveryError */
function checkBounds({ capabilities }: ComponentHandler): void {
  for (const [name, capability] of Object.entries(capabilities)) {
    if (capability.type !== "number") continue;
    const { min = -Infinity, max = Infinity } = capability;
    if (min > max) throw new DiscoveryError(`the lowest ${name} is above the highest`);
  }
}

/** The reported fields of a component, and the changed ones among them. */
export interface Told {
  readonly told: DeviceState;
  readonly changed: DeviceState;
}
