import type { Cause, CommandBody, StateValue } from "@mantel/plugin-sdk";
import type {
  ActsFor,
  Automation,
  EngineDevice,
  EngineHome,
  Trace,
} from "../../../plugins/automations/engine/automation.ts";
import type { AutomationDocument } from "../../../plugins/automations/engine/document.ts";
import { Engine } from "../../../plugins/automations/engine/engine.ts";
import { toAutomation } from "../../../plugins/automations/engine/perform-actions.ts";
import { VirtualClock } from "../../../plugins/automations/engine/virtual-clock.ts";

export interface SentCommand {
  readonly at: string;
  readonly device: string;
  readonly command: CommandBody;
  readonly by: ActsFor;
}

export interface StagedOptions {
  readonly now?: string;
  readonly timeZone?: string;
  readonly coordinates?: EngineHome["coordinates"];
  readonly devices?: readonly (Partial<EngineDevice> & { readonly id: string })[];
  readonly clock?: VirtualClock;
  /** Stored state of an engine. */
  readonly store?: Map<string, unknown>;
  readonly random?: () => number;
  /** Refuses commands. */
  readonly refuse?: (device: string) => Error | undefined;
}

/** A device in a test, with a kind from its id. */
function device(given: Partial<EngineDevice> & { readonly id: string }): EngineDevice {
  const [, kind = "sensor"] = given.id.split(":");
  return { kind, name: given.id, available: true, state: {}, ...given };
}

/** An engine with a virtual clock and a home in which each command is confirmed at once. */
export class StagedEngine {
  readonly clock: VirtualClock;
  readonly engine: Engine;
  readonly commands: SentCommand[] = [];
  readonly messages: string[] = [];
  readonly warnings: string[] = [];
  readonly traces = new Map<string, Trace>();
  /** The results of the runs that have ended. */
  readonly results: Trace["result"][] = [];
  readonly store: Map<string, unknown>;
  #answer: Promise<void> | undefined;

  constructor(options: StagedOptions = {}) {
    this.clock = options.clock ?? new VirtualClock(Date.parse(options.now ?? "2026-06-10T10:00Z"));
    const home: EngineHome = {
      timeZone: options.timeZone ?? "Europe/Berlin",
      coordinates: options.coordinates,
      command: async (id, command, by) => {
        const refused = options.refuse?.(id);
        if (refused) throw refused;
        this.commands.push({ at: this.at, device: id, command, by });
        await this.#answer;
        const { parts: _parts, extra: _extra, ...own } = command;
        const { automation, parent } = by;
        const cause: Cause = { kind: "automation", ...automation, ...(parent && { parent }) };
        this.change(id, own as Record<string, StateValue>, cause);
      },
      activateScene: async (scene, by) =>
        void this.commands.push({ at: this.at, device: scene, command: {}, by }),
      notify: async (message) => void this.messages.push(message),
    };
    this.store = structuredClone(options.store ?? new Map<string, unknown>());
    this.engine = new Engine({
      clock: this.clock,
      home,
      store: this.store,
      random: options.random ?? (() => 0.5),
      warn: (_sentence, { reason }) => void this.warnings.push(String(reason)),
      traced: (run, trace) => void this.traces.set(run, trace()),
      ended: ({ result }) => void this.results.push(result),
    });
    this.engine.initialize((options.devices ?? []).map(device));
  }

  get at(): string {
    return new Date(this.clock.now()).toISOString();
  }

  /** The last trace of an automation. */
  last(id: string): Trace | undefined {
    return this.engine.tracesOf(id)[0];
  }

  set(id: string, document: Partial<AutomationDocument>): Automation {
    const whole = {
      name: id,
      enabled: true,
      mode: "single",
      triggers: [],
      conditions: [],
      actions: [],
      ...document,
    } as const;
    const automation = toAutomation(id, whole);
    this.engine.set(automation);
    return automation;
  }

  /** Changes a device as if it had reported. */
  change(id: string, state: Record<string, StateValue>, cause?: Cause): void {
    const old = this.engine.device(id);
    const changed = { ...device({ id }), ...old, state: { ...old?.state, ...state } };
    this.engine.deviceChanged({
      id,
      device: changed,
      old,
      cause: cause ?? { kind: "device", id, name: changed.name },
    });
  }

  settled(): Promise<void> {
    return this.engine.settled();
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms, () => this.engine.settled());
  }

  /** Answers commands from now on only after a promise. */
  answerAfter(answer: Promise<void>): void {
    this.#answer = answer;
  }

  /** The engine after a crash, on the same clock. */
  restarted(options: StagedOptions = {}): StagedEngine {
    const store = structuredClone(this.store);
    this.engine.stop();
    return new StagedEngine({ clock: this.clock, store, ...options });
  }
}
