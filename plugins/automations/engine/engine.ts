import type { Cause } from "@mantel/plugin-sdk";
import { ActiveRun, type RunDependencies } from "./active-run.ts";
import { attempt } from "./attempt.ts";
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
import { Guard, type Offence } from "./guard.ts";
import type { StoredRun } from "./journal.ts";
import { SentCommands } from "./sent-commands.ts";
import { isoOf, stoppedTrace, traceOf, Traces } from "./traces.ts";
import { watchKeys, watchStates } from "./trigger-keys.ts";
import { commandTo } from "./undo.ts";
import { type StoredUndo, type UndoRequest, Undos } from "./undos.ts";
import { isSame, valueOf } from "./values.ts";
import type { DeviceChange, Fired, StoredWatch, Watch } from "./watch.ts";
import { Watches } from "./watches.ts";

/** Runs of one automation that wait for their turn, or run at once. */
const MOST_RUNS = 10;

/** Triggers whose times are remembered. */
const OF_TIME: readonly Fired["type"][] = ["time", "cron", "sun", "calendar"];

/** The latest instant of a date, which stands for no end: JSON has no infinity. */
export const FOREVER = 8_640_000_000_000_000;

/** All that a reload or a restart must not lose, as plain data. */
export interface Snapshot {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly runs: readonly StoredRun[];
  readonly undos: readonly StoredUndo[];
  /** The states of triggers, by automation and trigger. */
  readonly watches: Readonly<Record<string, StoredWatch>>;
  readonly pausedUntil: number | null;
  /** The instants until which automations are switched off, by their ids. Absent in older snapshots. */
  readonly off?: Readonly<Record<string, number>>;
  readonly traces: Readonly<Record<string, readonly Trace[]>>;
}

/** A sentence about an automation for the log. */
export type Warn = (sentence: string, fields: Readonly<Record<string, unknown>>) => void;

export interface EngineDependencies {
  readonly clock: Clock;
  readonly home: EngineHome;
  readonly warn: Warn;
  /** Called with each change of a run. `trace` returns it as it is then. */
  readonly traced: (run: string, trace: () => Trace) => void;
  /** Called once when a run ends. The end of a command for a time comes later, and only changes its trace. */
  readonly ended: (trace: Trace) => void;
  /** Called when there is something new to store. */
  readonly changed: () => void;
}

/** The present state of an automation. `failed`: set aside until its file changes. `paused` by the guard against loops. */
export type AutomationState = "idle" | "running" | "disabled" | "paused" | "failed";

interface Entry {
  automation: Automation;
  /** Its triggers, in their order. */
  watches: readonly Watch[];
  readonly runs: Set<ActiveRun>;
  readonly queue: { readonly event: TriggerEvent; readonly traced: Trace["conditions"] }[];
  /** A user-facing sentence about a fight with another automation. */
  warning?: { readonly text: string; readonly until: number };
}

const WARNING_MS = 60 * 60_000;

/** Runs the automations of a home. Uses no API of Node, so that a simulation runs the same code. */
export class Engine {
  readonly #parts: EngineDependencies;
  readonly #entries = new Map<string, Entry>();
  readonly #devices = new Map<string, EngineDevice>();
  readonly #watches: Watches;
  readonly #undos: Undos;
  readonly #guard = new Guard();
  readonly #traces = new Traces();
  readonly #runParts: RunDependencies;
  /** States of triggers from before a restart, for automations that are set later. */
  #stored: Record<string, StoredWatch> = {};
  /** Runs from before a restart whose automation is not set yet. */
  #orphans: StoredRun[] = [];
  #pausedUntil: number | null = null;
  /** The instants until which automations are switched off, by their ids. */
  #off = new Map<string, number>();
  #isStopped = false;
  #lastRun = 0;
  #busy = 0;
  #whenSettled: (() => void)[] = [];

  constructor(parts: EngineDependencies) {
    this.#parts = parts;
    const { clock, home } = parts;
    const device = (id: string) => this.#devices.get(id);
    this.#watches = new Watches({ clock, home, device, devices: () => this.#devices.values() });
    this.#undos = new Undos({ clock, undo: (request) => void this.#undo(request) });
    const commands = new SentCommands({
      clock,
      home,
      device,
      guard: this.#guard,
      undos: this.#undos,
      fought: (fight, id, field) => this.#fought(fight, id, field),
      changed: parts.changed,
    });
    this.#runParts = {
      clock,
      home,
      watch: (trigger, fire, stored) => this.#watches.add(trigger, fire, stored),
      check: (conditions) => this.#check(conditions),
      read: (id, field) => valueOf(device(id), field),
      command: (run, step, at) => commands.send(run, step, at),
      changed: (run) => this.#runChanged(run),
      busy: (difference) => this.#setBusy(difference),
    };
  }

  /** Takes the devices as they are, and what a previous engine left. Call it before `set`. */
  initialize(devices: Iterable<EngineDevice>, snapshot?: Snapshot): void {
    for (const device of devices) this.#devices.set(device.id, device);
    this.#watches.initialize();
    if (!snapshot) return;
    this.#stored = { ...snapshot.watches };
    this.#orphans = [...snapshot.runs];
    this.#pausedUntil = snapshot.pausedUntil;
    this.#off = new Map(Object.entries(snapshot.off ?? {}));
    this.#traces.restore(snapshot.traces);
    this.#undos.restore(snapshot.undos);
  }

  /** Adds an automation or replaces it. Its runs continue, and so do triggers that are the same. */
  set(automation: Automation): void {
    const known = this.#entries.get(automation.id);
    if (known) this.#keepWatches(known);
    const entry: Entry = known ?? { automation, watches: [], runs: new Set(), queue: [] };
    if (known && !isSame(known.automation.triggers, automation.triggers)) delete entry.warning;
    entry.automation = automation;
    this.#entries.set(automation.id, entry);
    const { failure } = automation;
    if (failure !== undefined) for (const run of entry.runs) run.fail(failure);
    if (automation.enabled && failure === undefined) this.#watch(entry);
    else this.#end(entry, failure ?? "the automation was switched off");
    this.#continue(entry);
    this.#parts.changed();
  }

  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#keepWatches(entry);
    for (const { key } of watchKeys(entry.automation)) delete this.#stored[key];
    this.#end(entry, "the automation was deleted");
    this.#entries.delete(id);
    this.#off.delete(id);
    this.#traces.forget(id);
    this.#guard.forget(id);
    this.#parts.changed();
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

  /** True if an automation has a trigger or condition of calendars. */
  get needsCalendar(): boolean {
    return this.automations().some(({ triggers, conditions, kept }) =>
      JSON.stringify([triggers, conditions, kept]).includes('"type":"calendar"'),
    );
  }

  /** True if an automation waits for this webhook. */
  webhook(name: string): boolean {
    return this.#watches.called(name);
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
    if (entry.automation.mode === "single") this.#cancelRuns(entry, "it was started by hand");
    return this.#start(entry, event, []);
  }

  /** Lets nothing start until an instant, or until it is resumed. Runs are cancelled. */
  pause(until = FOREVER): void {
    this.#pausedUntil = until;
    for (const entry of this.#entries.values()) {
      this.#cancelRuns(entry, "all automations were switched off");
    }
    this.#parts.changed();
  }

  resume(): void {
    this.#pausedUntil = null;
    this.#parts.changed();
  }

  /** The instant until which nothing starts; `undefined` if automations start. */
  get pausedUntil(): number | undefined {
    const until = this.#pausedUntil;
    return until !== null && this.#parts.clock.now() < until ? until : undefined;
  }

  /** Lets an automation start nothing until an instant, or until it is switched on. Its runs are cancelled. */
  switchOff(id: string, until = FOREVER): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#off.set(id, until);
    this.#end(entry, "the automation was switched off");
    this.#parts.changed();
  }

  switchOn(id: string): void {
    if (this.#off.delete(id)) this.#parts.changed();
  }

  /** The instant until which an automation is switched off; `undefined` if it starts. */
  offUntil(id: string): number | undefined {
    const until = this.#off.get(id);
    return until !== undefined && this.#parts.clock.now() < until ? until : undefined;
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
    const warning = this.#entries.get(id)?.warning;
    return (
      this.#entries.get(id)?.automation.failure ??
      this.#guard.pausedBy(id, now) ??
      (warning && now < warning.until ? warning.text : undefined)
    );
  }

  /** The last runs, newest first. */
  tracesOf(id: string): readonly Trace[] {
    const active = [...(this.#entries.get(id)?.runs ?? [])].map(traceOf);
    return [...active.toReversed(), ...this.#traces.of(id)];
  }

  /** Resolves when no run does anything but wait. */
  settled(): Promise<void> {
    if (this.#busy === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#whenSettled.push(resolve));
  }

  /** @param isWhole true for all runs; otherwise only those that wait, because others end soon */
  snapshot(isWhole: boolean): Snapshot {
    const entries = [...this.#entries.values()];
    const runs = entries.flatMap((entry) => [...entry.runs]);
    const watches = { ...this.#stored };
    for (const entry of entries) Object.assign(watches, watchStates(entry));
    return {
      at: this.#parts.clock.now(),
      runs: [
        ...this.#orphans,
        ...runs.filter((run) => isWhole || run.isWaiting).map((run) => run.stored()),
      ],
      undos: this.#undos.stored(),
      watches,
      pausedUntil: this.#pausedUntil,
      off: Object.fromEntries(this.#off),
      traces: this.#traces.all(),
    };
  }

  /** Stops all timers and runs, without a trace: the next engine continues them. It does nothing afterwards. */
  stop(): void {
    this.#isStopped = true;
    for (const entry of this.#entries.values()) {
      for (const watch of entry.watches) watch.stop();
      for (const run of entry.runs) run.cancel("the engine has stopped");
    }
    this.#undos.stop();
  }

  #watch(entry: Entry): void {
    entry.watches = watchKeys(entry.automation).map(({ key, trigger, index }) => {
      const stored = this.#stored[key];
      delete this.#stored[key];
      return this.#watches.add(trigger, (fired) => this.#fired(entry, index, fired), stored);
    });
  }

  /** Stops the watches of an entry, and keeps their states for triggers that are the same later. */
  #keepWatches(entry: Entry): void {
    Object.assign(this.#stored, watchStates(entry));
    for (const watch of entry.watches) watch.stop();
    entry.watches = [];
  }

  #fired(entry: Entry, index: number, fired: Fired): void {
    const { clock } = this.#parts;
    if (this.#isStopped) return;
    if (OF_TIME.includes(fired.type)) this.#parts.changed(); // a crash must not repeat this time
    const { automation } = entry;
    if (this.pausedUntil !== undefined || this.offUntil(automation.id) !== undefined) return;
    const refused = this.#guard.start(automation, fired.cause, clock.monotonic());
    if (refused) {
      if (refused.isNew) this.#refuse(entry, { ...fired, index, at: clock.now() }, refused.reason);
      return;
    }
    const event: TriggerEvent = { index, at: clock.now(), ...fired };
    const { isMet, traced } = this.#check(automation.conditions);
    if (!isMet) return this.#trace(stoppedTrace(this.#newRun(automation, event, traced), event.at));
    this.#begin(entry, event, traced);
  }

  #refuse(entry: Entry, event: TriggerEvent, reason: string): void {
    const { automation } = entry;
    this.#parts.warn("paused an automation", { automation: automation.id, reason });
    this.#trace(stoppedTrace(this.#newRun(automation, event, []), event.at, reason));
  }

  /** Starts a run, as the mode of the automation says. */
  #begin(entry: Entry, event: TriggerEvent, traced: Trace["conditions"]): void {
    const { runs, queue, automation } = entry;
    const { mode } = automation;
    if (mode === "restart") this.#cancelRuns(entry, "the automation started again");
    else if (runs.size > 0 && mode === "single") return;
    else if (runs.size > 0 && mode === "queued") {
      if (queue.length < MOST_RUNS) queue.push({ event, traced });
      else this.#parts.warn("too many runs wait", { automation: automation.id, runs: MOST_RUNS });
      return;
    }
    this.#start(entry, event, traced);
  }

  #start(entry: Entry, event: TriggerEvent, traced: Trace["conditions"]): string | undefined {
    const { automation, runs } = entry;
    if (runs.size >= MOST_RUNS) {
      this.#parts.warn("too many runs at once", { automation: automation.id, runs: MOST_RUNS });
      return undefined;
    }
    const { kept } = automation;
    const stored: StoredRun = {
      ...this.#newRun(automation, event, traced),
      ...(kept !== undefined && { kept }),
      journal: [],
    };
    this.#perform(entry, stored);
    return stored.id;
  }

  #perform(entry: Entry, stored: StoredRun): void {
    const run = new ActiveRun(stored, this.#runParts);
    entry.runs.add(run);
    void run.perform(entry.automation);
  }

  #newRun({ id, name }: Automation, trigger: TriggerEvent, conditions: Trace["conditions"]) {
    const startedAt = this.#parts.clock.now();
    const run = `${startedAt.toString(36)}-${(++this.#lastRun).toString(36)}`;
    return { id: run, automation: id, name, startedAt, trigger, conditions };
  }

  #check(conditions: Automation["conditions"]) {
    const { clock, home } = this.#parts;
    const watches = this.#watches;
    const around = {
      now: clock.now(),
      home,
      device: (id: string) => this.#devices.get(id),
      isAnyoneHome: () => watches.isAnyoneHome,
      calendarEvents: () => watches.calendarEvents,
    };
    return checkAll(conditions, around);
  }

  #fought({ automations, reason }: Offence, device: string, field: string): void {
    this.#parts.warn("two automations fight", { device, field, reason });
    const until = this.#parts.clock.monotonic() + WARNING_MS;
    for (const id of automations) {
      const entry = this.#entries.get(id);
      if (entry) entry.warning = { text: reason, until };
    }
  }

  /** Ends a command for a time. Never rejects. */
  async #undo({ automation, run, at, device: id, before, by }: UndoRequest): Promise<void> {
    const { clock, home } = this.#parts;
    const device = this.#devices.get(id);
    const body = device && commandTo(device, before);
    if (!body) return this.#parts.changed();
    this.#setBusy(1);
    const startedAt = isoOf(clock.now());
    const result = await attempt(this.#runParts, () => home.command(id, body, by));
    const index = Number.parseInt(at, 10) || 0;
    const endedAt = isoOf(clock.now());
    const action = { index, at, type: "undo" as const, startedAt, endedAt, ...result };
    const active = [...(this.#entries.get(automation)?.runs ?? [])].find((each) => each.id === run);
    const ended = this.#traces.find(automation, run);
    if (active) active.later.push(action);
    else if (ended) this.#trace({ ...ended, actions: [...ended.actions, action] });
    this.#parts.changed();
    this.#setBusy(-1);
  }

  #runChanged(run: ActiveRun): void {
    if (this.#isStopped) return;
    const entry = this.#entries.get(run.automation);
    if (run.end) {
      entry?.runs.delete(run);
      const trace = traceOf(run);
      this.#traces.put(trace);
      this.#parts.ended(trace);
    }
    this.#parts.traced(run.id, () => traceOf(run));
    if (run.isWaiting || (run.end && run.hasWaited)) this.#parts.changed();
    const next = run.end && entry?.runs.size === 0 ? entry.queue.shift() : undefined;
    if (entry && next) this.#start(entry, next.event, next.traced);
  }

  #trace(trace: Trace): void {
    if (this.#isStopped) return;
    this.#traces.put(trace);
    this.#parts.traced(trace.id, () => trace);
  }

  #end(entry: Entry, reason: string): void {
    this.#orphans = this.#orphans.filter(({ automation }) => automation !== entry.automation.id);
    this.#cancelRuns(entry, reason);
  }

  #cancelRuns({ runs, queue }: Entry, reason: string): void {
    queue.length = 0;
    for (const run of runs) run.cancel(reason);
    runs.clear();
  }

  /** Repeats the runs from before a restart, up to where they were. */
  #continue(entry: Entry): void {
    const { id } = entry.automation;
    const own = this.#orphans.filter(({ automation }) => automation === id);
    if (own.length === 0) return;
    this.#orphans = this.#orphans.filter(({ automation }) => automation !== id);
    for (const stored of own) this.#perform(entry, stored);
  }

  #setBusy(difference: 1 | -1): void {
    this.#busy += difference;
    if (this.#busy > 0) return;
    for (const settled of this.#whenSettled.splice(0)) settled();
  }
}
