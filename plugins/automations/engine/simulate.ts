import type { Cause, StateValue } from "@mantel/plugin-sdk";
import type {
  ActsFor,
  Automation,
  EngineCalendarEvent,
  EngineDevice,
  EngineHome,
  Trace,
} from "./automation.ts";
import { Engine } from "./engine.ts";
import { sectionsOf } from "./undo.ts";
import { isSame, valueOf, withValue } from "./values.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Entries of a timeline; a simulation ends there. */
const MOST_ENTRIES = 5_000;
const MOST_RUNS = 1_000;
/** Causes of a chain, as in the home. */
const MOST_CAUSES = 8;

/** Something that happens in the simulated home by itself. Instants are epoch milliseconds. */
export type Happening = { readonly at: number } & (
  | { readonly device: string; readonly field: string; readonly value: StateValue }
  | { readonly device: string; readonly event: string }
  | { readonly webhook: string }
  | { readonly topic: string; readonly payload: string }
  | { readonly start: true }
);

export interface SimulationOptions {
  readonly automations: readonly Automation[];
  /** The devices as they are at `from`. */
  readonly devices: readonly EngineDevice[];
  /** In any order. */
  readonly happenings: readonly Happening[];
  readonly calendarEvents?: readonly EngineCalendarEvent[];
  readonly timeZone: string;
  readonly coordinates?: EngineHome["coordinates"];
  readonly from: number;
  readonly to: number;
  /** Called often; awaiting it lets other work run. */
  readonly breathe?: () => Promise<void>;
}

/** One line of the result. Instants are ISO 8601 in UTC. */
export type TimelineEntry = { readonly at: string } & (
  | {
      readonly kind: "state";
      readonly device: string;
      readonly field: string;
      readonly value: StateValue;
    }
  | { readonly kind: "event"; readonly device: string; readonly event: string }
  | {
      readonly kind: "run";
      readonly automation: string;
      readonly run: string;
      readonly trigger: Trace["trigger"];
    }
  | {
      readonly kind: "command";
      readonly device: string;
      readonly command: object;
      readonly automation: string;
    }
  | { readonly kind: "scene"; readonly scene: string; readonly automation: string }
  | { readonly kind: "notify"; readonly message: string }
);

export interface Simulated {
  readonly runs: readonly Trace[];
  readonly timeline: readonly TimelineEntry[];
  /** True if it ended before `to`, because there was too much. */
  readonly truncated: boolean;
}

/** Lets automations run in a home of the past, or in one that was made up. Each command is confirmed at once. */
export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const simulation = new Simulation(options);
  return simulation.run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #clock: VirtualClock;
  readonly #engine: Engine;
  readonly #timeline: TimelineEntry[] = [];
  readonly #runs = new Map<string, Trace>();

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#clock = new VirtualClock(options.from);
    this.#engine = new Engine({
      clock: this.#clock,
      home: this.#home(),
      warn: () => undefined,
      traced: (run, trace) => this.#traced(run, trace),
      ended: () => undefined,
    });
  }

  async run(): Promise<Simulated> {
    const { automations, devices, happenings, calendarEvents, to, breathe } = this.#options;
    const engine = this.#engine;
    engine.initialize(devices);
    for (const automation of automations) engine.set({ ...automation, enabled: true });
    engine.setCalendarEvents(calendarEvents ?? []);
    for (const happening of happenings.toSorted((a, b) => a.at - b.at)) {
      if (this.#isFull) break;
      if (happening.at >= to) break;
      await this.#advance(happening.at);
      this.#happen(happening);
    }
    if (!this.#isFull) await this.#advance(to);
    await breathe?.();
    const truncated = this.#isFull;
    engine.stop();
    return { runs: [...this.#runs.values()], timeline: this.#timeline, truncated };
  }

  async #advance(to: number): Promise<void> {
    const settled = async (): Promise<void> => {
      await this.#engine.settled();
      await this.#options.breathe?.();
    };
    await this.#clock.advance(Math.max(0, to - this.#clock.now()), settled);
  }

  #happen(happening: Happening): void {
    if ("start" in happening) return this.#engine.started();
    if ("webhook" in happening) return void this.#engine.webhook(happening.webhook);
    if ("topic" in happening) return this.#engine.message(happening.topic, happening.payload);
    const { device: id } = happening;
    const at = this.#at;
    if ("event" in happening) {
      this.#add({ at, kind: "event", device: id, event: happening.event });
      return this.#engine.deviceEvent(id, happening.event);
    }
    const { field, value } = happening;
    const name = this.#engine.device(id)?.name ?? id;
    this.#change(id, field, value, { kind: "device", id, name });
  }

  #change(id: string, field: string, value: StateValue, cause: Cause): void {
    const old = this.#engine.device(id);
    if (!old || isSame(valueOf(old, field), value)) return;
    this.#add({ at: this.#at, kind: "state", device: id, field, value });
    this.#engine.deviceChanged({ id, device: withValue(old, field, value), old, cause });
  }

  #home(): EngineHome {
    const { timeZone, coordinates } = this.#options;
    return {
      timeZone,
      coordinates,
      command: async (device, command, by) => {
        const { id: automation } = by.automation;
        this.#add({ at: this.#at, kind: "command", device, command, automation });
        for (const [place, fields] of sectionsOf(command)) {
          for (const [field, value] of Object.entries(switched(fields))) {
            const isState = valueOf(this.#engine.device(device), place + field) !== undefined;
            if (isState) this.#change(device, place + field, value, causeOf(by));
          }
        }
      },
      activateScene: async (scene, { automation }) =>
        this.#add({ at: this.#at, kind: "scene", scene, automation: automation.id }),
      notify: async (message) => this.#add({ at: this.#at, kind: "notify", message }),
    };
  }

  #traced(run: string, trace: () => Trace): void {
    const isNew = !this.#runs.has(run);
    if (isNew && this.#runs.size >= MOST_RUNS) return;
    const current = trace();
    this.#runs.set(run, current);
    if (!isNew) return;
    const { automation, trigger } = current;
    this.#add({ at: this.#at, kind: "run", automation, run, trigger });
  }

  #add(entry: TimelineEntry): void {
    if (!this.#isFull) this.#timeline.push(entry);
  }

  get #at(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  get #isFull(): boolean {
    return this.#timeline.length >= MOST_ENTRIES;
  }
}

/** The fields that a command sets: a brightness above 0 switches on, and 0 switches off and keeps the level. */
function switched(fields: object): Readonly<Record<string, StateValue>> {
  const { brightness, ...others } = fields as Record<string, StateValue>;
  if (brightness === undefined) return others;
  return brightness === 0 ? { ...others, on: false } : { on: true, ...others, brightness };
}

/** An automation that starts itself again and again would have a chain of any length. */
function causeOf({ automation: { id, name }, parent }: ActsFor): Cause {
  const short = parent && shortened(parent, MOST_CAUSES - 1);
  return { kind: "automation", id, name, ...(short && { parent: short }) };
}

function shortened({ parent, ...cause }: Cause, most: number): Cause {
  return parent && most > 1 ? { ...cause, parent: shortened(parent, most - 1) } : cause;
}
