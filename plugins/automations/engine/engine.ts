import type { Cause } from "@mantel/plugin-sdk";
import type { ActiveRun, RunDependencies } from "./active-run.ts";
import { AutomationRuns } from "./automation-runs.ts";
import { AutomationTriggers } from "./automation-triggers.ts";
import type {
  Automation,
  Clock,
  EngineCalendarEvent,
  EngineDevice,
  EngineHome,
  Trace,
  TriggerEvent,
} from "./automation.ts";
import { checkAll } from "./conditions.ts";
import { Guard } from "./guard.ts";
import { SentCommands } from "./sent-commands.ts";
import type { StateStore } from "./state-store.ts";
import { readState } from "./stored-state.ts";
import { FOREVER, Switches } from "./switches.ts";
import { stoppedTrace, traceOf, Traces } from "./traces.ts";
import { Unclaimed } from "./unclaimed.ts";
import { isSame, valueOf } from "./values.ts";
import { changeVariable, Variables } from "./variables.ts";
import { Warnings } from "./warnings.ts";
import type { DeviceChange, Fired } from "./watch.ts";
import { Watches } from "./watches.ts";

export interface EngineDependencies {
  readonly clock: Clock;
  readonly home: EngineHome;
  /** All that a restart must not lose. A `Map` if absent. */
  readonly store?: StateStore;
  /** A number from 0 to below 1. */
  readonly random?: () => number;
  /** Writes a sentence about an automation into the log. */
  readonly warn: (sentence: string, fields: Readonly<Record<string, unknown>>) => void;
  /** Called with each change of a run. `trace` returns it as it is then. */
  readonly traced: (run: string, trace: () => Trace) => void;
  /** Called once when a run ends. The end of a command for a time comes later, and only changes its trace. */
  readonly ended: (trace: Trace) => void;
}

/** The present state of an automation. `failed`: set aside until its file changes. `paused` by the guard against loops. */
export type AutomationState = "idle" | "running" | "disabled" | "paused" | "failed";

interface Entry {
  automation: Automation;
  readonly triggers: AutomationTriggers;
  readonly runs: AutomationRuns;
}

/** Runs the automations of a home. Uses no API of Node, so that a simulation runs the same code. */
export class Engine {
  readonly #parts: EngineDependencies;
  readonly #store: StateStore;
  readonly #entries = new Map<string, Entry>();
  readonly #devices = new Map<string, EngineDevice>();
  readonly #watches: Watches;
  readonly #commands: SentCommands;
  readonly #guard = new Guard();
  readonly #warnings: Warnings;
  readonly #traces = new Traces();
  readonly #runParts: RunDependencies;
  readonly variables: Variables;
  readonly #switches: Switches;
  readonly #unclaimed: Unclaimed;
  #isStopped = false;
  #lastRun = 0;
  #busy = 0;
  #whenSettled: (() => void)[] = [];

  constructor(parts: EngineDependencies) {
    this.#parts = parts;
    const { clock, home, random = Math.random } = parts;
    const store = parts.store ?? new Map<string, unknown>();
    this.#store = {
      set: (key, value) => this.#isStopped || store.set(key, value),
      delete: (key) => this.#isStopped || store.delete(key),
      [Symbol.iterator]: () => store[Symbol.iterator](),
    };
    const device = (id: string) => this.#devices.get(id);
    this.variables = new Variables(this.#store);
    this.#switches = new Switches(clock, this.#store);
    this.#warnings = new Warnings(clock);
    this.#unclaimed = new Unclaimed(this.#store);
    this.#watches = new Watches({ clock, home, device, devices: () => this.#devices.values() });
    this.#commands = new SentCommands({
      clock,
      home,
      device,
      store: this.#store,
      guard: this.#guard,
      busy: (difference) => this.#setBusy(difference),
      fought: ({ automations, reason }, id, field) => {
        parts.warn("two automations fight", { device: id, field, reason });
        this.#warnings.set(automations, reason);
      },
      undone: (automation, run, action) => {
        const active = this.#entries.get(automation)?.runs.find(run);
        const ended = this.#traces.find(automation, run);
        if (active) active.later.push(action);
        else if (ended) this.#trace({ ...ended, actions: [...ended.actions, action] });
      },
    });
    this.#runParts = {
      clock,
      home,
      store: this.#store,
      random,
      watch: (trigger, callbacks, stored) => this.#watches.add(trigger, callbacks, stored),
      check: ({ automation }, conditions) => this.#check(conditions, this.#ownerOf(automation)),
      read: (id, field) => valueOf(device(id), field),
      variable: ({ automation }, request) =>
        changeVariable(this.variables, this.#ownerOf(automation), request),
      command: (run, step, at) => this.#commands.send(run, step, at),
      changed: (run) => this.#runChanged(run),
      busy: (difference) => this.#setBusy(difference),
    };
  }

  /** Takes the devices as they are, and what the store has from before. Call it before `set`. */
  initialize(
    devices: Iterable<EngineDevice>,
    traces: Readonly<Record<string, readonly Trace[]>> = {},
  ) {
    for (const device of devices) this.#devices.set(device.id, device);
    this.#watches.initialize();
    const stored = readState(this.#store);
    this.#unclaimed.restore(stored);
    this.variables.restore(stored.variables);
    this.#switches.restore(stored);
    this.#traces.restore(traces);
    this.#commands.undos.restore(stored.undos);
  }

  /** Adds an automation or replaces it. Its runs continue, and so do triggers that are the same. */
  set(automation: Automation): void {
    const { id, failure, triggers } = automation;
    const entry = this.#entries.get(id) ?? this.#newEntry(automation);
    if (!isSame(entry.automation.triggers, triggers)) this.#warnings.forget(id);
    entry.automation = automation;
    this.#entries.set(id, entry);
    if (failure !== undefined) entry.runs.fail(failure);
    const isOn = automation.enabled && failure === undefined;
    entry.triggers.set(automation, isOn);
    if (!isOn) return this.#end(entry, failure ?? "the automation was switched off");
    const { runs, queue } = this.#unclaimed.takeRuns(id);
    entry.runs.restore(runs, queue);
  }

  /** Removes an automation with all that is stored of it, but its variables. */
  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.triggers.remove();
    this.#end(entry, "the automation was deleted");
    this.#entries.delete(id);
    this.#switches.switchOn(id);
    this.#traces.forget(id);
    this.#guard.forget(id);
    this.#warnings.forget(id);
  }

  /** Forgets what is stored of automations that no longer exist, such as of files that were deleted while nothing ran. */
  forgetOthers(exists: (idOrOwner: string) => boolean): void {
    this.#unclaimed.dropOthers(exists);
    for (const id of this.#switches.ids()) if (!exists(id)) this.#switches.switchOn(id);
    for (const owner of this.variables.owners()) if (!exists(owner)) this.variables.forget(owner);
  }

  /** Fires the triggers of the type `start`. */
  started(): void {
    this.#watches.started();
  }

  /** Takes a change. `old` is absent for a new device, `device` for one that is gone. */
  deviceChanged(change: DeviceChange): void {
    if (change.device) this.#devices.set(change.id, change.device);
    else this.#devices.delete(change.id);
    this.#watches.changed(change);
  }

  deviceEvent(device: string, event: string, data?: Fired["data"]): void {
    this.#watches.happened(device, event, data);
  }

  /** Takes a message. `filter` is the subscription that it came for; absent means all that match. */
  message(topic: string, payload: string, filter?: string): void {
    this.#watches.received(topic, payload, filter);
  }

  /** Takes a request to a webhook. Returns true if an automation waits for it. */
  webhook(name: string, body?: unknown): boolean {
    return this.#watches.called(name, body);
  }

  setCalendarEvents(events: readonly EngineCalendarEvent[]): void {
    this.#watches.setCalendarEvents(events);
  }

  get topics(): string[] {
    return this.#watches.topics;
  }

  device(id: string): EngineDevice | undefined {
    return this.#devices.get(id);
  }

  devices(): EngineDevice[] {
    return [...this.#devices.values()];
  }

  automation(id: string): Automation | undefined {
    return this.#entries.get(id)?.automation;
  }

  automations(): Automation[] {
    return [...this.#entries.values()].map(({ automation }) => automation);
  }

  /** Runs an automation now, without its conditions. Returns the id of the run; `undefined` if there are too many. */
  run(id: string, cause?: Cause): string | undefined {
    const entry = this.#entries.get(id);
    if (!entry || entry.automation.failure !== undefined) return undefined;
    const at = this.#parts.clock.now();
    const event: TriggerEvent = { index: -1, type: "manual", at, ...(cause && { cause }) };
    if (entry.automation.mode === "single") entry.runs.cancel("it was started by hand");
    return entry.runs.start(event, []);
  }

  /** Lets nothing start until an instant, or until it is resumed. Runs are cancelled. */
  pause(until = FOREVER): void {
    this.#switches.pause(until);
    for (const { runs } of this.#entries.values()) runs.cancel("all automations were switched off");
  }

  resume(): void {
    this.#switches.resume();
  }

  /** The instant until which nothing starts; `undefined` if automations start. */
  get pausedUntil(): number | undefined {
    return this.#switches.pausedUntil;
  }

  /** Lets an automation start nothing until an instant, or until it is switched on. Its runs are cancelled. */
  switchOff(id: string, until = FOREVER): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#switches.switchOff(id, until);
    this.#end(entry, "the automation was switched off");
  }

  switchOn(id: string): void {
    this.#switches.switchOn(id);
  }

  /** The instant until which an automation is switched off; `undefined` if it starts. */
  offUntil(id: string): number | undefined {
    return this.#switches.offUntil(id);
  }

  stateOf(id: string): AutomationState {
    const entry = this.#entries.get(id);
    if (!entry?.automation.enabled || this.offUntil(id) !== undefined) return "disabled";
    if (entry.automation.failure !== undefined) return "failed";
    if (this.#guard.pausedBy(id, this.#parts.clock.monotonic()) !== undefined) return "paused";
    return entry.runs.size > 0 ? "running" : "idle";
  }

  /** A user-facing sentence about an automation that is paused, or fights with another one. */
  problemOf(id: string): string | undefined {
    const now = this.#parts.clock.monotonic();
    const { failure } = this.automation(id) ?? {};
    return failure ?? this.#guard.pausedBy(id, now) ?? this.#warnings.of(id);
  }

  /** The last runs, newest first. */
  tracesOf(id: string): readonly Trace[] {
    const active = [...(this.#entries.get(id)?.runs ?? [])].map(traceOf);
    return [...active.toReversed(), ...this.#traces.of(id)];
  }

  /** The traces of runs that have ended, by automation. */
  traces(): Readonly<Record<string, readonly Trace[]>> {
    return this.#traces.all();
  }

  /** Resolves when no run does anything but wait. */
  settled(): Promise<void> {
    if (this.#busy === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#whenSettled.push(resolve));
  }

  /** Stores the ends of all waits again. Call it when the date was set, and before a planned restart. */
  storeTimes(): void {
    for (const { triggers, runs } of this.#entries.values()) {
      triggers.store();
      for (const run of runs) run.storeWaits();
    }
    this.#commands.undos.storeAll();
  }

  /** Stops all timers and runs, without a trace: the next engine continues them from the store. */
  stop(): void {
    this.#isStopped = true;
    for (const { triggers, runs } of this.#entries.values()) {
      triggers.stop();
      runs.cancel("the engine has stopped");
    }
    this.#commands.undos.stop();
  }

  #newEntry(automation: Automation): Entry {
    const { id } = automation;
    const runs = new AutomationRuns({
      automation: () => entry.automation,
      run: this.#runParts,
      newHead: (event, traced) => this.#newRun(entry.automation, event, traced),
      refused: (sentence, count) => this.#parts.warn(sentence, { automation: id, runs: count }),
    });
    const triggers = new AutomationTriggers({
      watches: this.#watches,
      store: this.#store,
      unclaimed: this.#unclaimed,
      fired: (index, fired) => this.#fired(entry, index, fired),
    });
    const entry: Entry = { automation, triggers, runs };
    return entry;
  }

  #fired(entry: Entry, index: number, fired: Fired): void {
    const { clock } = this.#parts;
    if (this.#isStopped) return;
    const { automation } = entry;
    if (this.pausedUntil !== undefined || this.offUntil(automation.id) !== undefined) return;
    const event: TriggerEvent = { index, at: clock.now(), ...fired };
    const refused = this.#guard.start(automation, fired.cause, clock.monotonic());
    if (refused?.isNew) {
      const { reason } = refused;
      this.#parts.warn("paused an automation", { automation: automation.id, reason });
      this.#trace(stoppedTrace(this.#newRun(automation, event, []), event.at, reason));
    }
    if (refused) return;
    const { isMet, traced } = this.#check(automation.conditions, automation.owner);
    if (isMet) entry.runs.begin(event, traced);
    else this.#trace(stoppedTrace(this.#newRun(automation, event, traced), event.at));
  }

  #newRun({ id, name }: Automation, trigger: TriggerEvent, conditions: Trace["conditions"]) {
    const startedAt = this.#parts.clock.now();
    const run = `${startedAt.toString(36)}-${(++this.#lastRun).toString(36)}`;
    return { id: run, automation: id, name, startedAt, trigger, conditions };
  }

  #ownerOf(id: string): string {
    return this.#entries.get(id)?.automation.owner ?? id;
  }

  #check(conditions: Automation["conditions"], owner: string) {
    const { clock, home } = this.#parts;
    return checkAll(conditions, {
      now: clock.now(),
      home,
      device: (id) => this.#devices.get(id),
      isAnyoneHome: () => this.#watches.isAnyoneHome,
      calendarEvents: () => this.#watches.calendarEvents,
      variable: (name) => this.variables.get(owner, name),
    });
  }

  #runChanged(run: ActiveRun): void {
    if (this.#isStopped) return;
    if (run.end) {
      const trace = traceOf(run);
      this.#traces.put(trace);
      this.#parts.ended(trace);
    }
    this.#parts.traced(run.id, () => traceOf(run));
    if (run.end) this.#entries.get(run.automation)?.runs.ended(run);
  }

  #trace(trace: Trace): void {
    if (this.#isStopped) return;
    this.#traces.put(trace);
    this.#parts.traced(trace.id, () => trace);
  }

  /** Ends the runs of an automation, also those from before a restart. */
  #end({ automation: { id }, runs }: Entry, reason: string): void {
    this.#unclaimed.dropRuns(id);
    runs.cancel(reason);
  }

  #setBusy(difference: 1 | -1): void {
    this.#busy += difference;
    if (this.#busy > 0) return;
    for (const settled of this.#whenSettled.splice(0)) settled();
  }
}
