import { type Cause, topicMatcher } from "@mantel/plugin-sdk";
import type { Clock, EngineCalendarEvent, EngineDevice, EngineHome, Stop } from "./automation.ts";
import type { Trigger, TriggerOf } from "./document.ts";
import { CalendarWatch } from "./watch-calendar.ts";
import { StateWatch } from "./watch-state.ts";
import { TimeWatch } from "./watch-time.ts";
import type { DeviceChange, Fire, Fired, StoredWatch, Watch, WatchCallbacks } from "./watch.ts";

export interface WatchDependencies {
  readonly clock: Clock;
  readonly home: Pick<EngineHome, "timeZone" | "coordinates">;
  readonly device: (id: string) => EngineDevice | undefined;
  readonly devices: () => Iterable<EngineDevice>;
}

/** A set of listeners by key, so that a change costs only those that it concerns. */
class Listeners<T> {
  readonly #byKey = new Map<string, Set<(value: T) => void>>();

  add(key: string, listener: (value: T) => void): Stop {
    const listeners = this.#byKey.get(key) ?? new Set();
    listeners.add(listener);
    this.#byKey.set(key, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#byKey.delete(key);
    };
  }

  call(key: string, value: T): void {
    const listeners = this.#byKey.get(key);
    if (listeners) for (const listener of [...listeners]) listener(value);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  keys(): string[] {
    return [...this.#byKey.keys()];
  }
}

/** Watches triggers, and fires those that the home, the time or a message meets. */
export class Watches {
  readonly #parts: WatchDependencies;
  readonly #changes = new Listeners<DeviceChange>();
  readonly #events = new Listeners<Fired>();
  readonly #messages = new Listeners<{ readonly topic: string; readonly payload: string }>();
  readonly #presence = new Listeners<{ readonly isAnyoneHome: boolean; readonly cause?: Cause }>();
  readonly #calendars = new Set<CalendarWatch>();
  #calendarEvents: readonly EngineCalendarEvent[] = [];
  #isAnyoneHome: boolean | undefined;

  constructor(parts: WatchDependencies) {
    this.#parts = parts;
  }

  /** Watches a trigger from now on, or from where a stored watch ended. */
  add(trigger: Trigger, callbacks: WatchCallbacks, stored?: StoredWatch): Watch {
    const { clock, home, device } = this.#parts;
    const { fire } = callbacks;
    switch (trigger.type) {
      case "state": {
        const watch = new StateWatch(
          { clock, trigger, stored, ...callbacks },
          device(trigger.device),
        );
        const stop = this.#changes.add(trigger.device, (change) => watch.changed(change));
        return { stop: () => (stop(), watch.stop()), stored: () => watch.stored() };
      }
      case "event":
        return stateless(this.#addEvent(trigger, fire));
      case "time":
      case "cron":
      case "sun": {
        const watch = new TimeWatch({ clock, home, trigger, stored, ...callbacks });
        return { stop: () => watch.stop(), stored: () => watch.stored() };
      }
      case "calendar": {
        const watch = new CalendarWatch({ clock, trigger, stored, ...callbacks });
        this.#calendars.add(watch);
        watch.setEvents(this.#calendarEvents);
        const stop = () => (this.#calendars.delete(watch), watch.stop());
        return { stop, stored: () => watch.stored() };
      }
      case "mqtt":
        return stateless(this.#addMqtt(trigger, fire));
      case "presence":
        return stateless(this.#addPresence(trigger, fire));
      case "webhook":
        return stateless(this.#events.add(`webhook ${trigger.name}`, fire));
      case "start":
        return stateless(this.#events.add("start", fire));
    }
  }

  /** True while somebody is at home; `undefined` if no tracker knows. */
  get isAnyoneHome(): boolean | undefined {
    return this.#isAnyoneHome;
  }

  get calendarEvents(): readonly EngineCalendarEvent[] {
    return this.#calendarEvents;
  }

  /** The MQTT topics and filters of all triggers. */
  get topics(): string[] {
    return this.#messages.keys();
  }

  /** Takes the devices as they are. Nothing fires. */
  initialize(): void {
    this.#isAnyoneHome = this.#findAnyone();
  }

  /** Takes a change that the devices of the dependencies already have. */
  changed(change: DeviceChange): void {
    if ((change.device ?? change.old)?.kind === "tracker") this.#updatePresence(change.cause);
    this.#changes.call(change.id, change);
  }

  happened(device: string, event: string, data: Fired["data"]): void {
    const name = this.#parts.device(device)?.name ?? device;
    const cause: Cause = { kind: "device", id: device, name };
    const fired: Fired = { type: "event", device, event, cause, ...(data && { data }) };
    this.#events.call(`event ${device} ${event}`, fired);
  }

  /** @param filter the only filter that the message is for; all that match if absent */
  received(topic: string, payload: string, filter?: string): void {
    const filters = filter === undefined ? this.#messages.keys() : [filter];
    for (const each of filters) {
      if (topicMatcher(each)(topic)) this.#messages.call(each, { topic, payload });
    }
  }

  called(webhook: string, body?: unknown): boolean {
    const isKnown = this.#events.has(`webhook ${webhook}`);
    const fired: Fired = { type: "webhook", event: webhook, ...(body !== undefined && { body }) };
    this.#events.call(`webhook ${webhook}`, fired);
    return isKnown;
  }

  started(): void {
    this.#events.call("start", { type: "start" });
  }

  setCalendarEvents(events: readonly EngineCalendarEvent[]): void {
    this.#calendarEvents = events;
    for (const watch of this.#calendars) watch.setEvents(events);
  }

  #addEvent({ device, event }: TriggerOf<"event">, fire: Fire): Stop {
    return this.#events.add(`event ${device} ${event}`, fire);
  }

  #addMqtt({ topic, payload: wanted }: TriggerOf<"mqtt">, fire: Fire): Stop {
    return this.#messages.add(topic, (message) => {
      if (wanted === undefined || wanted === message.payload) fire({ type: "mqtt", ...message });
    });
  }

  /** Of one person, or of the first that comes and the last that leaves. */
  #addPresence({ anyone, person }: TriggerOf<"presence">, fire: Fire): Stop {
    const told = (to: boolean, cause: Cause | undefined): void => {
      if (to === anyone) fire({ type: "presence", to, ...(cause && { cause }) });
    };
    if (person === undefined) {
      return this.#presence.add("", ({ isAnyoneHome, cause }) => told(isAnyoneHome, cause));
    }
    return this.#changes.add(person, ({ device, old, cause }) => {
      const [to, from] = [device?.state["home"], old?.state["home"]];
      if (typeof to === "boolean" && typeof from === "boolean" && to !== from) told(to, cause);
    });
  }

  #updatePresence(cause: Cause | undefined): void {
    const isAnyoneHome = this.#findAnyone();
    const before = this.#isAnyoneHome;
    this.#isAnyoneHome = isAnyoneHome;
    if (before === undefined || isAnyoneHome === undefined || before === isAnyoneHome) return;
    this.#presence.call("", { isAnyoneHome, ...(cause && { cause }) });
  }

  #findAnyone(): boolean | undefined {
    let isAnyoneHome: boolean | undefined;
    for (const { kind, state } of this.#parts.devices()) {
      if (kind !== "tracker" || typeof state["home"] !== "boolean") continue;
      if (state["home"]) return true;
      isAnyoneHome = false;
    }
    return isAnyoneHome;
  }
}

const stateless = (stop: Stop): Watch => ({ stop, stored: () => undefined });
